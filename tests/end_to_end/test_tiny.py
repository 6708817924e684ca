"""The whole lineage at the tiny profile: grown once, grown again without work, and from stage 2 on anew; one state folder for all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from assets.graph import graph
from pipelines.overhead import STEP_LIMIT_SECONDS, measure
from resources.artifacts import ArtifactStore
from resources.profiles import load_profile
from terrarium.lineage.archive import Archive
from terrarium.lineage.find import explain

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]


def command(state: Path, *arguments: str) -> tuple[int, str, float]:
    """`python -m pipelines.run --profile tiny` as a person starts it; exit code, output, seconds."""
    environment = {**os.environ, "DAGSTER_HOME": str(ROOT), "TERRARIUM_STATE": str(state), "WEB_PORT": "8719"}
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pipelines.run", "--profile", "tiny", *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1200,
    )
    return done.returncode, done.stdout, time.monotonic() - started


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    state = tmp_path_factory.mktemp("tiny") / "state"
    code, output, seconds = command(state)
    print(output)
    assert code == 0, output
    print(f"the tiny graph took {seconds:.0f} s")
    yield state, output


def versions(state: Path) -> dict[str, tuple[str, str]]:
    """What every asset is now: its content, and the artifact that holds it."""
    store, found = ArtifactStore(root=str(state)), {}
    for step in graph(load_profile("tiny")).steps:
        for name in step.names:
            for partition in store.partitions(name) or [None]:
                artifact = store.current(name, partition)
                found[f"{name} {partition}"] = (artifact.data_version, artifact.path.name)
    return found


def test_everything_was_made_and_told(grown: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    state, output = grown
    lineage = graph(load_profile("tiny"))
    store = ArtifactStore(root=str(state))
    made = {name for step in lineage.steps for name in step.names if store.current_or_none(name) or store.partitions(name)}
    assert made == {name for step in lineage.steps for name in step.names}
    for words in ("seed pages", "answerable", "base", "sft", "live they would have cost", "report.html", "peak memory"):
        assert words in output
    monkeypatch.setenv("TERRARIUM_STATE", str(state))
    monkeypatch.setenv("DAGSTER_HOME", str(ROOT))
    with dg.DagsterInstance.get() as instance:
        for step in lineage.steps:
            for key in step.keys:
                assert instance.get_latest_materialization_event(key) is not None, key
        assert {run.status for run in instance.get_runs()} == {dg.DagsterRunStatus.SUCCESS}


def test_each_filter_and_group_had_work(grown: tuple[Path, str]) -> None:
    store = ArtifactStore(root=str(grown[0]))
    assert store.current("screened_questions", "round_001").manifest.drops
    recipe = load_profile("tiny").recipes[0]
    report = json.loads(store.current("evaluation_report", recipe).file("scores.json").read_text())
    assert report["models"]["sft"]["accuracy"]["hits"] > 0
    trained = [k for k in (1, 2, 3) if store.current(f"stage_{k}/checkpoint", recipe).passed_through is None]
    assert any(report["stages"][f"stage_{k}"]["groups_with_spread"] > 0 for k in trained)


def test_the_last_checkpoint_is_explained_down_to_every_input(grown: tuple[Path, str]) -> None:
    archive = Archive(grown[0])
    recipe, last = load_profile("tiny").recipes[0], f"stage_{load_profile('tiny').stages}/checkpoint"
    found = explain(archive, f"{last} {recipe}", verify=True)
    assert found.lost == []
    assert {"seed_pages", "extracted_questions", "removed_sources", "world", "base_model"} <= {above.asset for above in found.lineage}
    unlike = [above.asset for above in found.lineage if not above.verified]
    assert unlike == []
    by_path = {above.path: above.data_version for above in found.lineage}
    assert all(by_path[parent.path] == parent.data_version for above in found.lineage for parent in above.parents)
    world = ArtifactStore(root=str(grown[0])).current("world")
    assert found.facts["worlds"][0]["snapshot"] == world.manifest.notes["snapshot"]
    assert found.costs.descent["searches"] > 0 and any(name.startswith("tokens_out/") for name in found.costs.descent)


def test_orchestration_adds_little(grown: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERRARIUM_STATE", str(grown[0]))
    monkeypatch.setenv("DAGSTER_HOME", str(ROOT))
    with dg.DagsterInstance.get() as instance:
        found = measure(instance)
    added = max(found.steps, key=lambda step: step.added)
    print(f"orchestration adds {added.added:.2f} s to {added.step} at most, and is {found.share:.1%} of {found.seconds:.0f} s")
    assert added.added <= STEP_LIMIT_SECONDS, added


def test_a_second_time_does_nothing_in_under_a_minute(grown: tuple[Path, str]) -> None:
    before = versions(grown[0])
    children = len(list((grown[0] / "processes").iterdir()))
    code, output, seconds = command(grown[0])
    assert code == 0, output
    assert "nothing had changed" in output
    assert seconds < 60
    assert versions(grown[0]) == before
    assert len(list((grown[0] / "processes").iterdir())) == children


def test_from_stage_2_fresh_makes_stages_2_and_3_anew(grown: tuple[Path, str]) -> None:
    before = versions(grown[0])
    code, output, _ = command(grown[0], "--from", "stage_2", "--fresh")
    assert code == 0, output
    anew = {name.split()[0] for name, now in versions(grown[0]).items() if now != before.get(name)}
    assert {"stage_2/policy_rollouts", "stage_2/checkpoint", "stage_3/policy_rollouts", "stage_3/evaluation", "evaluation_report"} <= anew
    assert all(name.startswith(("stage_2/", "stage_3/")) or name in ("evaluation_report", "recipe_comparison") for name in anew)
    assert "nothing had changed" in command(grown[0])[1]
