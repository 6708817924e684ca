"""The definitions load, stay light, and keep the rules of the project."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import typing
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.graph import graph
from pipelines.definitions import build_definitions
from resources.profiles import load_profile

SNAPSHOT = Path(__file__).with_name("asset_specs.json")
HEAVY = (
    "torch",
    "transformers",
    "trl",
    "vllm",
    "FlagEmbedding",
    "sentence_transformers",
    "accelerate",
    "datasets",
    "pymilvus",
    "scrapy",
    "trafilatura",
)


@pytest.fixture(scope="module")
def defs() -> dg.Definitions:
    return build_definitions(load_profile("laptop"))


def test_they_are_loadable(defs: dg.Definitions) -> None:
    dg.Definitions.validate_loadable(defs)


def _plain(spec: dg.AssetSpec) -> dict[str, Any]:
    partitions = spec.partitions_def
    return {
        "group": spec.group_name,
        "made from": sorted(dep.asset_key.to_user_string() for dep in spec.deps),
        "partitions": None
        if partitions is None
        else "rounds"
        if isinstance(partitions, dg.DynamicPartitionsDefinition)
        else partitions.get_partition_keys(),
        "owners": list(spec.owners),
        "tags": {key: value for key, value in spec.tags.items() if not key.startswith("dagster/")},
        "kinds": sorted(spec.kinds),
        "automation": spec.automation_condition is not None,
        "code version": spec.code_version,
        "description": spec.description,
    }


def test_snapshot_of_all_asset_specs(defs: dg.Definitions) -> None:
    """Made anew by `python -m tests.pipelines.test_definitions` when a change is meant."""
    specs = {spec.key.to_user_string(): _plain(spec) for spec in defs.resolve_all_asset_specs()}
    assert specs == json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def test_every_gate_is_a_check(defs: dg.Definitions) -> None:
    keys = {key.to_user_string() for key in defs.resolve_asset_graph().asset_check_keys}
    lineage = graph(load_profile("laptop"))
    assert keys == {f"{step.name}:{gate}" for step in lineage.steps for gate in (*step.gates, *step.warnings)}


def test_importing_them_is_light() -> None:
    """Each step of the default executor is a fresh interpreter that imports this module."""
    script = f"import sys, pipelines.definitions; print(' '.join(name for name in {HEAVY!r} if name in sys.modules))"
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    took = time.monotonic() - started
    assert done.stdout.strip() == ""
    assert took < 30, f"importing pipelines.definitions took {took:.1f} s"


def test_model_work_has_a_pool_retries_and_no_automation(defs: dg.Definitions) -> None:
    seen = 0
    for asset in defs.resolve_asset_graph().assets_defs:
        assert asset.op.pool in ("cpu", "gpu")
        assert asset.op.retry_policy is not None
        for spec in asset.specs:
            if spec.tags["needs"] == "gpu":
                seen += 1
                assert asset.op.pool == "gpu"
                assert spec.automation_condition is None
    assert seen > 5


def test_every_asset_is_annotated_documented_and_grouped(defs: dg.Definitions) -> None:
    for asset in defs.resolve_asset_graph().assets_defs:
        function = asset.op.compute_fn.decorated_fn  # type: ignore[union-attr]
        returned = typing.get_type_hints(function).get("return")
        assert returned is dg.MaterializeResult or dg.MaterializeResult in typing.get_args(returned)
        for spec in asset.specs:
            assert spec.description and spec.group_name and spec.owners and spec.kinds and spec.code_version


def test_stages_belong_to_no_job(defs: dg.Definitions) -> None:
    """A job's backfill starts its partitions all at once."""
    selected = {
        key.to_user_string()
        for job in ("grow_round", "seal_world", "cold_start")
        for key in defs.resolve_job_def(job).asset_layer.executable_asset_keys
    }
    assert selected and not any(name.startswith(("stage_", "evaluation_report", "recipe_comparison")) for name in selected)


def test_the_lineage_is_the_designs() -> None:
    lineage = graph(load_profile("laptop"))
    after = {name: set(step.after) for step in lineage.steps for name in step.names}
    assert after["screened_questions"] == {"extracted_questions", "search_hits", "benchmarks"}
    assert after["crawled_pages"] == {"search_hits", "screened_questions"}
    assert after["stage_1/checkpoint"] == {"sft_checkpoint", "stage_1/questions", "answerable_questions", "world"}
    assert after["stage_3/policy_rollouts"] == {"stage_2/checkpoint", "answerable_questions", "world"}
    assert {f"stage_{k}/evaluation" for k in range(4)} <= after["evaluation_report"]


if __name__ == "__main__":
    found = build_definitions(load_profile("laptop")).resolve_all_asset_specs()
    SNAPSHOT.write_text(json.dumps({spec.key.to_user_string(): _plain(spec) for spec in found}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
