"""The command line: serve, truth, dump, benchmark."""

from __future__ import annotations

import argparse
import errno
import sys
from pathlib import Path

from littleweb.web import Web

COMMANDS = {
    "serve": "serve all sites through one HTTP proxy",
    "truth": "write every fact and the pages that state it",
    "dump": "write every page as HTML",
}
BENCHMARK = Path(__file__).with_name("benchmark.jsonl")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="littleweb", description="A small fictional web, served on loopback.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text)
        command.add_argument("--seed", type=int, default=7)
        command.add_argument("--flavour", choices=("country", "tiny"), default="country")
        command.add_argument("--templates", type=int, choices=(1, 2), default=1, help="2: other wordings and tables, for tests")
        if name == "serve":
            command.add_argument("--port", type=int, default=8711, help="0 takes any free port")
            command.add_argument("--hostile", action="store_true", help="with the sites that lead crawlers astray")
            command.add_argument("--ready-file", type=Path, help="written with the port once requests are answered")
        else:
            command.add_argument("--out", type=Path, required=True)
    commands.add_parser("benchmark", help="make the committed benchmark questions anew").add_argument("--out", type=Path, default=BENCHMARK)
    asked = parser.parse_args(arguments)
    if asked.command == "benchmark":
        from littleweb.benchmark import write_benchmark

        print(f"{write_benchmark(asked.out)} questions in {asked.out}")
        return 0
    web = Web(asked.seed, asked.flavour, asked.templates, hostile=asked.command == "serve" and asked.hostile)
    if asked.command == "truth":
        from littleweb.truth import write_truth

        print(f"{write_truth(web, asked.out)} facts in {asked.out}")
        return 0
    if asked.command == "dump":
        from littleweb.dump import dump

        print(f"{dump(web, asked.out)} pages in {asked.out}")
        return 0
    return _serve(web, asked.port, asked.ready_file)


def _serve(web: Web, port: int, ready_file: Path | None) -> int:
    from littleweb.server import serve

    try:
        serve(web, port, ready_file)
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        print(
            f"littleweb cannot listen on 127.0.0.1:{port} ({error.strerror}); stop what uses the port or choose another with --port.", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
