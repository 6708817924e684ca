from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrarium.agent.attempt import ANSWER_NOW
from terrarium.agent.protocol import render_turn, search_call, visit_call
from terrarium.agent.rollout import Rollout, RolloutTurn, Termination, ToolCall, write_rollouts
from terrarium.evaluation.benchmarks import BENCHMARK_SCHEMA
from terrarium.job import Outcome, SilentReport
from terrarium.questions.question import Question, write_questions
from terrarium.sft.curate import CurateJob, CurateSettings, curate, is_validation, resample_weight
from terrarium.sft.draft import align, pruned, signature
from terrarium.sft.structure import structure_faults
from terrarium.sft.trajectory import Trajectory, read_trajectories
from terrarium.tables import read_drops, write_rows

QUESTION = Question("q1", "How long is the Alder?", ("120 km",), "number", "direct", 1, (), (), split="train", share="sft")


def turn(calls: list[ToolCall] | None = None, seen: str = "seen", answer: str | None = None, malformed: str | None = None) -> RolloutTurn:
    text = malformed if malformed is not None else render_turn("t", calls or (), answer)
    return RolloutTurn(text, "t", tuple(calls or ()), seen, None if malformed is None else "wrong", 0, 0)


def rollout(*turns: RolloutTurn, question: str = "q1", correct: bool | None = True, number: int = 0) -> Rollout:
    return Rollout(f"r{question}{number}", question, "p", "", 0, "s", {}, (), turns, (), (), (), "120 km", Termination.ANSWERED, correct)


SEARCH, VISIT = search_call(["Alder"]), visit_call(["https://a.example/alder"], "length")
GOOD = (turn([SEARCH]), turn([VISIT]), turn(answer="120 km"))


def run(tmp_path: Path, rollouts: list[Rollout], questions: list[Question] = [QUESTION], benchmark: str = "Who?", **settings: Any) -> Outcome:  # noqa: B006
    write_rollouts(tmp_path / "rollouts.parquet", rollouts)
    write_questions(tmp_path / "questions.parquet", questions)
    row = {"benchmark": "b", "question_id": "b1", "question": benchmark, "answers": ["x"], "capability": None}
    write_rows(tmp_path / "benchmarks.parquet", [row], BENCHMARK_SCHEMA)
    out = tmp_path / "out"
    out.mkdir(exist_ok=True)
    job = CurateJob(
        out=out, rollouts=tmp_path, questions=tmp_path, benchmarks=tmp_path, settings=CurateSettings(**{"validation_share": 0.0, **settings})
    )
    return curate(job, SilentReport())


def made(tmp_path: Path) -> list[Trajectory]:
    return read_trajectories(tmp_path / "out" / "trajectories.parquet")


def test_the_published_counts_come_out() -> None:
    turns = [30] * 3720 + [80] * 4400 + [150] * 1245
    weights = [resample_weight(number) for number in turns]
    by_bucket = {number: sum(weight for weight, other in zip(weights, turns, strict=True) if other == number) for number in (30, 80, 150)}
    assert by_bucket == {30: 3720, 80: 8800, 150: 6225}
    assert (len(turns), sum(weights)) == (9365, 18745)
    assert round(100 * 1245 / 9365, 2) == 13.29 and round(100 * 6225 / 18745, 2) == 33.21


@pytest.mark.parametrize(("turns", "copies"), [(0, 1), (50, 1), (51, 2), (100, 2), (101, 5)])
def test_bounds_of_the_buckets(turns: int, copies: int) -> None:
    assert resample_weight(turns) == copies


@pytest.mark.parametrize(("thresholds", "weights"), [((50,), (1, 2, 5)), ((100, 50), (1, 2, 5)), ((50, 50), (1, 2, 5))])
def test_thresholds_that_make_no_sense_are_refused(thresholds: tuple[int, ...], weights: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="threshold"):
        resample_weight(1, thresholds, weights)


@given(st.text(), st.integers(0, 5))
def test_a_question_is_on_one_side(name: str, seed: int) -> None:
    assert is_validation(name, 0.0, seed) is False
    assert is_validation(name, 1.0, seed) is True
    assert is_validation(name, 0.3, seed) == is_validation(name, 0.3, seed)


def test_a_good_rollout_becomes_a_trajectory(tmp_path: Path) -> None:
    outcome = run(tmp_path, [rollout(*GOOD)])
    [trajectory] = made(tmp_path)
    assert (trajectory.turns, trajectory.copies, trajectory.split) == (3, 1, "train")
    assert structure_faults(trajectory.messages) == []
    assert trajectory.messages[-1]["content"] == "<think>t</think>\n<answer>120 km</answer>"
    assert outcome.notes["steps"] == {"teacher": 1, "aligned": 1, "pruned": 1, "correct": 1, "checked": 1}
    assert all(gate.passed for gate in outcome.gates)


