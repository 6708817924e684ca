"""The code location: everything Dagster serves, for the profile that TERRARIUM_PROFILE names (default laptop).

Tests and special runs use the same function with other resources. This module must stay light: every step of a run imports it anew.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import dagster as dg

from assets.graph import graph
from assets.lineage import Lineage
from assets.materialise import asset_of
from pipelines import policies
from pipelines.automation import automation_sensor
from pipelines.jobs import jobs_of
from pipelines.partitions import partitions_of
from pipelines.schedules import weekly_refresh
from pipelines.sensors import first_round
from resources.artifacts import ArtifactStore
from resources.io import refusing_io_manager
from resources.process import ChildProcess
from resources.profiles import Profile, load_profile
from resources.web import PracticeWeb

# A step is a fresh interpreter; a server forked after these imports starts it in a second instead of five.
EXECUTOR = dg.multiprocess_executor.configured(
    {"max_concurrent": 2, "start_method": {"forkserver": {"preload_modules": ["dagster", "pandas", "pyarrow", "pipelines.definitions"]}}}
)


def assets_of(lineage: Lineage) -> list[dg.AssetsDefinition]:
    """All assets of a lineage with the policies of the project."""
    partitions = partitions_of(lineage.profile)
    made = [asset_of(step, lineage, partitions, policies.pool(step), policies.retries(step)) for step in lineage.steps]
    return policies.with_policies(made, lineage)


def resources_of(profile: Profile) -> dict[str, Any]:
    """What assets need from outside, as the profile chooses."""
    serve = profile.serve
    if serve is None or profile.web is None:
        web = PracticeWeb()
    else:
        web = PracticeWeb(
            proxy=profile.web.proxy,
            command=list(serve.command),
            ready_url=serve.ready_url,
            identity=serve.identity,
            patience_seconds=serve.patience_seconds,
        )
    process = ChildProcess(cpu_slots=profile.machine.cpu_slots)
    return {"store": ArtifactStore(), "process": process, "web": web, "io_manager": refusing_io_manager}


def build_definitions(profile: Profile, overrides: Mapping[str, Any] | None = None) -> dg.Definitions:
    """The definitions of a profile; `overrides` replace resources by name."""
    lineage = graph(profile)
    return dg.Definitions(
        assets=assets_of(lineage),
        jobs=jobs_of(lineage),
        schedules=[weekly_refresh],
        sensors=[first_round, automation_sensor()],
        resources={**resources_of(profile), **(overrides or {})},
        executor=EXECUTOR,
    )


defs = build_definitions(load_profile(os.environ.get("TERRARIUM_PROFILE", "laptop")))
