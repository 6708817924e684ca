"""Policies that hang on kinds of assets, not on single ones: pools, retries, tags, owners, and which follow new data by themselves.

They are applied by one mapping over all steps and specs, so that no asset can forget one.
"""

from __future__ import annotations

import dagster as dg

from assets.lineage import Lineage
from assets.step import Step
from pipelines.automation import FOLLOWS, follow_new_data

OWNER = "team:terrarium"

# A network is tried again soon and often, a process that was killed once more after a while. Errors that a person must mend are never retried:
# those raise `dagster.Failure(allow_retries=False)`.
NETWORK = dg.RetryPolicy(max_retries=3, delay=20, backoff=dg.Backoff.EXPONENTIAL, jitter=dg.Jitter.PLUS_MINUS)
ONCE_MORE = dg.RetryPolicy(max_retries=1, delay=10)


def pool(step: Step) -> str:
    """One slot each: a step computes on the GPU or on the CPU, and another of its kind waits. The lease of the device goes with it."""
    return step.needs


def retries(step: Step) -> dg.RetryPolicy:
    """How often a step is tried again."""
    return NETWORK if step.web else ONCE_MORE


def tags(step: Step) -> dict[str, str]:
    """Tags are an API: `tag:needs=gpu` and `tag:phase=stage_2` select assets in the UI and on the command line."""
    return {"phase": step.group, "needs": step.needs}


def with_policies(assets: list[dg.AssetsDefinition], lineage: Lineage) -> list[dg.AssetsDefinition]:
    """Owners, tags and automation laid over the specs of all assets."""

    def apply(spec: dg.AssetSpec) -> dg.AssetSpec:
        name = spec.key.to_user_string()
        step = lineage.step(name)
        condition = follow_new_data() if name in FOLLOWS and step.needs == "cpu" else None
        return spec.merge_attributes(owners=[OWNER], tags=tags(step)).replace_attributes(automation_condition=condition)

    return [asset.map_asset_specs(apply) for asset in assets]
