"""One run of Dagster in this process, on the persistent instance: launched, judged, and buried where its process was killed."""

from __future__ import annotations

import os
from collections.abc import Sequence

import dagster as dg

from assets.materialise import STOPPED
from assets.step import Step
from pipelines.board import label
from pipelines.plan import Segment
from terrarium.errors import TerrariumError

TAG = "terrarium/command"
_INTERRUPTED = ("DagsterExecutionInterruptedError", "KeyboardInterrupt")


def materialise(job: dg.JobDefinition, segment: Segment, steps: Sequence[Step], instance: dg.DagsterInstance, fresh: bool = False) -> None:
    """Run some steps of a segment; with `fresh` make them anew.

    Raises:
        TerrariumError: a step failed; says which and why.
        KeyboardInterrupt: a person stopped it.
    """
    result = job.execute_in_process(
        run_config={"ops": {step.op: {"config": {"fresh": True}} for step in steps}} if fresh else {},
        instance=instance,
        partition_key=segment.partition,
        asset_selection=[key for step in steps for key in step.keys],
        raise_on_error=False,
        tags={TAG: "run", "terrarium/profile": os.environ.get("TERRARIUM_PROFILE", "")},
    )
    if result.success:
        return
    if any(event.event_type is dg.DagsterEventType.RUN_CANCELED for event in result.all_events):
        raise KeyboardInterrupt
    failed = next((event for event in result.all_events if event.is_step_failure), None)
    if failed is None:
        why = next((event.message for event in result.all_events if event.is_job_failure), None)
        raise TerrariumError(f"The run {result.run_id} failed ({why or 'no reason given'}); look at it with `make ui`.")
    step = next((step for step in steps if step.op == failed.step_key), None)
    name = label(step.title, segment.partition) if step else str(failed.step_key)
    raise TerrariumError(f"{name} failed: {_reason(failed, result.run_id)}")


def _reason(failed: dg.DagsterEvent, run_id: str) -> str:
    """What a failed step says of itself, and where to look.

    Raises:
        KeyboardInterrupt: it did not fail but was stopped.
    """
    data = failed.step_failure_data
    error = data.error
    chain = []
    while error is not None:
        chain.append(error)
        error = error.cause
    if any(link.cls_name in _INTERRUPTED for link in chain):
        raise KeyboardInterrupt
    if data.user_failure_data and STOPPED in data.user_failure_data.metadata:
        raise KeyboardInterrupt
    if data.user_failure_data and data.user_failure_data.description:
        log = data.user_failure_data.metadata.get("log")
        return data.user_failure_data.description + (f" Its log: {log.value}" if isinstance(log, dg.MetadataValue) else "")
    message = chain[-1].message.strip().splitlines()[0] if chain else str(failed.message)
    return f"{message} Look at run {run_id} with `make ui`."


def bury_the_dead(instance: dg.DagsterInstance) -> None:
    """Runs of a command that was killed: mark them failed. Then free the pool slots of all runs that have ended, which no daemon may be there to do.

    To be called by who holds the lock of that command, so that none of them can be alive.
    """
    unfinished = [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.CANCELING, dg.DagsterRunStatus.NOT_STARTED]
    for run in instance.get_runs(filters=dg.RunsFilter(tags={TAG: "run"}, statuses=unfinished)):
        instance.report_run_failed(run, "The process of this run was killed; start the command again, it goes on from what was finished.")
    storage = instance.event_log_storage
    for pool in storage.get_concurrency_keys():
        info = storage.get_concurrency_info(pool)
        for run_id in {slot.run_id for slot in info.claimed_slots} | {step.run_id for step in info.pending_steps}:
            holder = instance.get_run_by_id(run_id)
            if holder is None or holder.is_finished:
                storage.free_concurrency_slots_for_run(run_id)
