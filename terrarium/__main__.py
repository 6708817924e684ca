"""`python -m terrarium explain <checkpoint | question | page | rollout>`: where something comes from."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from terrarium.errors import TerrariumError
from terrarium.lineage.archive import Archive
from terrarium.lineage.find import explain
from terrarium.lineage.tell import tell


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit code is 1 where there is nothing of that name."""
    parser = argparse.ArgumentParser(prog="python -m terrarium", description="What the artifacts of a state folder say of where they come from.")
    commands = parser.add_subparsers(dest="command", required=True)
    asked = commands.add_parser("explain", help="the whole descent of a checkpoint (or any artifact), question, page or rollout")
    asked.add_argument(
        "subject", nargs="+", help="an id, a page's address, an artifact's path, or an asset and its partition: stage_3/checkpoint grpo-s1"
    )
    asked.add_argument(
        "--state", default=os.environ.get("TERRARIUM_STATE") or ".terrarium", help="the state folder; $TERRARIUM_STATE, else .terrarium"
    )
    asked.add_argument("--json", action="store_true", help="everything as JSON")
    asked.add_argument("--verify", action="store_true", help="hash the content of every artifact again")
    given = parser.parse_args(arguments)
    try:
        explanation = explain(Archive(Path(given.state).expanduser()), " ".join(given.subject), given.verify)
    except TerrariumError as error:
        print(error, file=sys.stderr)
        return 1
    if given.json:
        print(explanation.model_dump_json(indent=1))
    else:
        tell(Console(), explanation)
    return 0


if __name__ == "__main__":
    sys.exit(main())
