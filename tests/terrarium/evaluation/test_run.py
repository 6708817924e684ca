import json
from dataclasses import dataclass

import pytest

from terrarium.agent.policies import ScriptedPolicy
from terrarium.agent.rollout import read_rollouts
from terrarium.agent.settings import AgentSettings
from terrarium.errors import Outage, TerrariumError
from terrarium.evaluation import run
from terrarium.evaluation.benchmarks import BENCHMARK_SCHEMA
from terrarium.job import SilentReport
from terrarium.questions.question import write_questions
from terrarium.tables import write_rows
from tests.terrarium.evaluation.samples import question

SEARCH = '<think>look</think>\n<tool_call>\n{"name": "search", "arguments": {"query": ["x"]}}\n</tool_call>'


@dataclass
class Result:
    query: str = "x"
    status: str = "nothing_found"
    hits: tuple = ()
    error: str | None = None


class World:
    snapshot = "s"
    down = False

    def search(self, queries, k=None):
        if self.down:
            raise Outage("the index went away")
        return [Result(query) for query in queries]

    def for_question(self, question):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def script(answers):
    def write(conversation):
        return SEARCH if conversation.turn == 0 else f"<think>read</think>\n<answer>{answers}</answer>"

    return write


@pytest.fixture
def job(tmp_path, monkeypatch):
    for name in ("questions", "benchmarks", "out"):
        (tmp_path / name).mkdir()
    questions = [question("a"), question("b", "statistics", wording="w2"), question("t", split="train")]
    write_questions(tmp_path / "questions" / "questions.parquet", questions)
    row = {"benchmark": "small", "question_id": "z", "question": "Of z?", "answers": ["right"], "capability": None}
    write_rows(tmp_path / "benchmarks" / "benchmarks.parquet", [row], BENCHMARK_SCHEMA)
    world = World()
    monkeypatch.setattr("terrarium.world.open_world", lambda path: world, raising=False)
    monkeypatch.setattr(
        run, "TransformersPolicy", lambda folder, name, dtype: ScriptedPolicy(script("a" if name == "sft" else "nothing of it"), name)
    )
    agent = AgentSettings(context_tokens=4000, turns=3, tokens_a_turn=400)
    models = {"base": tmp_path / "base", "sft": tmp_path / "sft"}
    job = run.EvaluationJob(
        out=tmp_path / "out",
        models=models,
        questions=tmp_path / "questions",
        benchmarks=tmp_path / "benchmarks",
        world=tmp_path,
        agent=agent,
        settings=run.EvaluationSettings(benchmark_questions=1, emptied=("sft",)),
    )
    return job, world


def test_each_checkpoint_gets_the_same_test_questions(job):
    job, _ = job
    outcome = run.evaluate(job, SilentReport())
    scores = json.loads((job.out / "scores.json").read_text())
    assert {name: value["accuracy"]["hits"] for name, value in scores["models"].items()} == {"base": 0, "sft": 2}
    assert scores["models"]["sft"]["by_wording"]["unseen"]["total"] == 1
    assert scores["models"]["sft"]["searches"] == 2
    assert set(scores["emptied"]) == {"sft"}
    assert set(scores["benchmarks"]) == {"base", "sft"}
    assert outcome.counts["questions"] == 2
    assert len(read_rollouts(job.out / "rollouts.parquet")) == 2 * 2 + 2 + 2
    assert {rollout.question_id for rollout in read_rollouts(job.out / "rollouts.parquet")} == {"a", "b", "z"}


def test_an_outage_is_reported_beside_the_score(job):
    job, world = job
    world.down = True
    run.evaluate(job, SilentReport())
    scores = json.loads((job.out / "scores.json").read_text())["models"]["sft"]
    assert scores["outages"] == 2
    assert scores["accuracy"]["total"] == 0


def test_a_checkpoint_below_its_parents_interval_is_warned_of(job, tmp_path):
    job, _ = job
    parent = tmp_path / "parent"
    parent.mkdir()
    (parent / "scores.json").write_text(json.dumps({"models": {"stage_1": {"accuracy": {"hits": 60, "total": 60, "value": 1.0}}}}))
    worse = job.model_copy(update={"models": {"base": job.models["base"]}, "parent": parent})
    gate = run.evaluate(worse, SilentReport()).gates[0]
    assert (gate.passed, gate.severity) == (False, "warn")


def test_no_test_question_is_an_error_with_advice(job, tmp_path):
    job, _ = job
    write_questions(tmp_path / "questions" / "questions.parquet", [question("t", split="train")])
    with pytest.raises(TerrariumError, match="no test question"):
        run.evaluate(job, SilentReport())
