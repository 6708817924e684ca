"""A backfill of stages 2 and 3 over both recipes of the tiny profile, trained for real, on a state of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assets.graph import graph
from pipelines.console import Console
from resources.artifacts import ArtifactStore
from resources.profiles import load_profile
from tests.console import ROOT, console, free_port

pytestmark = [pytest.mark.slow, pytest.mark.process, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny graph up to stage 1 for both recipes, and everything for the first."""
    state = tmp_path_factory.mktemp("backfill") / "state"
    environment = {**os.environ, "DAGSTER_HOME": str(ROOT), "TERRARIUM_STATE": str(state), "WEB_PORT": str(free_port())}
    for arguments in (["--recipes", "all", "--until", "stage_1"], []):
        command = [sys.executable, "-m", "pipelines.run", "--profile", "tiny", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1200)
        assert done.returncode == 0, done.stdout + done.stderr
    return state


@pytest.fixture(scope="module")
def ui(grown: Path) -> Iterator[Console]:
    with console(grown, "pipelines.definitions", {"TERRARIUM_PROFILE": "tiny", "WEB_PORT": str(free_port())}) as asked:
        yield asked


def test_stages_2_and_3_of_both_recipes(grown: Path, ui: Console) -> None:
    recipes = load_profile("tiny").recipes
    command = [sys.executable, "-m", "pipelines.backfill", "--ui", ui.address, "--assets", "stage_2", "stage_3", "--recipes", "all", "--wait"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    store = ArtifactStore(root=str(grown))
    names = [name for step in graph(load_profile("tiny")).steps if step.group in ("stage_2", "stage_3") for name in step.names]
    assert all(store.current(name, recipe) for name in names for recipe in recipes)
    # What had been made was found again, and what a recipe lacks passed its parent through.
    assert store.current("stage_2/checkpoint", recipes[1]).passed_through
    counts = [len(list((grown / "processes").glob(f"*stage_{k}_checkpoint-{recipe}"))) for k in (2, 3) for recipe in recipes]
    assert all(count <= 1 for count in counts), counts
    again = subprocess.run([*command, "--only", "failed-and-missing"], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert "Nothing failed" in again.stdout, again.stderr
