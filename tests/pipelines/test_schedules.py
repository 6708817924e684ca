"""The weekly tick opens one round; the first round is there when the UI runs; the condition asks once for what is new."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import dagster as dg
import pytest
from dagster._utils.schedules import schedule_execution_time_iterator

from assets.rounds import add_to_frontier, frontier_of
from pipelines.automation import FOLLOWS, follow_new_data
from pipelines.definitions import build_definitions
from pipelines.schedules import weekly_refresh
from pipelines.sensors import first_round
from resources.profiles import load_profile

MONDAY = datetime(2026, 11, 30, 3, tzinfo=ZoneInfo("UTC"))


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TERRARIUM_STATE", str(tmp_path))
    return tmp_path


def tick(instance: dg.DagsterInstance, when: datetime = MONDAY) -> dg.RunRequest:
    request = weekly_refresh(dg.build_schedule_context(instance=instance, scheduled_execution_time=when))
    assert isinstance(request, dg.RunRequest)
    return request


def test_a_tick_appends_a_round_with_the_frontier(state: Path) -> None:
    add_to_frontier(state, ["http://wanted.example/"])
    with dg.instance_for_test() as instance:
        assert tick(instance).partition_key == "round_001"
        assert frontier_of(state, "round_001") == ["http://wanted.example/"]
        assert tick(instance, datetime(2026, 12, 7, 3, tzinfo=ZoneInfo("UTC"))).partition_key == "round_002"
        assert instance.get_dynamic_partitions("rounds") == ["round_001", "round_002"]


def test_a_tick_that_is_evaluated_twice_asks_for_one_run(state: Path) -> None:
    with dg.instance_for_test() as instance:
        first, second = tick(instance), tick(instance)
        assert (first.run_key, first.partition_key) == (second.run_key, second.partition_key)
        assert instance.get_dynamic_partitions("rounds") == ["round_001"]


def test_it_is_due_on_mondays_at_three_and_off_by_default() -> None:
    assert weekly_refresh.default_status is dg.DefaultScheduleStatus.STOPPED
    start = datetime(2026, 12, 1, tzinfo=ZoneInfo("UTC")).timestamp()
    due = next(schedule_execution_time_iterator(start, weekly_refresh.cron_schedule, "UTC"))
    assert (due.isoweekday(), due.hour, due.date().isoformat()) == (1, 3, "2026-12-07")


def test_the_first_round_is_registered_once(state: Path) -> None:
    assert first_round.default_status is dg.DefaultSensorStatus.RUNNING
    with dg.instance_for_test() as instance:
        for _ in range(2):
            first_round(dg.build_sensor_context(instance=instance))
        assert instance.get_dynamic_partitions("rounds") == ["round_001"]


def test_automation_is_for_cheap_assets_and_asks_once() -> None:
    """Evaluated on a chain of two with our condition: nothing while the parent is missing, once when it is there, not again."""

    @dg.asset
    def parent() -> None: ...

    @dg.asset(deps=[parent], automation_condition=follow_new_data())
    def child() -> None: ...

    defs = dg.Definitions(assets=[parent, child])
    with dg.instance_for_test() as instance:
        before = dg.evaluate_automation_conditions(defs, instance)
        assert before.total_requested == 0
        instance.report_runless_asset_event(dg.AssetMaterialization("parent"))
        first = dg.evaluate_automation_conditions(defs, instance, cursor=before.cursor)
        assert first.total_requested == 1
        # The run that was asked for failed or has not come: it is not asked for again.
        assert dg.evaluate_automation_conditions(defs, instance, cursor=first.cursor).total_requested == 0


def test_the_graph_itself_can_be_evaluated(state: Path) -> None:
    defs = build_definitions(load_profile("laptop"))
    with dg.instance_for_test() as instance:
        assert dg.evaluate_automation_conditions(defs, instance).total_requested == 0
    names = {spec.key.to_user_string() for spec in defs.resolve_all_asset_specs() if spec.automation_condition is not None}
    assert names == FOLLOWS
