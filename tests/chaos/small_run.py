"""`python -m tests.chaos.small_run`: the command of `make run` on a lineage of four small steps with real child processes."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

from assets import graph
from assets.lineage import Lineage
from pipelines import run
from resources import profiles
from resources.artifacts import ArtifactStore
from resources.process import ChildProcess
from tests.assets import small


def small_lineage() -> Lineage:
    """a -> b (by recipe) -> deep/c (by recipe) -> d."""
    profile: Any = SimpleNamespace(name="small", seed=0, recipes=("x",), stages=1, recipe=lambda name: SimpleNamespace(name=name))
    return Lineage(profile, small.small())


def main() -> int:
    """Grow it."""
    lineage = small_lineage()
    profiles.load_profile = lambda *_: lineage.profile
    graph.graph = lambda _: lineage  # type: ignore[assignment]
    made = small.definitions(lineage, ArtifactStore().folder, process=ChildProcess(patience_seconds=2.0))
    run._job = lambda _: made.resolve_implicit_global_asset_job_def()
    return run.main(["--profile", "small"])


if __name__ == "__main__":
    sys.exit(main())
