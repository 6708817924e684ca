"""Schedules: the corpus is refreshed once a week by a new round. Off until someone switches it on."""

from __future__ import annotations

import dagster as dg

from assets.rounds import next_round, open_round
from pipelines.jobs import GROW
from pipelines.partitions import ROUNDS
from resources.state import state_folder


@dg.schedule(
    name="weekly_refresh",
    job_name=GROW,
    cron_schedule="0 3 * * 1",
    default_status=dg.DefaultScheduleStatus.STOPPED,
    description="Mondays at three: opens a new round, hands the frontier over to it, and grows it.",
)
def weekly_refresh(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """Append a round. A tick that is evaluated twice asks for the same round again, and its run key launches it once."""
    instance = context.instance
    due = context.scheduled_execution_time.strftime("%Y-%m-%dT%H:%M")
    state = state_folder()
    opened = state / "rounds" / "ticks" / due.replace(":", "")
    if opened.exists():
        name = opened.read_text(encoding="utf-8").strip()
    else:
        name = next_round(list(instance.get_dynamic_partitions("rounds")))
        opened.parent.mkdir(parents=True, exist_ok=True)
        opened.write_text(name, encoding="utf-8")
    open_round(state, name)
    instance.add_dynamic_partitions(ROUNDS.name or "rounds", [name])
    return dg.RunRequest(run_key=f"{name} {due}", partition_key=name)
