"""`python -m terrarium explain <checkpoint | question | page | rollout>`: where does this come from? As text, or with --json as data."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from terrarium.errors import TerrariumError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it was answered, 1 when nothing is called so or a hash differs."""
    parser = argparse.ArgumentParser(prog="python -m terrarium", description="Ask a state folder where things come from.")
    commands = parser.add_subparsers(dest="command", required=True)
    explain = commands.add_parser("explain", help="the whole descent of an artifact, question, page or rollout")
    explain.add_argument(
        "subject", nargs="+", help="'sft_checkpoint', 'stage_3/checkpoint grpo-s1', a folder, or the id of a question, page or rollout"
    )
    explain.add_argument("--state", type=Path, default=None, help="the state folder; default: TERRARIUM_STATE, else .terrarium")
    explain.add_argument("--json", action="store_true", help="data instead of text")
    explain.add_argument("--verify", action="store_true", help="of an artifact: compute all content hashes of its descent anew")
    asked = parser.parse_args(arguments)
    state = asked.state or Path(os.environ.get("TERRARIUM_STATE") or ".terrarium")

    from rich.console import Console

    from terrarium import provenance

    try:
        account = provenance.explain(state.expanduser().absolute(), " ".join(asked.subject), asked.verify)
    except TerrariumError as error:
        print(error, file=sys.stderr)
        return 1
    if asked.json:
        print(account.model_dump_json(indent=1))
    else:
        provenance.show(account, Console(width=None if sys.stdout.isatty() else 160))
    hashes = next((section.facts for section in account.sections if section.title == "content hashes computed anew"), {})
    return int(any(str(said).startswith("differs") for said in hashes.values()))


if __name__ == "__main__":
    sys.exit(main())
