"""Fingerprints decide what is up to date; parents missing, gates failed and passing through are told apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from assets.lineage import Lineage
from resources.artifacts import ArtifactStore
from terrarium.errors import TerrariumError
from tests.assets.small import definitions, here


def make_all(lineage: Lineage, store: ArtifactStore, fresh: bool = False) -> None:
    for step in lineage.steps:
        for partition in ("x", "yy") if step.per else (None,):
            lineage.make(step, partition, store, here, fresh=fresh)


def test_nothing_is_up_to_date_before_and_all_after(lineage: Callable[..., Lineage], store: ArtifactStore, calls: list[str]) -> None:
    graph = lineage()
    assert not graph.is_up_to_date(graph.step("a"), None, store)
    assert not graph.is_up_to_date(graph.step("b"), "x", store)
    make_all(graph, store)
    assert len(calls) == 6
    assert graph.is_up_to_date(graph.step("a"), None, store)
    assert graph.is_up_to_date(graph.step("deep/c"), "yy", store)
    assert json.loads(store.current("d").file("number.json").read_text()) == (1 + 1 + 1) + (1 + 2 + 1)
    make_all(graph, store)
    assert len(calls) == 6


def test_what_is_outside_the_fingerprint_changes_nothing(lineage: Callable[..., Lineage], store: ArtifactStore) -> None:
    make_all(lineage(), store)
    assert lineage(place="elsewhere").is_up_to_date(lineage().step("a"), None, store)
    changed = lineage(first=2)
    assert not changed.is_up_to_date(changed.step("a"), None, store)


def test_a_parent_that_comes_out_equal_leaves_its_children_alone(lineage: Callable[..., Lineage], store: ArtifactStore, calls: list[str]) -> None:
    make_all(lineage(), store)
    graph = lineage()
    graph.make(graph.step("a"), None, store, here, fresh=True)
    assert len(calls) == 7
    assert store.current("a").manifest.attempt == 1
    assert graph.is_up_to_date(graph.step("b"), "x", store)


def test_fresh_makes_anew_and_is_what_counts_from_then_on(lineage: Callable[..., Lineage], store: ArtifactStore, calls: list[str]) -> None:
    graph = lineage()
    make_all(graph, store)
    make_all(graph, store, fresh=True)
    assert len(calls) == 12
    assert store.current("d").manifest.attempt == 1
    make_all(graph, store)
    assert len(calls) == 12


def test_what_an_outage_left_undecided_is_tried_again(lineage: Callable[..., Lineage], store: ArtifactStore, calls: list[str]) -> None:
    broken, mended = lineage(undecided=2), lineage(undecided=0)
    for _ in range(2):
        assert not broken.is_up_to_date(broken.step("a"), None, store)
        broken.make(broken.step("a"), None, store, here)
    assert len(calls) == 2
    mended.make(mended.step("a"), None, store, here)
    assert mended.is_up_to_date(mended.step("a"), None, store)
    mended.make(mended.step("a"), None, store, here)
    assert len(calls) == 3


def test_a_missing_parent_is_one_sentence(lineage: Callable[..., Lineage], store: ArtifactStore) -> None:
    graph = lineage()
    with pytest.raises(TerrariumError, match=r"^[^\n]*\ba\b[^\n]*$"):
        graph.make(graph.step("b"), "x", store, here)
    with pytest.raises(TerrariumError, match="no partition was made yet"):
        graph.make(graph.step("d"), None, store, here)


def test_reading_an_undeclared_parent_is_an_error(lineage: Callable[..., Lineage], store: ArtifactStore) -> None:
    graph = lineage(read_undeclared=True)
    graph.make(graph.step("a"), None, store, here)
    with pytest.raises(TerrariumError, match="without declaring it"):
        graph.make(graph.step("b"), "x", store, here)


def test_passing_through_is_free_marked_and_undone_when_there_is_work(
    lineage: Callable[..., Lineage], store: ArtifactStore, calls: list[str]
) -> None:
    graph = lineage(passing=True)
    make_all(graph, store)
    assert len(calls) == 4
    passed = store.current("deep/c", "x")
    assert passed.passed_through == "nothing to add"
    assert passed.data_version == store.current("b", "x").data_version
    assert graph.is_up_to_date(graph.step("deep/c"), "x", store)
    working = lineage()
    assert not working.is_up_to_date(working.step("deep/c"), "x", store)
    make_all(working, store)
    assert store.current("deep/c", "x").passed_through is None
    assert not graph.is_up_to_date(graph.step("deep/c"), "x", store)


def test_a_bad_field_is_one_sentence(lineage: Callable[..., Lineage], store: ArtifactStore) -> None:
    graph = lineage(first="much")
    with pytest.raises(TerrariumError, match="a cannot be made from this profile: own"):
        graph.make(graph.step("a"), None, store, here)


def test_dagster_sees_counts_checks_and_versions(lineage: Callable[..., Lineage], store: ArtifactStore, tmp_path: Path) -> None:
    defs = definitions(lineage(passing=True), tmp_path / "state")
    dg.Definitions.validate_loadable(defs)
    job = defs.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral() as instance:
        assert job.execute_in_process(instance=instance, asset_selection=[dg.AssetKey("a")]).success
        two = [dg.AssetKey("b"), dg.AssetKey(["deep", "c"])]
        result = job.execute_in_process(instance=instance, asset_selection=two, partition_key="x")
        assert result.success
        event = instance.get_latest_materialization_event(dg.AssetKey(["deep", "c"]))
        assert event is not None and event.asset_materialization is not None
        shown = event.asset_materialization.metadata
        assert "number" not in shown
        assert "nothing to add" in str(shown["passed_through"].value)
        tags = event.asset_materialization.tags or {}
        assert tags["dagster/data_version"] == store.current("b", "x").data_version
        assert {check.passed for check in result.get_asset_check_evaluations()} == {True}


def test_a_failed_gate_publishes_nothing_and_fails_the_run(lineage: Callable[..., Lineage], store: ArtifactStore, tmp_path: Path) -> None:
    defs = definitions(lineage(good=False), tmp_path / "state")
    job = defs.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral() as instance:
        result = job.execute_in_process(instance=instance, asset_selection=[dg.AssetKey("a")], raise_on_error=False)
        assert not result.success
        told = instance.get_records_for_run(result.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION).records
        checks = [record.event_log_entry.dagster_event.asset_check_evaluation_data for record in told]  # type: ignore[union-attr]
        assert [(check.check_name, check.passed) for check in checks] == [("good", False)]
        assert store.current_or_none("a") is None


def test_a_fresh_run_is_asked_for_in_the_launchpad(lineage: Callable[..., Lineage], store: ArtifactStore, tmp_path: Path) -> None:
    job = definitions(lineage(), tmp_path / "state").resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral() as instance:
        for config in ({}, {"ops": {"a": {"config": {"fresh": True}}}}):
            assert job.execute_in_process(config, instance=instance, asset_selection=[dg.AssetKey("a")]).success
    assert store.current("a").manifest.attempt == 1


def test_an_error_of_the_work_is_the_failure_of_the_step(lineage: Callable[..., Lineage], tmp_path: Path) -> None:
    job = definitions(lineage(first=-1), tmp_path / "state").resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral() as instance:
        result = job.execute_in_process(instance=instance, asset_selection=[dg.AssetKey("a")], raise_on_error=False)
        failure = result.get_step_failure_events()[0].step_failure_data
        assert failure.user_failure_data is not None
        assert failure.user_failure_data.description == "The number -1 is negative; give another."
