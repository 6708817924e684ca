"""A whole stage on a tiny model: what it writes, that a killed one ends like one that was not, and what stops it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from terrarium.agent.loop import Task
from terrarium.agent.loop import run_rollouts as real_run
from terrarium.agent.rollout import Rollout, read_rollouts
from terrarium.agent.settings import AgentSettings
from terrarium.checkpoints import last_checkpoint
from terrarium.errors import TerrariumError
from terrarium.job import SilentReport
from terrarium.questions.question import write_questions
from terrarium.rl.train import TrainJob, train_in
from tests.terrarium.rl.conftest import EmptyWorld, make_question, make_stage


@pytest.fixture(autouse=True)
def graded_by_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """A random model is never right; here it is if its first token is even."""

    def run(policy: Any, tasks: Sequence[Task], *arguments: Any, **named: Any) -> list[Rollout]:
        rollouts = real_run(policy, tasks, *arguments, **named)
        return [dataclasses.replace(rollout, correct=rollout.token_ids[rollout.turns[0].start] % 2 == 0) for rollout in rollouts]

    monkeypatch.setattr("terrarium.rl.source.run_rollouts", run)


def job(tmp_path: Path, parent: Path, agent: AgentSettings, name: str = "out", **changes: Any) -> TrainJob:
    write_questions(tmp_path / "questions" / "questions.parquet", [make_question(number) for number in range(5)])
    out = tmp_path / name
    out.mkdir(exist_ok=True)
    stage = make_stage(**{"questions": 2, "group": 4, "steps": 5, "save_every": 2, **changes})
    return TrainJob(
        out=out,
        model=parent,
        questions=tmp_path / "questions",
        validation=tmp_path / "questions",
        world=tmp_path,
        agent=agent,
        stage=stage,
        seed=3,
        recipe="grpo-s1",
    )


def weights(folder: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(folder / "model" / "model.safetensors")


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(value, other[name]) for name, value in one.items())


class Killed(BaseException):
    """What ends a process from outside."""


class KilledAfter(SilentReport):
    def __init__(self, step: int):
        self._step = step

    def metrics(self, step: int, values: dict[str, float]) -> None:
        if step == self._step:
            raise Killed


def test_a_stage_leaves_a_checkpoint_that_moved_its_log_and_its_rollouts(tmp_path: Path, parent: Path, agent: AgentSettings) -> None:
    work = job(tmp_path, parent, agent)
    outcome = train_in(work, EmptyWorld(), SilentReport())
    assert sorted(path.name for path in work.out.iterdir()) == ["model", "rollouts.parquet", "training_log.jsonl"]
    assert not equal(weights(work.out), weights(parent))
    assert (work.out / "model" / "chat_template.jinja").read_bytes() == (parent / "model" / "chat_template.jinja").read_bytes()
    log = [json.loads(line) for line in (work.out / "training_log.jsonl").read_text().splitlines()]
    assert [row["step"] for row in log] == [1, 2, 3, 4, 5]
    assert {"reward", "groups_with_spread", "browse_ratio", "at_limit", "malformed", "seconds", "sampled_tokens_a_second"} <= set(log[0])
    rollouts = read_rollouts(work.out / "rollouts.parquet")
    assert len(rollouts) == 5 * 2 * 4 == len({rollout.rollout_id for rollout in rollouts})
    assert any(turn.advantage for rollout in rollouts for turn in rollout.turns)
    gates = {gate.name: gate for gate in outcome.gates}
    assert gates["steps_done"].passed and gates["token_ids_as_sampled"].passed
    assert gates["token_ids_as_sampled"].figures["worst_drift"] < 1e-3


@pytest.mark.parametrize("at", [1, 3])
def test_a_killed_stage_ends_like_one_that_was_not(tmp_path: Path, parent: Path, agent: AgentSettings, at: int) -> None:
    whole = job(tmp_path, parent, agent, "whole")
    train_in(whole, EmptyWorld(), SilentReport())
    killed = job(tmp_path, parent, agent, "killed")
    with pytest.raises(Killed):
        train_in(killed, EmptyWorld(), KilledAfter(at))
    assert last_checkpoint(killed.out / "checkpoints")[0] == at - 1
    outcome = train_in(killed, EmptyWorld(), SilentReport())
    assert outcome.counts["steps"] == 5
    assert equal(weights(whole.out), weights(killed.out))
    untimed = [dataclasses.replace(rollout, seconds=0.0) for rollout in read_rollouts(whole.out / "rollouts.parquet")]
    assert [dataclasses.replace(rollout, seconds=0.0) for rollout in read_rollouts(killed.out / "rollouts.parquet")] == untimed
    assert len((killed.out / "training_log.jsonl").read_text().splitlines()) == 5


def test_rollouts_of_a_step_that_was_cut_off_are_not_sampled_again(
    tmp_path: Path, parent: Path, agent: AgentSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = job(tmp_path, parent, agent)
    with pytest.raises(Killed):
        train_in(work, EmptyWorld(), KilledAfter(3))
    sampled = []

    def run(policy: Any, tasks: Sequence[Task], *arguments: Any, **named: Any) -> list[Rollout]:
        sampled.append(policy.name)
        return real_run(policy, tasks, *arguments, **named)

    monkeypatch.setattr("terrarium.rl.source.run_rollouts", run)
    train_in(work, EmptyWorld(), SilentReport())
    assert sampled == ["stage-1-step-3", "stage-1-step-4"]


def test_numbers_that_go_astray_stop_the_stage_at_its_last_checkpoint(tmp_path: Path, parent: Path, agent: AgentSettings) -> None:
    work = job(tmp_path, parent, agent, max_grad_norm=1e30, save_every=1, steps=8)
    # No profile may ask for such a rate; a copy is not validated.
    work = work.model_copy(update={"stage": work.stage.model_copy(update={"learning_rate": 1e30})})
    with pytest.raises(TerrariumError, match="NaN or infinite"):
        train_in(work, EmptyWorld(), SilentReport())
    step, folder = last_checkpoint(work.out / "checkpoints")
    assert folder is not None and step >= 1


def test_too_few_questions_are_refused_before_any_rollout(tmp_path: Path, parent: Path, agent: AgentSettings) -> None:
    with pytest.raises(TerrariumError, match="5 survived"):
        train_in(job(tmp_path, parent, agent, questions=6), EmptyWorld(), SilentReport())


def test_a_context_larger_than_the_models_is_refused(tmp_path: Path, parent: Path, agent: AgentSettings) -> None:
    with pytest.raises(TerrariumError, match="takes 1024"):
        train_in(job(tmp_path, parent, agent, context=4096), EmptyWorld(), SilentReport())


def test_a_missing_parent_is_named(tmp_path: Path, agent: AgentSettings) -> None:
    with pytest.raises(TerrariumError, match="no model in"):
        train_in(job(tmp_path, tmp_path / "nowhere", agent), EmptyWorld(), SilentReport())


def test_test_questions_are_refused(tmp_path: Path, parent: Path, agent: AgentSettings) -> None:
    work = job(tmp_path, parent, agent)
    write_questions(tmp_path / "questions" / "questions.parquet", [make_question(0, split="test"), make_question(1)])
    with pytest.raises(TerrariumError, match="not of split train"):
        train_in(work, EmptyWorld(), SilentReport())


def test_a_half_written_checkpoint_is_passed_over(tmp_path: Path) -> None:
    for step, whole in ((2, True), (4, False)):
        (tmp_path / f"checkpoint-{step}").mkdir()
        if whole:
            (tmp_path / f"checkpoint-{step}" / "complete").touch()
    assert last_checkpoint(tmp_path) == (2, tmp_path / "checkpoint-2")
    assert not (tmp_path / "checkpoint-4").exists()


def test_a_plateau_on_validation_stops_the_stage(tmp_path: Path, parent: Path, agent: AgentSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([0.2, 0.4, 0.4, 0.9])
    asked = []

    def run(policy: Any, tasks: Sequence[Task], *arguments: Any, **named: Any) -> list[Rollout]:
        accuracy = next(looks)
        asked.append((policy.name, sorted(task.question.question_id for task in tasks)))
        rollouts = real_run(policy, tasks, *arguments, **named)
        return [dataclasses.replace(rollout, correct=number < accuracy * len(tasks)) for number, rollout in enumerate(rollouts)]

    monkeypatch.setattr("terrarium.rl.validation.run_rollouts", run)
    work = job(tmp_path, parent, agent, steps=9, validate_every=1, patience=1)
    questions = [*(make_question(number) for number in range(5)), *(make_question(number, split="validation") for number in range(10, 15))]
    write_questions(work.validation / "all" / "questions.parquet", questions)
    work = work.model_copy(update={"validation": work.validation / "all"})
    outcome = train_in(work, EmptyWorld(), SilentReport())
    assert outcome.counts["steps"] == 3
    assert next(gate for gate in outcome.gates if gate.name == "steps_done").passed
    assert asked == [(f"stage-1-step-{step}", ["q10", "q11", "q12", "q13", "q14"]) for step in (1, 2, 3)]
    log = [json.loads(line) for line in (work.out / "training_log.jsonl").read_text().splitlines()]
    assert [row["validation_accuracy"] for row in log] == [0.2, 0.4, 0.4]


def test_validation_without_questions_is_refused(tmp_path: Path, parent: Path, agent: AgentSettings) -> None:
    with pytest.raises(TerrariumError, match="no validation question"):
        train_in(job(tmp_path, parent, agent, validate_every=1), EmptyWorld(), SilentReport())
