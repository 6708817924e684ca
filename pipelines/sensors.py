"""Sensors: the first round exists as soon as the UI runs, so that a newcomer finds something to materialise."""

from __future__ import annotations

import dagster as dg

from assets.rounds import FIRST_ROUND, open_round
from pipelines.partitions import ROUNDS
from resources.state import state_folder


def register_first_round(instance: dg.DagsterInstance) -> bool:
    """Open the first round if there is none; whether it did."""
    name = ROUNDS.name or "rounds"
    if instance.get_dynamic_partitions(name):
        return False
    open_round(state_folder(), FIRST_ROUND)
    instance.add_dynamic_partitions(name, [FIRST_ROUND])
    return True


@dg.sensor(
    name="first_round",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Registers the first round of the corpus when there is none; launches nothing.",
)
def first_round(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Register the first round."""
    made = register_first_round(context.instance)
    return dg.SkipReason(f"{FIRST_ROUND} was registered." if made else "There is a round already.")
