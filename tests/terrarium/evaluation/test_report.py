import json

import pytest

from terrarium.agent.rollout import Termination, write_rollouts
from terrarium.errors import TerrariumError
from terrarium.evaluation.compare import CompareJob, compare
from terrarium.evaluation.report import ReportJob, report
from terrarium.evaluation.scores import scores_of
from terrarium.job import SilentReport
from terrarium.questions.question import write_questions
from tests.terrarium.evaluation.samples import question, rollout


@pytest.fixture
def folders(tmp_path):
    questions = [question("a"), question("b", "statistics")]
    (tmp_path / "questions").mkdir()
    write_questions(tmp_path / "questions" / "questions.parquet", questions)
    evaluation = tmp_path / "stage_0"
    evaluation.mkdir()
    base = [rollout("a", False, policy="base"), rollout("b", False, Termination.TURN_LIMIT, policy="base")]
    sft = [rollout("a", True), rollout("b", None, Termination.TOOL_OUTAGE)]
    blind = [rollout("b", False, policy="sft", sampling={"emptied": True}, answer="seen by nobody")]
    write_rollouts(evaluation / "rollouts.parquet", base + sft + blind)
    models = {"base": scores_of(base, questions, set()), "sft": scores_of(sft, questions, set())}
    (evaluation / "scores.json").write_text(json.dumps({"models": models, "emptied": {"sft": scores_of(blind, questions, set())}}))
    attempts = tmp_path / "attempts"
    attempts.mkdir()
    write_rollouts(attempts / "rollouts.parquet", [rollout("a", c, searches=2) for c in (True, False, False, True)])
    training = tmp_path / "training"
    training.mkdir()
    (training / "training_log.jsonl").write_text(json.dumps({"step": 1, "reward": 0.5, "groups_with_spread": 0.5}) + "\n")
    out = tmp_path / "report"
    out.mkdir()
    return ReportJob(
        out=out,
        recipe="grpo-s1",
        evaluations=[evaluation],
        questions=tmp_path / "questions",
        attempts={1: attempts},
        training={1: training},
        passed_through={2: "too few questions survived"},
        lineage={"pages": 12, "questions": {"direct": 1}},
        prices={"serper_per_1000": 1.0, "read_per_1000": 0.5},
    )


def test_the_report_counts_what_the_rollouts_hold(folders):
    report(folders, SilentReport())
    scores = json.loads((folders.out / "scores.json").read_text())
    assert scores["models"]["sft"]["accuracy"] | {"low": 0, "high": 0} == {"hits": 1, "total": 1, "value": 1.0, "low": 0, "high": 0}
    stage = scores["stages"]["stage_1"]
    assert stage["histogram"] == {"0": 0, "1": 0, "2": 1, "3": 0, "4": 0}
    assert stage["survivors"] == 1
    assert stage["pass_at_k"]["2"] == pytest.approx(1 - 1 / 6)
    assert scores["tool_calls"]["searches"] == 4 + 8
    assert scores["stages"]["stage_2"] == {"passed_through": "too few questions survived"}


def test_text_from_the_web_is_shown_as_text(folders):
    report(folders, SilentReport())
    html = (folders.out / "report.html").read_text()
    assert "<script>" not in html
    assert "&lt;script&gt;x&lt;/script&gt;" in html
    assert "passed through: too few questions survived" in html
    assert len(list((folders.out / "plots").glob("*.png"))) == 6


def test_runs_with_emptied_results_stand_apart(folders):
    report(folders, SilentReport())
    html = (folders.out / "report.html").read_text()
    assert "sft, tool results emptied" in html
    assert "seen by nobody" not in html
    assert set(json.loads((folders.out / "scores.json").read_text())["models"]) == {"base", "sft"}


def test_what_it_comes_from_is_told_in_words(folders):
    lineage = {"world": {"counts": {"pages": 1042.0}, "drops": {}, "notes": {"mode": "corpus"}}}
    report(folders.model_copy(update={"lineage": lineage}), SilentReport())
    html = (folders.out / "report.html").read_text()
    assert "pages: 1,042" in html
    assert "mode: corpus" in html
    assert "{&#39;" not in html
    assert "drops" not in html


def test_an_evaluation_without_scores_is_named(folders, tmp_path):
    (tmp_path / "stage_0" / "scores.json").unlink()
    with pytest.raises(TerrariumError, match="scores.json"):
        report(folders, SilentReport())


def test_recipes_share_base_and_sft_in_the_comparison(folders, tmp_path):
    report(folders, SilentReport())
    out = tmp_path / "comparison"
    out.mkdir()
    outcome = compare(CompareJob(out=out, reports={"grpo-s1": folders.out, "igpo-s1": folders.out}), SilentReport())
    assert [row["checkpoint"] for row in json.loads((out / "comparison.json").read_text())] == ["base", "sft"]
    assert outcome.counts["recipes"] == 2
    with pytest.raises(TerrariumError, match="No recipe"):
        compare(CompareJob(out=out, reports={}), SilentReport())
