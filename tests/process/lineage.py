"""A small code location for the kill tests: one asset whose child process does not want to end, run by a run worker with real step processes.

`python -m tests.process.lineage <state folder> <function>` is the run worker.
"""

import os
import sys
from pathlib import Path

import dagster as dg

from resources.io import refusing_io_manager
from resources.process import ChildProcess
from tests.process.children import SmallJob

STATE = Path(os.environ.get("TERRARIUM_STATE", "."))
EXECUTOR = dg.multiprocess_executor.configured({"max_concurrent": 2, "start_method": {"forkserver": {}}})


@dg.asset(retry_policy=dg.RetryPolicy(max_retries=0))
def trained(context: dg.AssetExecutionContext, process: ChildProcess) -> dg.MaterializeResult:
    """What the child process makes."""
    (STATE / "step.pid").write_text(str(os.getpid()))
    job = SmallJob(out=STATE / "out", number=3000, pids=str(STATE / "pids"))
    outcome = process.run(context, f"tests.process.children:{os.environ['TEST_FUNCTION']}", job, needs="gpu")
    return dg.MaterializeResult(metadata=dict(outcome.counts))


defs = dg.Definitions(
    assets=[trained],
    jobs=[dg.define_asset_job("everything")],
    resources={"process": ChildProcess(patience_seconds=1.0, observe_every_seconds=1.0), "io_manager": refusing_io_manager},
    executor=EXECUTOR,
)


def job() -> dg.JobDefinition:
    """The job, for `dagster.reconstructable`."""
    return defs.resolve_job_def("everything")


if __name__ == "__main__":
    from tests.process import lineage

    with dg.DagsterInstance.get() as instance:
        result = dg.execute_job(dg.reconstructable(lineage.job), instance=instance, raise_on_error=False)
        sys.exit(0 if result.success else 1)
