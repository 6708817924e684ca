"""`make chaos ROUNDS=n SEED=s`: rounds with seeds s, s+1, ..., each a line here and a row of docs/reliability.md."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from resources.state import state_folder
from terrarium.errors import TerrariumError
from tests.chaos.hurts import VICTIMS, may_mount, plan_of
from tests.chaos.reference import reference_of
from tests.chaos.round import play
from tests.chaos.setting import ROOT, tiny_setting
from tests.chaos.table import append, row


def main() -> int:
    """Play the rounds; 1 where one did not end as the undisturbed run did."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description="Hurt the lineage, start it again, compare.")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1, help="of the first round; the next ones follow")
    parser.add_argument("--victim", choices=VICTIMS, help="only this one")
    parser.add_argument("--folder", type=Path, default=state_folder() / "chaos", help="where rounds and the undisturbed run lie")
    parser.add_argument("--table", type=Path, default=ROOT / "docs" / "reliability.md")
    options = parser.parse_args()
    setting = tiny_setting(options.folder.absolute())
    victims = [options.victim] if options.victim else [one for one in VICTIMS if one != "disk" or may_mount()]
    if "disk" not in victims and not options.victim:
        print("No round fills the disk: that takes the right to mount a file system.", flush=True)
    try:
        reference = reference_of(setting)
    except TerrariumError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"The undisturbed run took {reference.seconds:.0f} s and {len(reference.end.current)} assets; it lies in {reference.folder}.", flush=True)
    unequal = 0
    for seed in range(options.seed, options.seed + options.rounds):
        result = play(setting, plan_of(seed, reference.lived, reference.jobs, victims), reference)
        unequal += not result.equal
        append(options.table, result)
        print(row(result), flush=True)
    return 1 if unequal else 0


if __name__ == "__main__":
    sys.exit(main())
