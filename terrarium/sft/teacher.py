"""A scripted teacher: it answers questions in the sealed world through the two tools, by the loop every policy goes through."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from terrarium.agent.codec import ByteCodec
from terrarium.agent.loop import Task, run_rollouts
from terrarium.agent.policies import Conversation, ScriptedPolicy
from terrarium.agent.rollout import Rollout, write_rollouts
from terrarium.agent.settings import AgentSettings
from terrarium.agent.tools import World
from terrarium.errors import TerrariumError
from terrarium.job import Gate, Job, Outcome, Report
from terrarium.lineage.ledger import rollout_costs
from terrarium.questions.question import CAPABILITIES, Capability, Question, read_questions
from terrarium.sft.script import Script
from terrarium.tables import Drop, stable_id, write_drops

_OPENING = "<tool_response>\n"
_CLOSING = "\n</tool_response>"


class TeachJob(Job):
    """`questions` is the folder of the answerable questions (split train and share sft are used), `world` that of the sealed world.

    The teacher needs no tokenizer, so its contexts are counted in bytes; `bytes_a_token` turns `agent.context_tokens` into them.
    Every `hurried`-th question about one subject is asked with few turns, so that there is something to learn about being asked for the
    answer.
    """

    questions: Path
    world: Path
    agent: AgentSettings
    limit: int = Field(ge=1, description="questions at most, drawn evenly from the capabilities")
    seed: int = 0
    bytes_a_token: float = Field(default=3.4, gt=0)
    hurried: int = Field(default=6, ge=0, description="0 = none")
    capabilities: tuple[Capability, ...] = Field(default=CAPABILITIES, description="what the cold start teaches; the rest is left out")
    quotes: bool = Field(default=True, description="thoughts quote the sentence that answers; a very small model cannot copy that much")


def teach(job: TeachJob, report: Report) -> Outcome:
    """Write rollouts.parquet (all of them; curation judges) and dropped.parquet (what was not right, and why).

    Raises:
        TerrariumError: there is no question to teach on.
        Outage: every rollout was lost to outages.
    """
    from terrarium.world import open_world

    questions = choose(read_questions(job.questions / "questions.parquet"), job.limit, job.seed, job.capabilities)
    if not questions:
        raise TerrariumError(f"No question of {job.questions} has split train and share sft, so there is nothing to teach on; make more questions.")
    with open_world(job.world) as world:
        return teach_in(job, questions, world, report)


def teach_in(job: TeachJob, questions: Sequence[Question], world: World, report: Report) -> Outcome:
    """The work of `teach` with its world at hand."""
    from terrarium.errors import Outage

    journal = job.out / "journal"
    calm = [question for place, question in enumerate(questions) if not job.hurried or (place + 1) % job.hurried]
    hurried = [question for place, question in enumerate(questions) if job.hurried and not (place + 1) % job.hurried]
    rollouts = []
    for name, some, settings in (("calm", calm, _in_bytes(job)), ("hurried", hurried, _in_bytes(job).model_copy(update={"turns": 2}))):
        teacher = Teacher(world, some, job.seed, job.quotes)
        rollouts += run_rollouts(
            teacher.policy,
            [Task(question) for question in some],
            teacher,
            settings,
            report,
            seed=job.seed,
            purpose=f"teacher-{name}",
            journal=journal,
        )
    order = {question.question_id: place for place, question in enumerate(questions)}
    rollouts.sort(key=lambda rollout: order[rollout.question_id])
    lost = [rollout for rollout in rollouts if rollout.termination.outage]
    if len(lost) == len(rollouts):
        raise Outage(f"All {len(rollouts)} rollouts of the teacher were lost to outages ({lost[0].error}); try again when the world answers.")
    write_rollouts(job.out / "rollouts.parquet", rollouts)
    drops = [_drop(rollout, questions[order[rollout.question_id]]) for rollout in rollouts if not rollout.correct]
    write_drops(job.out / "dropped.parquet", drops)
    shutil.rmtree(journal, ignore_errors=True)
    return _outcome(rollouts, questions, drops)


def choose(questions: Sequence[Question], limit: int, seed: int, capabilities: Sequence[str] = CAPABILITIES) -> list[Question]:
    """At most `limit` questions of the SFT share in seeded order, from each of the capabilities in turn."""
    mine = [question for question in questions if question.split == "train" and question.share == "sft" and question.operands]
    queues = [
        sorted((question for question in mine if question.capability == name), key=lambda question: stable_id(str(seed), question.question_id))
        for name in capabilities
    ]
    longest = max(map(len, queues), default=0)
    return [queue[place] for place in range(longest) for queue in queues if place < len(queue)][:limit]


class Teacher:
    """A scripted policy, and the world it works in: the world tells the scripts what its tools gave, as records."""

    def __init__(self, world: World, questions: Sequence[Question], seed: int, quotes: bool = True) -> None:
        self.policy = ScriptedPolicy(self._turn, name="scripted teacher", codec=ByteCodec())
        self._world = world
        self._questions = {self.policy.codec.neutralise(question.question): question for question in questions}
        self._scripts = {question.question_id: Script(question, seed, quotes=quotes) for question in questions}

    @property
    def snapshot(self) -> str:
        return self._world.snapshot

    def for_question(self, question: Question) -> _Watched:
        return _Watched(self._world.for_question(question), self._scripts[question.question_id])

    def search(self, queries: list[str], k: int | None = None) -> list[Any]:
        return self._world.search(queries, k)

    def visit(self, urls: list[str], goal: str) -> list[Any]:
        return self._world.visit(urls, goal)

    def _turn(self, conversation: Conversation) -> str:
        asked = conversation.text.split("<|im_start|>user\n", 1)[1].split("<|im_end|>", 1)[0]
        script = self._scripts[self._questions[asked].question_id]
        if conversation.turn:
            script.saw_text(conversation.text.rsplit(_OPENING, 1)[1].rsplit(_CLOSING, 1)[0])
        return script.turn()


class _Watched:
    """The world of one question; what a search gives goes to the question's script too."""

    def __init__(self, world: World, script: Script) -> None:
        self._world = world
        self._script = script

    @property
    def snapshot(self) -> str:
        return self._world.snapshot

    def for_question(self, question: Question) -> _Watched:
        return self

    def search(self, queries: list[str], k: int | None = None) -> list[Any]:
        results = self._world.search(queries, k)
        self._script.saw_hits([hit for result in results for hit in result.hits])
        return results

    def visit(self, urls: list[str], goal: str) -> list[Any]:
        return self._world.visit(urls, goal)


