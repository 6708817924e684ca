"""Difficulty attempts: enough survivors end them, a kill loses no batch, an outage is no wrong answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from terrarium.agent.loop import Task
from terrarium.agent.policies import Conversation, ScriptedPolicy
from terrarium.agent.rollout import Rollout, Termination, read_rollouts
from terrarium.agent.settings import AgentSettings
from terrarium.errors import Outage, TerrariumError
from terrarium.job import SilentReport
from terrarium.questions.question import write_questions
from terrarium.rl import refill
from terrarium.rl.attempts import AttemptJob, attempt, training_questions, try_candidates
from tests.terrarium.rl.conftest import EmptyWorld, make_question

Mark = Callable[[Task], bool | None]


class Killed(BaseException):
    """What ends a process from outside."""


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refill.time, "sleep", lambda seconds: None)
    monkeypatch.setattr("terrarium.rl.refill.run_with_refills.__defaults__", ((0.0, 0.0), lambda seconds: None))


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> Callable[[Mark], list[Task]]:
    """Grade rollouts by a function of question number and attempt; None is an outage. Returns the tasks that were run."""
    from terrarium.agent.loop import run_rollouts as real_run

    def install(mark: Mark) -> list[Task]:
        seen: list[Task] = []

        def run(policy: Any, tasks: Sequence[Task], *arguments: Any, **named: Any) -> list[Rollout]:
            named["journal"] = None
            rollouts = real_run(policy, tasks, *arguments, **named)
            seen.extend(tasks)
            return [_as_marked(rollout, mark(task)) for rollout, task in zip(rollouts, tasks, strict=True)]

        monkeypatch.setattr("terrarium.rl.attempts.run_rollouts", run)
        return seen

    return install


def _as_marked(rollout: Rollout, correct: bool | None) -> Rollout:
    if correct is None:
        return dataclasses.replace(rollout, correct=None, answer=None, termination=Termination.TOOL_OUTAGE, error="the world went away")
    return dataclasses.replace(rollout, correct=correct)


def script(conversation: Conversation) -> str:
    return "<think>So.</think>\n<answer>7</answer>"


def number(task: Task) -> int:
    return int(task.question.question_id[1:])


def job(tmp_path: Path, agent: AgentSettings, **changes: Any) -> AttemptJob:
    tmp_path.mkdir(exist_ok=True)
    values = {"attempts": 4, "survivors": 3, "candidates": 12, "seed": 1, "recipe": "grpo-s1", "stage": 1} | changes
    roomy = agent.model_copy(update={"context_tokens": 1024, "tokens_a_turn": 200, "concurrency": 8})
    return AttemptJob(out=tmp_path, model=tmp_path, questions=tmp_path, world=tmp_path, agent=roomy, **values)


POOL = [make_question(index) for index in range(20)]


def test_candidates_are_tried_until_enough_survive(tmp_path: Path, agent: AgentSettings, marked: Any) -> None:
    marked(lambda task: task.attempt < number(task) % 5)  # 0 to 4 of 4 right
    outcome = try_candidates(job(tmp_path, agent), POOL, ScriptedPolicy(script), EmptyWorld(), SilentReport())
    rollouts = read_rollouts(tmp_path / "rollouts.parquet")
    assert outcome.counts["survivors"] >= 3
    assert outcome.counts["candidates"] < 12
    assert len(rollouts) == 4 * outcome.counts["candidates"]
    correct = [sum(bool(rollout.correct) for rollout in rollouts[start : start + 4]) for start in range(0, len(rollouts), 4)]
    assert sum(1 <= value <= 3 for value in correct) == outcome.counts["survivors"]
    assert outcome.notes["histogram"] == {str(value): correct.count(value) for value in range(5)}
    assert outcome.gates[0].passed
    assert [path.name for path in tmp_path.iterdir()] == ["rollouts.parquet"]


def test_at_most_so_many_are_tried_and_the_gate_says_so(tmp_path: Path, agent: AgentSettings, marked: Any) -> None:
    seen = marked(lambda task: False)
    outcome = try_candidates(job(tmp_path, agent), POOL, ScriptedPolicy(script), EmptyWorld(), SilentReport())
    assert outcome.counts["candidates"] == 12 == len({task.question.question_id for task in seen})
    assert not outcome.gates[0].passed and outcome.gates[0].severity == "warn"


def test_the_order_depends_on_seed_and_stage(tmp_path: Path, agent: AgentSettings, marked: Any) -> None:
    orders = []
    for index, changes in enumerate([{}, {}, {"seed": 2}, {"stage": 2}]):
        seen = marked(lambda task: False)
        try_candidates(job(tmp_path / str(index), agent, **changes), POOL, ScriptedPolicy(script), EmptyWorld(), SilentReport())
        orders.append([number(task) for task in seen[::4]])
    assert orders[0] == orders[1]
    assert orders[2] != orders[0] != orders[3]


def test_an_outage_is_tried_again_and_is_no_wrong_answer(tmp_path: Path, agent: AgentSettings, marked: Any) -> None:
    marked(lambda task: None if task.attempt in (1, 5) else task.attempt == 0)
    outcome = try_candidates(job(tmp_path, agent, candidates=2), POOL, ScriptedPolicy(script), EmptyWorld(), SilentReport())
    rollouts = read_rollouts(tmp_path / "rollouts.parquet")
    assert outcome.counts["undecided"] == 0
    assert [rollout.sampling["attempt"] for rollout in rollouts[:4]] == [0, 9, 2, 3]
    assert sum(rollout.termination.outage for rollout in rollouts) == 4


def test_a_question_that_stays_out_is_undecided(tmp_path: Path, agent: AgentSettings, marked: Any) -> None:
    marked(lambda task: None if task.attempt % 4 == 1 else number(task) % 2 == 0 and task.attempt == 0)
    outcome = try_candidates(job(tmp_path, agent, candidates=6), POOL, ScriptedPolicy(script), EmptyWorld(), SilentReport())
    tried = {rollout.question_id for rollout in read_rollouts(tmp_path / "rollouts.parquet")}
    even = sum(int(name[1:]) % 2 == 0 for name in tried)
    # One right and one wrong of three is neither always nor never; none right of three may still be one right of four.
    assert outcome.counts["survivors"] == even
    assert outcome.counts["undecided"] == outcome.counts["candidates"] - even > 0


def test_a_world_that_went_away_ends_the_step_as_an_outage(tmp_path: Path, agent: AgentSettings, marked: Any) -> None:
    marked(lambda task: None)
    with pytest.raises(Outage, match="the world went away"):
        try_candidates(job(tmp_path, agent), POOL, ScriptedPolicy(script), EmptyWorld(), SilentReport())


def test_a_killed_step_runs_no_finished_batch_again(tmp_path: Path, agent: AgentSettings) -> None:
    asked: list[str] = []

    def watched(conversation: Conversation) -> str:
        asked.append(conversation.rollout_id)
        if len(asked) == 12:
            raise Killed
        return script(conversation)

    work = job(tmp_path / "killed", agent)
    with pytest.raises(Killed):
        try_candidates(work, POOL, ScriptedPolicy(watched), EmptyWorld(), SilentReport())
    first = set(asked[:8])
    asked.clear()
    asked += ["-"] * 100
    try_candidates(work, POOL, ScriptedPolicy(watched), EmptyWorld(), SilentReport())
    assert not first & set(asked)
    whole = job(tmp_path / "whole", agent)
    try_candidates(whole, POOL, ScriptedPolicy(script), EmptyWorld(), SilentReport())
    assert read_rollouts(whole.out / "rollouts.parquet") == read_rollouts(work.out / "rollouts.parquet")


def test_only_the_rl_share_of_train_is_tried(tmp_path: Path) -> None:
    others = [make_question(1, share="sft"), make_question(2, split="test", share=None), make_question(3, split="validation", share=None)]
    write_questions(tmp_path / "questions.parquet", [make_question(0), *others])
    assert [question.question_id for question in training_questions(tmp_path)] == ["q00"]


def test_without_a_question_nothing_is_loaded(tmp_path: Path, agent: AgentSettings) -> None:
    write_questions(tmp_path / "questions.parquet", [make_question(0, share="sft")])
    with pytest.raises(TerrariumError, match="nothing to try"):
        attempt(job(tmp_path, agent), SilentReport())
