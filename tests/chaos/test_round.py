"""The harness of chaos on a lineage of four small steps: every hurt ends as if nothing had happened, and what is not so is seen."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.chaos.end_state import EndState, differences
from tests.chaos.hurts import Plan, Victim, may_mount, plan_of
from tests.chaos.reference import Reference, reference_of
from tests.chaos.round import Result, play
from tests.chaos.setting import Place, Setting
from tests.chaos.small_run import small_lineage
from tests.chaos.table import append

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]

needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes in /proc")


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    return Setting(
        tmp_path_factory.mktemp("chaos"), small_lineage(), (sys.executable, "-m", "tests.chaos.small_run"), ("x",), {"SLOW_SECONDS": "0.7"}
    )


@pytest.fixture(scope="module")
def reference(setting: Setting) -> Reference:
    return reference_of(setting, jobs=())


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("victim", ["everything", "child", "database", "disk"])
def test_a_hurt_run_ends_as_one_that_was_not(setting: Setting, reference: Reference, victim: Victim) -> None:
    if victim == "disk" and not may_mount():
        pytest.skip("fills a file system of its own, which this user may not mount")
    alive = reference.lived.get(victim, [0.0])
    moment = 0.5 if victim == "disk" else alive[len(alive) // 2]
    result = play(setting, Plan(1, victim, moment, 6.0, ""), reference, victim)
    assert result.differences == []
    assert result.met
    assert result.starts == 2 or victim in ("child", "database")


@needs_proc
@pytest.mark.slow
def test_what_a_round_leaves_or_does_twice_is_seen(setting: Setting, reference: Reference) -> None:
    place = Place(setting, setting.root / "spoiled", "spoiled")
    shutil.copytree(reference.folder, place.folder)
    assert differences(reference.end, place.end_state()) == []
    (place.state / "staging" / "0123").mkdir(parents=True)
    made = next((place.state / "artifacts" / "a").iterdir())
    manifest = json.loads((made / "manifest.json").read_text())
    shutil.copytree(made, made.with_name("ffff"))
    (made.with_name("ffff") / "manifest.json").write_text(json.dumps({**manifest, "fingerprint": "ffff"}))
    (place.state / "current" / "d.json").unlink()
    said = differences(reference.end, place.end_state())
    assert said == ["d None is missing", "artifact a/ffff is one too many", "left: staging/0123"]


KEPT = EndState(Path("/nowhere"), current={"a None": "f1 v1"}, published={"a/f1": "v1"}, told={"a None": ["v1"]}, worked={"f1/a": 1})


@pytest.mark.parametrize(
    ("changes", "told_before", "says"),
    [
        ({}, None, []),
        ({"told": {"a None": ["v1", "v1"]}}, {"a None": ["v1"]}, ["a None was finished and materialised again"]),
        ({"told": {"a None": ["v1", "v1"]}}, None, ["a None was materialised 2 times"]),
        ({"told": {}}, None, ["Dagster was not told of a None as it is"]),
        ({"worked": {"f1/a": 2}}, None, ["the work for f1/a was done 2 times"]),
        ({"published": {}}, None, ["artifact a/f1 is lost"]),
        ({"left": ["run 12 is STARTED"]}, None, ["left: run 12 is STARTED"]),
    ],
)
def test_each_kind_of_difference_is_told(changes: dict[str, object], told_before: dict[str, list[str]] | None, says: list[str]) -> None:
    assert differences(KEPT, dataclasses.replace(KEPT, **changes), told_before) == says  # type: ignore[arg-type]


def test_a_seed_is_a_plan() -> None:
    lived = {"command": [0.0, 50.0], "child": [3.0]}
    plans = [plan_of(seed, lived, {"cold_start": 20.0}) for seed in range(60)]
    assert plans == [plan_of(seed, lived, {"cold_start": 20.0}) for seed in range(60)]
    assert len({plan.victim for plan in plans}) > 8 and len({plan.moment for plan in plans}) > 40
    assert all(3.0 <= plan.moment <= 3.25 for plan in plans if plan.victim == "child")


def test_the_table_grows_by_a_row(tmp_path: Path) -> None:
    document = tmp_path / "reliability.md"
    document.write_text("# Reliability\n\nText.\n")
    for differing in ([], ["a | b differs"]):
        append(document, Result(Plan(7, "child", 12.34, 0.0, ""), 61.2, 2, True, differing))
    lines = document.read_text().splitlines()
    assert lines[:3] == ["# Reliability", "", "Text."] and len(lines) == 8
    assert lines[-2].endswith("| 7 | child | 12.3 s | 61 | 2 | equal |") and lines[-1].endswith("| a / b differs |")
