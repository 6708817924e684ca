"""A stage that a recipe lacks, or where too little is left to learn from, passes its parent through, free and marked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assets.graph import graph
from assets.lineage import Lineage
from assets.step import Step
from resources.artifacts import ArtifactStore
from resources.profiles import load_profile
from terrarium.job import Gate, Job, Outcome

Work = Callable[[Step, Job], Outcome]


@pytest.fixture(scope="module")
def laptop() -> Lineage:
    return graph(load_profile("laptop"))


@pytest.fixture
def ready(laptop: Lineage, tmp_path: Path) -> ArtifactStore:
    """A store in which everything a stage starts from was made."""
    store = ArtifactStore(root=str(tmp_path))
    for name in ("sft_checkpoint", "base_model", "answerable_questions", "world", "benchmarks"):
        _put(store, name, None)
    _put(store, "stage_0/evaluation", "one_long_stage-s1")
    _put(store, "stage_0/evaluation", "grpo-s1")
    return store


def _put(store: ArtifactStore, name: str, partition: str | None, rows: int = 0) -> None:
    def work(out: Path) -> Outcome:
        pq.write_table(pa.table({"question_id": [f"{name} {row}" for row in range(rows)]}), out / "questions.parquet")
        (out / "what.txt").write_text(name)
        return Outcome()

    store.make(name, partition, [], {"rows": rows}, "1", work)


def _never(step: Step, job: Job) -> Outcome:
    raise AssertionError(f"{step.name} was worked on")


def test_a_stage_that_the_recipe_lacks(laptop: Lineage, ready: ArtifactStore) -> None:
    for name in ("policy_rollouts", "questions", "checkpoint", "evaluation"):
        step = laptop.step(f"stage_1/{name}")
        made = laptop.make(step, "one_long_stage-s1", ready, _never)[step.name]
        assert made.passed_through == "recipe one_long_stage has no stage 1"
        assert laptop.is_up_to_date(step, "one_long_stage-s1", ready)
    assert ready.current("stage_1/checkpoint", "one_long_stage-s1").path == ready.current("sft_checkpoint").path
    assert ready.current("stage_1/evaluation", "one_long_stage-s1").path == ready.current("stage_0/evaluation", "one_long_stage-s1").path


@pytest.mark.parametrize("survivors", [3, 16])
def test_too_few_survivors(laptop: Lineage, ready: ArtifactStore, survivors: int) -> None:
    _put(ready, "stage_1/questions", "grpo-s1", rows=survivors)
    step = laptop.step("stage_1/checkpoint")
    worked = []

    def work(step: Step, job: Job) -> Outcome:
        worked.append(step.name)
        (job.out / "model").mkdir()
        return Outcome(gates=[Gate(name=name, passed=True) for name in step.gates])

    made = laptop.make(step, "grpo-s1", ready, work)[step.name]
    evaluation = laptop.make(laptop.step("stage_1/evaluation"), "grpo-s1", ready, work)["stage_1/evaluation"]
    if survivors < 16:
        assert "only 3 questions survived" in str(made.passed_through)
        assert evaluation.passed_through == made.passed_through
        assert worked == []
    else:
        assert made.passed_through is evaluation.passed_through is None
        assert worked == ["stage_1/checkpoint", "stage_1/evaluation"]


def test_recipes_share_what_is_equal(laptop: Lineage, ready: ArtifactStore) -> None:
    """The evaluation of base and cold start is the same for every recipe: the second finds the first one's."""
    step = laptop.step("stage_0/evaluation")
    made = []

    def work(step: Step, job: Job) -> Outcome:
        made.append(job)
        (job.out / "scores.json").write_text("{}")
        return Outcome()

    first = laptop.make(step, "grpo-s1", ready, work)[step.name]
    second = laptop.make(step, "one_long_stage-s1", ready, work)[step.name]
    assert len(made) == 1
    assert first.path == second.path