def _in_bytes(job: TeachJob) -> AgentSettings:
    scale = job.bytes_a_token
    sizes = {name: int(getattr(job.agent, name) * scale) for name in ("context_tokens", "tokens_a_turn", "answer_tokens")}
    # The prompt alone is long in bytes; no turn of the script is cut off.
    return job.agent.model_copy(update={**sizes, "tokens_a_turn": max(sizes["tokens_a_turn"], 600)})


def _drop(rollout: Rollout, question: Question) -> Drop:
    reason = str(rollout.termination) if rollout.termination.outage else "gave_up" if rollout.answer in (None, "unknown") else "wrong_answer"
    return Drop(rollout.rollout_id, question.question, "teacher", reason, f"{len(rollout.turns)} turns, answered {rollout.answer}")


def _outcome(rollouts: Sequence[Rollout], questions: Sequence[Question], drops: Sequence[Drop]) -> Outcome:
    capability = {question.question_id: question.capability for question in questions}
    right = Counter(capability[rollout.question_id] for rollout in rollouts if rollout.correct)
    asked = Counter(capability[rollout.question_id] for rollout in rollouts)
    counts: dict[str, float] = {"questions": len(questions), "correct": sum(right.values()), "turns": sum(len(rollout.turns) for rollout in rollouts)}
    counts["forced"] = sum(rollout.termination.at_limit for rollout in rollouts)
    detail = f"the teacher was right on {sum(right.values())} of {len(questions)} questions"
    return Outcome(
        counts=counts | {f"correct_{name}": float(right[name]) for name in CAPABILITIES if asked[name]},
        drops=dict(Counter(drop.reason for drop in drops)),
        gates=[Gate(name="something_to_learn", passed=bool(right), detail=detail)],
        costs=rollout_costs(rollouts),
        notes={"asked": dict(asked), "right": dict(right)},
    )
