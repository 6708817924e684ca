"""`python -m terrarium.sft audit --model FOLDER --trajectories FILE`: proves what a training on stored trajectories would learn."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from terrarium.agent.codec import TokenizerCodec
from terrarium.errors import TerrariumError
from terrarium.sft.audit import row_faults
from terrarium.sft.trajectory import read_trajectories


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns 0 where all is well, 1 where the audit found faults, 2 where it could not run."""
    parser = argparse.ArgumentParser(prog="terrarium.sft", description="Look at the data of a cold start.")
    commands = parser.add_subparsers(dest="command", required=True)
    audit = commands.add_parser("audit", help="ids against text, loss mask against roles, lengths")
    audit.add_argument("--model", type=Path, required=True, help="model folder with its tokenizer")
    audit.add_argument("--trajectories", type=Path, required=True, help="trajectories.parquet")
    asked = parser.parse_args(arguments)
    try:
        return _audit(asked.model, asked.trajectories)
    except TerrariumError as error:
        print(error, file=sys.stderr)
        return 2


def _audit(model: Path, trajectories: Path) -> int:
    """Build each row by the chat template and by hand, and compare."""
    codec = TokenizerCodec(model)
    rows = read_trajectories(trajectories)
    lengths, learnt, faults = [], 0, 0
    for item in rows:
        made = codec.tokenizer.apply_chat_template(list(item.messages), return_dict=True, return_assistant_tokens_mask=True)
        ids, mask = made["input_ids"], made["assistant_masks"]
        lengths.append(len(ids))
        learnt += sum(mask)
        for fault in row_faults(codec, item.messages, ids, mask):
            faults += 1
            print(f"{item.trajectory_id}: {fault}")
    if lengths:
        lengths.sort()
        print(f"{len(rows)} trajectories of {lengths[0]} to {lengths[-1]} tokens, median {lengths[len(lengths) // 2]}; {learnt} tokens are learnt")
    print(f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
