"""Difficulty: 1 to n-1 of n valid attempts; outages are no attempts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrarium.agent.rollout import Rollout, Termination, write_rollouts
from terrarium.job import Outcome, SilentReport
from terrarium.questions.difficulty import ATTEMPTS_SCHEMA, DifficultyJob, keep, select
from terrarium.questions.question import Question, read_questions, write_questions
from terrarium.tables import read_drops, read_rows


@given(st.integers(2, 64).flatmap(lambda attempts: st.tuples(st.integers(0, attempts), st.just(attempts))))
def test_only_what_is_neither_always_nor_never_solved_is_kept(counts: tuple[int, int]) -> None:
    correct, attempts = counts
    assert keep(correct, attempts) is (0 < correct < attempts)


@pytest.mark.parametrize(("correct", "attempts"), [(-1, 4), (5, 4), (1, 0)])
def test_impossible_counts_are_errors(correct: int, attempts: int) -> None:
    with pytest.raises(ValueError, match="impossible"):
        keep(correct, attempts)


def rollout(question: str, number: int, correct: bool | None) -> Rollout:
    outage = correct is None
    return Rollout(
        f"{question}/{number}",
        question,
        "policy",
        "grpo-s1",
        1,
        "snapshot",
        {},
        (),
        (),
        (),
        (),
        (),
        None if outage else "x",
        Termination.TOOL_OUTAGE if outage else Termination.ANSWERED,
        correct,
    )


def run(tmp_path: Path, questions: list[Question], results: dict[str, list[bool | None]], minimum: int = 1) -> Outcome:
    write_questions(tmp_path / "questions.parquet", questions)
    write_rollouts(
        tmp_path / "rollouts.parquet",
        [rollout(question, place, correct) for question, tries in results.items() for place, correct in enumerate(tries)],
    )
    out = tmp_path / "out"
    out.mkdir(exist_ok=True)
    return select(DifficultyJob(out=out, rollouts=tmp_path, questions=tmp_path, attempts=4, minimum=minimum), SilentReport())


def test_questions_of_middling_difficulty_survive(tmp_path: Path, a_question: Callable[..., Question]) -> None:
    results: dict[str, list[bool | None]] = {
        "never": [False] * 4,
        "always": [True] * 4,
        "some": [True, False, False, False],
        "outage": [None, None, True, True],
        "spread": [None, True, False, None],
    }
    questions = [a_question(question_id=name) for name in [*results, "untried"]]
    outcome = run(tmp_path, questions, results)
    assert [question.question_id for question in read_questions(tmp_path / "out" / "questions.parquet")] == ["some", "spread"]
    judged = {
        row["question_id"]: (row["correct"], row["attempts"], row["kept"], row["reason"])
        for row in read_rows(tmp_path / "out" / "attempts.parquet", ATTEMPTS_SCHEMA)
    }
    assert judged["outage"] == (2, 2, False, "too few valid attempts") and judged["spread"] == (1, 2, True, "kept")
    assert "untried" not in judged
    assert {drop.id: drop.reason for drop in read_drops(tmp_path / "out" / "dropped.parquet")} == {
        "never": "never solved",
        "always": "always solved",
        "outage": "too few valid attempts",
    }
    assert outcome.notes == {"histogram": {"0": 1, "1": 1, "2": 0, "3": 0, "4": 1}, "too_few": False}
    assert outcome.counts["outages"] == 4 and outcome.gates[0].passed


def test_too_few_survivors_is_a_warning_and_no_failure(tmp_path: Path, a_question: Callable[..., Question]) -> None:
    outcome = run(tmp_path, [a_question(question_id="never")], {"never": [False] * 4}, minimum=16)
    assert outcome.notes["too_few"] is True and read_questions(tmp_path / "out" / "questions.parquet") == []
    (gate,) = outcome.gates
    assert not gate.passed and gate.severity == "warn" and "16 are needed" in gate.detail
