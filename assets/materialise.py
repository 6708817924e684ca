"""The Dagster side of a step: asset, checks, metadata, errors. One function makes them all, so that no asset can forget one.

No postponed annotations in this module: Dagster looks at those of an asset's context and resources as they are.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg
from pydantic import Field

from assets.checks import check_results, check_specs, tell_failed_gates
from assets.lineage import Lineage
from assets.show import metadata_of
from assets.step import Per, Step
from resources.artifacts import ArtifactStore
from resources.process import ChildProcess
from resources.web import PracticeWeb
from terrarium.errors import TerrariumError
from terrarium.job import Job, Outcome

STOPPED = "stopped"

# Runs of this process in which a step was stopped. A failed step does not end a run, its other branches go on; a stopped one must.
_stopped_runs: set[str] = set()


class Again(dg.Config):
    """What a person may ask for when launching an asset by hand."""

    fresh: bool = Field(default=False, description="make it anew, also where its inputs are as they were; seeds move on")


def asset_of(
    step: Step,
    lineage: Lineage,
    partitions: Mapping[Per, dg.PartitionsDefinition],
    pool: str,
    retries: dg.RetryPolicy | None,
) -> dg.AssetsDefinition:
    """The Dagster asset of a step. Policies that hang on specs are laid over it afterwards."""
    partitions_def = partitions[step.per] if step.per else None
    deps = [dg.AssetDep(dg.AssetKey(name.split("/"))) for name in step.after]
    checks = check_specs(step.keys[0], step.gates, step.warnings)

    def results(context: dg.AssetExecutionContext, config: Again, store: ArtifactStore, process: ChildProcess, web: PracticeWeb) -> Iterator[Any]:
        partition = context.partition_key if context.has_partition_key else None
        if context.run.run_id in _stopped_runs:
            raise dg.Failure(f"{step.title} was not begun, since its run was stopped.", metadata={STOPPED: True}, allow_retries=False)

        def work(step: Step, job: Job) -> Outcome:
            if not step.web:
                return process.run(context, step.work, job, needs=step.needs)
            with web.running():
                return process.run(context, step.work, job, needs=step.needs)

        try:
            made = lineage.make(step, partition, store, work, fresh=config.fresh)
        except TerrariumError as error:
            raise dg.Failure(str(error), allow_retries=False) from error
        except dg.Failure as failure:
            tell_failed_gates(context, step.keys[0], failure)
            raise
        except (KeyboardInterrupt, dg.DagsterExecutionInterruptedError) as stopped:
            # Dagster retries what was interrupted if there is a retry policy; who stops a step does not want it started again.
            _stopped_runs.add(context.run.run_id)
            raise dg.Failure(f"{step.title} was stopped.", metadata={STOPPED: True}, allow_retries=False) from stopped
        for key, name in zip(step.keys, step.names, strict=True):
            artifact = made[name]
            yield dg.MaterializeResult(
                asset_key=key,
                data_version=dg.DataVersion(artifact.data_version),
                metadata=metadata_of(artifact, step.samples, step.pictures),
                check_results=check_results(artifact, step.gates, step.warnings) if name == step.name else [],
            )

    if len(step.names) == 1:

        @dg.asset(
            key=step.keys[0],
            deps=deps,
            group_name=step.group,
            description=step.descriptions[step.name],
            partitions_def=partitions_def,
            kinds=set(step.kinds),
            check_specs=checks,
            code_version=step.code_version,
            pool=pool,
            retry_policy=retries,
        )
        def single(
            context: dg.AssetExecutionContext, config: Again, store: ArtifactStore, process: ChildProcess, web: PracticeWeb
        ) -> dg.MaterializeResult:
            return next(results(context, config, store, process, web))

        return single

    @dg.multi_asset(
        name=step.op,
        specs=[
            dg.AssetSpec(
                key,
                deps=deps,
                group_name=step.group,
                description=step.descriptions[name],
                partitions_def=partitions_def,
                kinds=set(step.kinds),
                code_version=step.code_version,
            )
            for key, name in zip(step.keys, step.names, strict=True)
        ],
        check_specs=checks,
        pool=pool,
        retry_policy=retries,
    )
    def together(
        context: dg.AssetExecutionContext, config: Again, store: ArtifactStore, process: ChildProcess, web: PracticeWeb
    ) -> Iterator[dg.MaterializeResult]:
        yield from results(context, config, store, process, web)

    return together
