"""What pages and models write is shown as text: planted markup does not run in a report, and is no markup in the UI's metadata or the terminal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assets.show import metadata_of
from resources.artifacts import ArtifactStore
from resources.process import _failure
from terrarium.agent.rollout import Termination, write_rollouts
from terrarium.evaluation.compare import CompareJob, compare
from terrarium.evaluation.report import ReportJob, report
from terrarium.evaluation.scores import scores_of
from terrarium.job import Outcome, SilentReport
from terrarium.questions.question import write_questions
from tests.browser import browser
from tests.terrarium.evaluation.samples import question, rollout

PLANTED = (
    "<script>window.ran = 'script'</script>",
    "<img src=x onerror=\"window.ran = 'image'\">",
    "[click](javascript:window.ran='link')",
    "</pre></details><svg onload=\"window.ran = 'svg'\">",
    "<a href=\"javascript:window.ran='anchor'\">here</a>",
    "```\n![seen](http://127.0.0.1:9/seen.png)\n```",
    "{{ 7 * 7 }}{% raw %}",
)
ALL = " ".join(PLANTED)


@pytest.fixture
def reported(tmp_path: Path) -> Path:
    """A report with planted text in everything that comes from a page or a model."""
    asked = [replace(question("a"), question=ALL, answers=(ALL,))]
    (tmp_path / "questions").mkdir()
    write_questions(tmp_path / "questions" / "questions.parquet", asked)
    evaluation = tmp_path / "stage_0"
    evaluation.mkdir()
    rollouts = [_marked(rollout("a", False, policy="base")), _marked(rollout("a", True)), _marked(rollout("a", False, Termination.TURN_LIMIT))]
    write_rollouts(evaluation / "rollouts.parquet", rollouts)
    models = {"base": scores_of(rollouts[:1], asked, set()), "sft": scores_of(rollouts[1:2], asked, set())}
    (evaluation / "scores.json").write_text(json.dumps({"models": models}))
    (tmp_path / "out").mkdir()
    job = ReportJob(
        out=tmp_path / "out",
        recipe="grpo-s1",
        evaluations=[evaluation],
        questions=tmp_path / "questions",
        passed_through={1: ALL},
        lineage={"seed_pages": {"counts": {"pages": 1}, "drops": {ALL: 3}, "notes": {"title": ALL}}},
    )
    report(job, SilentReport())
    return tmp_path / "out"


def _marked(made: Any) -> Any:
    turn = replace(made.turns[0], text=ALL, thought=ALL, observation=ALL, malformed=ALL)
    return replace(made, turns=(turn,), answer=ALL if made.answer else None)


def ran(file: Path) -> tuple[Any, list[str], str, list[str]]:
    """What a planted script left behind, what the page asked for, what it shows, and which elements it should not have."""
    asked: list[str] = []
    with browser() as page:
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        page.wait_for_timeout(500)
        left = page.evaluate("window.ran ?? null")
        elements = page.evaluate("[...document.querySelectorAll('script, svg, a, iframe, [onerror], [onload]')].map(each => each.outerHTML)")
        return left, [url for url in asked if not url.startswith(("file:", "data:"))], page.inner_text("body"), elements


def test_nothing_runs_in_a_report(reported: Path) -> None:
    left, asked, text, elements = ran(reported / "report.html")
    assert (left, asked, elements) == (None, [], [])
    for planted in PLANTED:
        # The browser lays several spaces and lines out as it likes.
        assert "".join(planted.split()) in "".join(text.split()), planted


def test_the_content_policy_stands_even_where_text_would_slip_through(reported: Path) -> None:
    """The second line of defence: the same page with the planted text pasted in unescaped."""
    file = reported / "report.html"
    file.write_text(file.read_text().replace("</h1>", f"</h1>{ALL}", 1))
    left, asked, _, elements = ran(file)
    assert elements and left is None and asked == []


def test_nothing_runs_in_a_comparison(reported: Path, tmp_path: Path) -> None:
    out = tmp_path / "compared"
    out.mkdir()
    scores = json.loads((reported / "scores.json").read_text())
    scores["models"][ALL] = scores["models"].pop("sft")
    (reported / "scores.json").write_text(json.dumps(scores))
    compare(CompareJob(out=out, reports={"grpo-s1": reported}), SilentReport())
    left, asked, text, elements = ran(out / "comparison.html")
    assert (left, asked, elements) == (None, [], [])
    assert "<script>" in text
    assert "Content-Security-Policy" in (out / "comparison.html").read_text()


def test_metadata_holds_no_markup_of_others(tmp_path: Path) -> None:
    """Only our own pictures are Markdown; the UI shows text and table cells as they are."""
    store = ArtifactStore(root=str(tmp_path))

    def work(out: Path) -> Outcome:
        pq.write_table(pa.table({"title": [ALL], "answers": [[ALL]]}), out / "pages.parquet")
        return Outcome(counts={"pages": 1}, drops={ALL: 1}, notes={"title": ALL})

    shown = metadata_of(store.make("seed_pages", None, [], {}, "1", work), samples=("pages.parquet",))
    (tmp_path / "log.txt").write_text(ALL)
    failure = _failure(tmp_path, ALL, retry=False)
    descent = shown.pop("descent")
    assert isinstance(descent, dg.MarkdownMetadataValue) and not [mark for mark in "<>[]()" if mark in (descent.md_str or "")]
    for name, value in {**shown, **failure.metadata}.items():
        assert not isinstance(value, dg.MarkdownMetadataValue | dg.UrlMetadataValue), name
