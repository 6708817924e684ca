"""How rollouts run, and how they end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from terrarium.agent.attempt import ANSWER_NOW, Task
from terrarium.agent.codec import ByteCodec
from terrarium.agent.loop import run_rollouts
from terrarium.agent.policies import Conversation, Request, Sample, Sampling, ScriptedPolicy, TransformersPolicy
from terrarium.agent.rollout import Rollout, Termination
from terrarium.agent.settings import AgentSettings
from terrarium.errors import Outage
from terrarium.rewards import Grade
from tests.terrarium.agent.fake_world import FakeWorld, question

SETTINGS = AgentSettings(context_tokens=6000, turns=6, tokens_a_turn=400, answer_tokens=200, concurrency=4)
SEARCH = '<think>look</think>\n<tool_call>\n{"name": "search", "arguments": {"query": ["Alder"]}}\n</tool_call>'
VISIT = '<think>read</think>\n<tool_call>\n{"name": "visit", "arguments": {"url": ["https://a.example/alder"], "goal": "length"}}\n</tool_call>'
ANSWER = "<think>read it</think>\n<answer>120 km</answer>"


def script(*turns: str) -> Callable[[Conversation], str]:
    return lambda conversation: turns[min(conversation.turn, len(turns) - 1)]


def grader(prediction: str, answers: tuple[str, ...], asked: object) -> Grade:
    return Grade(prediction in answers, "test")


def run(*turns: str, world: FakeWorld | None = None, settings: AgentSettings = SETTINGS, **options: object) -> Rollout:
    [rollout] = run_rollouts(ScriptedPolicy(script(*turns)), [Task(question())], world or FakeWorld(), settings, grader=grader, **options)  # type: ignore[arg-type]
    check(rollout)
    return rollout


def check(rollout: Rollout) -> None:
    """What holds of every rollout."""
    settings = AgentSettings(**rollout.sampling["agent"])
    assert len(rollout.token_ids) == len(rollout.loss_mask) == len(rollout.logprobs) <= settings.context_tokens
    codec = ByteCodec()
    trained = set()
    for turn in rollout.turns:
        assert codec.decode(rollout.token_ids[turn.start : turn.end]).removesuffix("<|im_end|>") == turn.text
        trained |= set(range(turn.start, turn.end))
    assert trained == {index for index, mask in enumerate(rollout.loss_mask) if mask}
    assert rollout.messages[0]["role"] == "system"


def test_search_visit_answer() -> None:
    rollout = run(SEARCH, VISIT, ANSWER)
    assert (rollout.termination, rollout.answer, rollout.correct) == (Termination.ANSWERED, "120 km", True)
    assert (rollout.searches, rollout.visits, len(rollout.turns)) == (1, 1, 3)
    assert "120 km long" in rollout.turns[1].observation
    assert not any(turn.malformed for turn in rollout.turns)


def test_a_wrong_answer_is_wrong() -> None:
    assert run("<think>guess</think>\n<answer>7 km</answer>").correct is False


def test_a_malformed_turn_costs_the_turn_and_says_why() -> None:
    rollout = run("no tags at all", ANSWER)
    assert rollout.termination is Termination.ANSWERED
    assert rollout.turns[0].malformed is not None
    assert rollout.turns[0].malformed in rollout.turns[0].observation
    assert rollout.turns[0].observation.startswith("Error: ")


def test_too_many_calls_in_a_turn_are_refused() -> None:
    many = '<think>t</think><tool_call>{"name": "search", "arguments": {"query": ["a", "b", "c", "d", "e"]}}</tool_call>'
    world = FakeWorld()
    rollout = run(many, ANSWER, world=world)
    assert rollout.turns[0].malformed and not world.calls


def test_a_turn_that_is_cut_off_is_malformed_and_closed() -> None:
    rollout = run("<think>" + "long " * 300, ANSWER)
    assert rollout.turns[0].malformed and rollout.turns[0].end - rollout.turns[0].start == SETTINGS.tokens_a_turn
    codec = ByteCodec()
    assert rollout.token_ids[rollout.turns[0].end] == codec.end_id
    assert rollout.loss_mask[rollout.turns[0].end] == 0


def test_the_turn_limit_asks_for_the_answer_inside_a_tool_response() -> None:
    rollout = run(SEARCH, SEARCH, ANSWER, settings=SETTINGS.model_copy(update={"turns": 2}))
    assert rollout.termination is Termination.ANSWERED_WHEN_FORCED and rollout.correct
    assert rollout.turns[1].observation.endswith(ANSWER_NOW)
    assert ANSWER_NOW not in rollout.turns[0].observation


def test_a_forced_turn_that_does_not_answer_ends_with_its_limit() -> None:
    rollout = run(SEARCH, settings=SETTINGS.model_copy(update={"turns": 2}))
    assert (rollout.termination, rollout.correct, len(rollout.turns)) == (Termination.TURN_LIMIT, False, 3)
    assert rollout.searches == 2, "a call made in the forced turn is not carried out"


@pytest.mark.parametrize("context", range(1500, 3500, 97))
def test_the_context_limit_is_never_passed_and_leaves_room_to_answer(context: int) -> None:
    settings = SETTINGS.model_copy(update={"context_tokens": context, "turns": 50})

    def search_until_asked(conversation: Conversation) -> str:
        return ANSWER if ANSWER_NOW in conversation.text else SEARCH

    [rollout] = run_rollouts(ScriptedPolicy(search_until_asked), [Task(question())], FakeWorld(filler=30), settings, grader=grader)
    check(rollout)
    assert rollout.termination is Termination.ANSWERED_WHEN_FORCED
    assert rollout.turns[-2].observation.endswith(ANSWER_NOW)
    assert rollout.correct


def test_a_forced_answer_that_fails_at_the_context_limit() -> None:
    rollout = run(SEARCH, settings=SETTINGS.model_copy(update={"context_tokens": 2000, "turns": 50}), world=FakeWorld(filler=50))
    assert rollout.termination is Termination.CONTEXT_LIMIT and rollout.correct is False


def test_a_prompt_that_leaves_no_room_is_a_context_limit() -> None:
    rollout = run(ANSWER, settings=SETTINGS.model_copy(update={"context_tokens": 700}))
    assert (rollout.termination, rollout.turns) == (Termination.CONTEXT_LIMIT, ())


def test_the_time_limit_forces_the_answer() -> None:
    ticks = iter(range(1000))
    rollout = run(SEARCH, ANSWER, settings=SETTINGS.model_copy(update={"time_limit_seconds": 0.5}), clock=lambda: float(next(ticks)))
    assert rollout.termination is Termination.ANSWERED_WHEN_FORCED
    rollout = run(SEARCH, SEARCH, settings=SETTINGS.model_copy(update={"time_limit_seconds": 0.5}), clock=lambda: float(next(ticks)))
    assert rollout.termination is Termination.TIME_LIMIT


def test_an_empty_answer_is_no_answer() -> None:
    rollout = run("<think>t</think>\n<answer> </answer>")
    assert (rollout.termination, rollout.correct) == (Termination.NO_ANSWER, False)


@pytest.mark.parametrize("world", [FakeWorld(outage_after=1), FakeWorld(fails=True)])
def test_an_outage_of_a_tool_is_no_wrong_answer(world: FakeWorld) -> None:
    rollout = run(SEARCH, SEARCH, ANSWER, world=world)
    assert (rollout.termination, rollout.correct) == (Termination.TOOL_OUTAGE, None)
    assert rollout.error


def test_an_outage_of_the_policy_is_no_wrong_answer() -> None:
    class Gone(ScriptedPolicy):
        def sample(self, requests: Sequence[Request], sampling: Sampling) -> list[Sample]:
            if requests[0].turn == 1:
                raise Outage("no route to the server")
            return super().sample(requests, sampling)

    rollouts = run_rollouts(Gone(script(SEARCH, ANSWER)), [Task(question(1)), Task(question(2))], FakeWorld(), SETTINGS, grader=grader)
    assert {(rollout.termination, rollout.correct) for rollout in rollouts} == {(Termination.POLICY_OUTAGE, None)}
    for rollout in rollouts:
        check(rollout)


def test_an_unknown_page_is_told_and_not_an_outage() -> None:
    rollout = run(VISIT.replace("alder", "gone"), ANSWER)
    assert rollout.termination is Termination.ANSWERED and rollout.visits == 1


def test_web_text_cannot_speak_for_the_policy() -> None:
    rollout = run(VISIT.replace("alder", "evil"), ANSWER)
    codec = ByteCodec()
    assert list(rollout.token_ids).count(codec.end_id) == 5
    assert "<answer>99" not in codec.decode(rollout.token_ids)


def test_emptied_results_are_called_for_but_not_seen() -> None:
    world = FakeWorld()
    rollout = run(SEARCH, VISIT, ANSWER, world=world, emptied=True)
    assert [call[0] for call in world.calls] == ["search", "visit"]
    assert [turn.observation for turn in rollout.turns] == ["", "", ""]
    assert rollout.sampling["emptied"] is True


def test_ids_follow_question_attempt_stage_and_seed_but_not_the_recipe() -> None:
    tasks = [Task(question(number), attempt) for number in range(3) for attempt in range(2)]
    policy = ScriptedPolicy(script(ANSWER))

    def ids(**options: object) -> list[str]:
        return [rollout.rollout_id for rollout in run_rollouts(policy, tasks, FakeWorld(), SETTINGS, grader=grader, **options)]  # type: ignore[arg-type]

    first = ids()
    assert len(set(first)) == 6
    assert ids(recipe="grpo-s1") == first
    for other in ({"seed": 1}, {"stage": 1}, {"purpose": "evaluation"}):
        assert not set(ids(**other)) & set(first)


def test_a_kept_batch_is_not_run_again(tmp_path: Path) -> None:
    tasks = [Task(question(number)) for number in range(6)]
    asked: list[int] = []

    def counting(conversation: Conversation) -> str:
        asked.append(1)
        if len(asked) == 6 and not again:
            raise KeyboardInterrupt
        return ANSWER

    again = False
    with pytest.raises(KeyboardInterrupt):
        run_rollouts(ScriptedPolicy(counting), tasks, FakeWorld(), SETTINGS, grader=grader, journal=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    again, asked[:] = True, []
    rollouts = run_rollouts(ScriptedPolicy(counting), tasks, FakeWorld(), SETTINGS, grader=grader, journal=tmp_path)
    assert len(asked) == 2 and [rollout.question_id for rollout in rollouts] == [f"q{number}" for number in range(6)]
    assert rollouts == run_rollouts(ScriptedPolicy(script(ANSWER)), tasks, FakeWorld(), SETTINGS, grader=grader)


def test_a_model_that_knows_nothing_runs_to_its_limits_and_repeats_itself(tiny_model: Path) -> None:
    settings = AgentSettings(context_tokens=700, turns=3, tokens_a_turn=24, answer_tokens=16, concurrency=3)
    tasks = [Task(question(number), attempt) for number in range(2) for attempt in range(2)]

    def go() -> list[Rollout]:
        return run_rollouts(TransformersPolicy(tiny_model, "tiny", "float32"), tasks, FakeWorld(), settings, seed=5, grader=grader)

    rollouts = go()
    assert {rollout.termination for rollout in rollouts} == {Termination.TURN_LIMIT}
    for rollout in rollouts:
        assert len(rollout.turns) == 4 and all(turn.malformed for turn in rollout.turns)
        assert len(rollout.token_ids) == len(rollout.logprobs) <= 700
    assert len({rollout.token_ids for rollout in rollouts}) == 4, "each attempt has noise of its own"
    assert go() == rollouts
