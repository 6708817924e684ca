"""The world on the command line: `python -m terrarium.world search WORLD QUERY...` and `visit WORLD URL... --goal GOAL`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from terrarium.errors import TerrariumError
from terrarium.world import open_world
from terrarium.world.render import render_search, render_visit
from terrarium.world.tools import SearchResult, Status, VisitResult


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 when each call was answered, 1 when one failed or the world cannot be opened."""
    parser = argparse.ArgumentParser(prog="python -m terrarium.world", description="Ask a sealed world.")
    commands = parser.add_subparsers(dest="command", required=True)
    search = commands.add_parser("search", help="pages for one or more queries")
    search.add_argument("world", type=Path, help="folder of a world artifact")
    search.add_argument("query", nargs="+")
    search.add_argument("--k", type=int, default=None, help="hits a query")
    visit = commands.add_parser("visit", help="what pages say about a goal")
    visit.add_argument("world", type=Path, help="folder of a world artifact")
    visit.add_argument("url", nargs="+")
    visit.add_argument("--goal", required=True)
    for command in (search, visit):
        command.add_argument("--json", action="store_true", help="records instead of the policy's text")
    asked = parser.parse_args(arguments)
    results: list[SearchResult] | list[VisitResult]
    try:
        with open_world(asked.world, lambda text: print(text, file=sys.stderr)) as world:
            if asked.command == "search":
                results = world.search(asked.query, asked.k)
                text = render_search(results)
            else:
                results = world.visit(asked.url, asked.goal)
                text = render_visit(results)
    except (TerrariumError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps([asdict(result) for result in results], ensure_ascii=False, indent=1) if asked.json else text)
    return int(any(result.status is Status.FAILED for result in results))


if __name__ == "__main__":
    sys.exit(main())
