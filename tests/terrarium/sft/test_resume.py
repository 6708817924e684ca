"""The cold start as a real child, killed with signal 9 wherever it stands: it ends with the same weights and metrics."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from terrarium.job import SilentReport
from terrarium.sft.train import LOG, train
from tests.terrarium.killing import finish, kill, lines
from tests.terrarium.sft.test_train import SETTINGS, job, trajectory

pytestmark = [pytest.mark.process, pytest.mark.slow]

TRAIN = "terrarium.sft.train:train"


def test_a_training_killed_anywhere_ends_with_the_same_weights_and_metrics(tmp_path: Path, tiny_base: Path) -> None:
    rows = [trajectory(number) for number in range(24)] + [trajectory(number, split="validation") for number in range(30, 33)]
    settings = SETTINGS.model_copy(update={"epochs": 3})
    whole, killed = (job(tmp_path, tiny_base, rows, name, settings) for name in ("whole", "killed"))
    outcome = finish(TRAIN, whole)
    for done in sorted(random.sample(range(16), 2)):
        kill(TRAIN, killed, lambda done=done: lines(killed.out / LOG) >= done and (killed.out / "loss_before.json").exists(), 0.2)
    again = finish(TRAIN, killed)
    assert (killed.out / "model/model.safetensors").read_bytes() == (whole.out / "model/model.safetensors").read_bytes()
    assert (killed.out / LOG).read_text() == (whole.out / LOG).read_text()
    assert again.model_copy(update={"costs": {}}) == outcome.model_copy(update={"costs": {}})


def test_a_checkpoint_that_was_being_written_is_passed_over(tmp_path: Path, tiny_base: Path) -> None:
    rows = [trajectory(number) for number in range(24)]

    class Killed(SilentReport):
        def metrics(self, step: int, values: dict[str, float]) -> None:
            if step == 5:
                raise KeyboardInterrupt

    work = job(tmp_path, tiny_base, rows)
    with pytest.raises(KeyboardInterrupt):
        train(work, Killed())
    torn = work.out / "checkpoints" / "checkpoint-5"
    torn.mkdir()
    (torn / "trainer_state.json").write_text('{"global_st')
    (work.out / LOG).open("a").write('{"step": 5, "lo')
    assert train(work, SilentReport()).costs["resumed_at"] == 4