def test_repeats_go_but_a_repeat_after_a_failure_stays() -> None:
    failed = turn([SEARCH], seen="No search results.")
    draft = align(rollout(failed, turn([SEARCH]), turn([SEARCH]), turn(answer="x")), QUESTION, "short")
    assert draft is not None
    cut, removed = pruned(draft, ("search", "visit"))
    assert [item.observation for item in cut.turns] == ["No search results.", "seen", ""]
    assert removed["repeated_calls"] == 1


def test_signatures_know_sets_addresses_and_goals() -> None:
    assert signature(search_call(["b  B", "a"])) == signature(search_call(["A", "b b"]))
    assert signature(visit_call(["HTTPS://A.example:443/x#y"], "g")) == signature(visit_call(["https://a.example/x"], "g"))
    assert signature(visit_call(["https://a.example/x"], "g")) != signature(visit_call(["https://a.example/x"], "other"))


def test_malformed_turns_go_and_a_call_for_the_answer_moves_up(tmp_path: Path) -> None:
    forced = turn(malformed="no tags", seen=f"Error: x\n{ANSWER_NOW}")
    run(tmp_path, [rollout(turn([SEARCH]), forced, turn(answer="120 km"))])
    [trajectory] = made(tmp_path)
    assert [message["role"] for message in trajectory.messages] == ["system", "user", "assistant", "user", "assistant"]
    assert trajectory.messages[3]["content"] == f"<tool_response>\nseen\n{ANSWER_NOW}\n</tool_response>"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (rollout(turn([SEARCH])), "no_answer"),
        (rollout(turn([SEARCH]), turn(answer="7 km")), "wrong_answer"),
        (rollout(*GOOD, correct=None), "undecided"),
        (rollout(turn(answer="120 km")), "too_few_calls"),
        (rollout(*GOOD, question="gone"), "unknown_question"),
    ],
)
def test_what_is_dropped_has_its_reason(tmp_path: Path, bad: Rollout, reason: str) -> None:
    outcome = run(tmp_path, [rollout(*GOOD), bad])
    assert outcome.drops == {reason: 1}
    assert [drop.reason for drop in read_drops(tmp_path / "out" / "dropped.parquet")] == [reason]
    assert len(made(tmp_path)) == 1


def test_the_same_trajectory_is_kept_once(tmp_path: Path) -> None:
    assert run(tmp_path, [rollout(*GOOD), rollout(*GOOD, number=1)]).drops == {"same_trajectory": 1}


def test_a_benchmark_question_is_not_learnt(tmp_path: Path) -> None:
    assert run(tmp_path, [rollout(*GOOD)], benchmark="how long is the alder").drops == {"benchmark_question": 1}
    assert not made(tmp_path)


@pytest.mark.parametrize("other", [{"split": "test"}, {"share": "rl"}])
def test_questions_for_other_uses_are_not_learnt(tmp_path: Path, other: dict[str, str]) -> None:
    outcome = run(tmp_path, [rollout(*GOOD)], questions=[replace(QUESTION, **other)])  # type: ignore[arg-type]
    assert outcome.drops == {"question_is_not_for_sft": 1}
    assert [gate.passed for gate in outcome.gates if gate.name == "trajectories_to_learn_from"] == [False]


def test_copies_follow_the_turns_and_the_split_the_question(tmp_path: Path) -> None:
    questions = [replace(QUESTION, question_id=f"q{number}", question=f"How long is river {number}?") for number in range(40)]
    rollouts = [
        rollout(*[turn([search_call([f"{number} {extra}"])]) for extra in range(number % 4 + 1)], turn(answer="120 km"), question=f"q{number}")
        for number in range(40)
    ]
    outcome = run(tmp_path, rollouts, questions=questions, thresholds=(2, 4), weights=(1, 2, 5), validation_share=0.3)
    trajectories = made(tmp_path)
    assert {(item.turns, item.copies) for item in trajectories} == {(2, 1), (3, 2), (4, 2), (5, 5)}
    assert 0 < outcome.counts["validation"] < 40
    assert outcome.counts["rows"] == sum(item.copies for item in trajectories if item.split == "train")


def test_cleaning_what_is_clean_changes_nothing(tmp_path: Path) -> None:
    run(tmp_path, [rollout(turn([SEARCH]), turn(malformed="x", seen="Error: y"), turn([SEARCH]), *GOOD[1:])])
    [first] = made(tmp_path)
    turns = [RolloutTurn(message["content"], "", (), "", None, 0, 0) for message in first.messages if message["role"] == "assistant"]
    seen = [message["content"].removeprefix("<tool_response>\n").removesuffix("\n</tool_response>") for message in first.messages[3::2]]
    turns = [replace(item, observation=text) for item, text in zip(turns, [*seen, ""], strict=True)]
    run(tmp_path, [rollout(*turns)])
    assert made(tmp_path) == [first]
