"""Child processes: where the work of an asset runs, so that the interpreter of Dagster stays light and nothing outlives a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import dagster as dg

from terrarium.job import Job, Outcome


class ChildProcess(dg.ConfigurableResource):
    """Runs `work(job, report)` functions as `python -m terrarium.launch`, each in a process group of its own.

    `root` as in ArtifactStore; run folders lie under `<root>/processes/`. `patience_seconds` is what each step of stopping waits:
    interrupt, terminate, kill.
    """

    root: str | None = None
    patience_seconds: float = 10.0
    observe_every_seconds: float = 30.0
    cpu_slots: int = 1

    def run(
        self,
        context: dg.AssetExecutionContext | None,
        function: str,
        job: Job,
        needs: Literal["cpu", "gpu"] = "cpu",
        on_progress: Callable[[dict[str, Any]], None] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Run `function` ("package.module:name") on `job` and wait for it, holding the lease of what it needs.

        Raises:
            dagster.Failure: one sentence, with the log's path and last 40 lines as metadata; not retried for a TerrariumError, retried for an Outage
                or a killed process where the asset has a retry policy.
        """
        raise NotImplementedError
