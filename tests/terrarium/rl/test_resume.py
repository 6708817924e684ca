"""A stage of reinforcement learning as a real child, killed with signal 9 wherever it stands: it ends with the same weights and metrics."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from terrarium.agent.settings import AgentSettings
from terrarium.lineage.content import data_version_of
from terrarium.rl.summary import TIMES
from terrarium.rl.train import LOG, TrainJob
from tests.terrarium.killing import finish, kill, lines
from tests.terrarium.rl.test_train import job

pytestmark = [pytest.mark.process, pytest.mark.slow]

TRAIN = "tests.terrarium.killable:train"


def metrics(work: TrainJob) -> list[dict[str, float]]:
    rows = [json.loads(line) for line in (work.out / LOG).read_text().splitlines()]
    return [{name: value for name, value in row.items() if name not in TIMES} for row in rows]


def test_a_stage_killed_anywhere_ends_with_the_same_weights_and_metrics(tmp_path: Path, parent: Path, agent: AgentSettings) -> None:
    whole, killed = (job(tmp_path, parent, agent, name, save_every=2, steps=5) for name in ("whole", "killed"))
    outcome = finish(TRAIN, whole)
    for done in sorted(random.sample(range(5), 2)):
        kill(TRAIN, killed, lambda done=done: lines(killed.out / LOG) >= done and (killed.out / "journal").exists())
    again = finish(TRAIN, killed)
    assert (killed.out / "model/model.safetensors").read_bytes() == (whole.out / "model/model.safetensors").read_bytes()
    assert metrics(killed) == metrics(whole)
    assert again.model_copy(update={"costs": {}}) == outcome.model_copy(update={"costs": {}})
    volatile = ("training_log.jsonl",)
    assert data_version_of(killed.out, "", volatile) == data_version_of(whole.out, "", volatile)
