"""Jobs: selections that people and schedules launch by name.

Stages have none: a backfill of a partitioned job starts its partitions all at once, an asset backfill keeps their order. Select stage
assets in the UI, or use `python -m pipelines.run`.
"""

from __future__ import annotations

import dagster as dg

from assets.lineage import Lineage
from pipelines.partitions import ROUNDS

GROW = "grow_round"
SEAL = "seal_world"
COLD_START = "cold_start"


def jobs_of(lineage: Lineage) -> list[dg.UnresolvedAssetJobDefinition]:
    """A round of corpus growth; a new snapshot of the world; the cold start."""
    keys = {group: _keys(lineage, group) for group in ("corpus", "questions", "world", "sft")}
    rounds = [key for step in lineage.steps if step.per == "round" for key in step.keys]
    sealed = [key for group in ("corpus", "questions", "world") for key in keys[group] if key not in rounds]
    return [
        dg.define_asset_job(GROW, rounds, partitions_def=ROUNDS, description="Everything that a round of corpus growth makes."),
        dg.define_asset_job(SEAL, sealed, description="From all rounds to a new snapshot of the world and the questions it can answer."),
        dg.define_asset_job(COLD_START, keys["sft"], description="From teacher trajectories to the checkpoint that stage 1 starts from."),
    ]


def _keys(lineage: Lineage, group: str) -> list[dg.AssetKey]:
    return [key for step in lineage.steps if step.group == group for key in step.keys]
