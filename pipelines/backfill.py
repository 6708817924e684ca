"""A backfill by command: assets or groups of the stages over recipes, launched in a running `make ui`, as its Materialize button does.

    python -m pipelines.backfill --assets stage_2 stage_3 --recipes grpo-s1,one_long_stage-s1 [--only failed-and-missing] [--wait]

The daemon of that UI keeps the order of the graph and one slot for the GPU; a failure stops what depends on it and nothing else. Without a
running UI, `make run RECIPES=... ARGS="--from stage_2"` does the same work in this terminal. Exit code 0: launched (with --wait: everything is
made), or nothing to do; 1: a sentence says what failed; 2: the command was wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence

from pipelines.console import Asset, Console
from terrarium.errors import TerrariumError

FAILED_AND_MISSING = "failed-and-missing"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code."""
    options = _options(arguments)
    try:
        with Console(options.ui) as console:
            return _launch(console, options)
    except TerrariumError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("No longer waited for; the backfill goes on, stop it in the UI.", file=sys.stderr)
        return 130


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m pipelines.backfill", description="Backfill stages over recipes in a running UI.")
    parser.add_argument("--assets", nargs="+", required=True, metavar="ASSET_OR_GROUP", help="such as stage_2 stage_3/checkpoint")
    parser.add_argument("--recipes", required=True, help="recipes of the profile that the UI runs, with commas or spaces; 'all'")
    parser.add_argument("--only", choices=(FAILED_AND_MISSING,), help="leave out what is made, unless something above it is made anew")
    parser.add_argument("--title", default="", help="how the UI calls it")
    parser.add_argument("--ui", default="http://127.0.0.1:3000", metavar="URL", help="where `make ui` listens")
    parser.add_argument("--wait", action="store_true", help="wait until it has ended")
    return parser.parse_args(arguments)


def _launch(console: Console, options: argparse.Namespace) -> int:
    chosen = choose(console.assets(), options.assets, options.recipes)
    if options.only == FAILED_AND_MISSING:
        chosen = failed_and_missing(chosen)
    partitions = {asset.name: keys for asset, keys in chosen.items() if keys}
    if not partitions:
        print("Nothing failed and nothing is missing; no backfill was launched.")
        return 0
    console.require_daemon()
    title = options.title or f"{' '.join(options.assets)} of {options.recipes}"
    identity = console.launch(partitions, title)
    print(f"Backfill {identity} of {len(partitions)} assets, {sum(map(len, partitions.values()))} partitions: {console.address}/runs/b/{identity}")
    return _wait(console, identity) if options.wait else 0


def choose(assets: Sequence[Asset], wanted: Sequence[str], recipes: str) -> dict[Asset, tuple[str, ...]]:
    """The assets that names of assets or groups mean, each with its partitions.

    Raises:
        TerrariumError: there is no such asset, group or recipe, or an asset has no recipes.
    """
    chosen: list[Asset] = []
    for name in wanted:
        found = [asset for asset in assets if name in (asset.group, asset.name)]
        if not found:
            raise TerrariumError(f"There is no asset or group {name}; there are the groups {', '.join(sorted({asset.group for asset in assets}))}.")
        chosen.extend(asset for asset in found if asset not in chosen)
    keys: dict[Asset, tuple[str, ...]] = {}
    for asset in chosen:
        if not asset.partitions:
            raise TerrariumError(f"{asset.name} has no partitions, so that it cannot be backfilled; materialise it in the UI, or with `make run`.")
        asked = asset.partitions if recipes.strip() == "all" else tuple(dict.fromkeys(recipes.replace(",", " ").split()))
        if unknown := [key for key in asked if key not in asset.partitions]:
            raise TerrariumError(f"{asset.name} has no partition {unknown[0]}; it has {', '.join(asset.partitions)}.")
        keys[asset] = asked
    if not any(keys.values()):
        raise TerrariumError("No recipe is named; give some with --recipes.")
    return keys


def failed_and_missing(chosen: Mapping[Asset, Sequence[str]]) -> dict[Asset, tuple[str, ...]]:
    """What of them failed or was never made, and what of them is made from that. What runs just now is left to who started it."""
    todo = {
        asset: {key for key in keys if key not in asset.running and (key in asset.failed or key not in asset.made)} for asset, keys in chosen.items()
    }
    by_name = {asset.name: asset for asset in chosen}
    changed = True
    while changed:
        changed = False
        for asset, keys in chosen.items():
            above = {key for name in asset.parents if name in by_name for key in todo[by_name[name]]}
            more = {key for key in keys if key in above and key not in asset.running} - todo[asset]
            todo[asset] |= more
            changed = changed or bool(more)
    return {asset: tuple(key for key in keys if key in todo[asset]) for asset, keys in chosen.items()}


def _wait(console: Console, identity: str) -> int:
    while not (state := console.backfill(identity)).ended:
        time.sleep(2)
    if state.status == "COMPLETED_SUCCESS":
        print("Everything is made.")
        return 0
    parts = [f"{name} ({count} failed)" for name, count in state.failed.items()] + [
        f"{name} ({count} not begun)" for name, count in state.left.items()
    ]
    why = state.error or ", ".join(parts) or "no reason given"
    print(f"The backfill ended as {state.status.lower()}: {why}; look at it in the UI: {console.address}/runs/b/{identity}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
