"""Real pages: questions out of an excerpt of Wikipedia, in several capabilities."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from terrarium.corpus.page import read_pages
from terrarium.corpus.seeds import GatherJob, SeedSource, gather
from terrarium.job import SilentReport
from terrarium.questions.gates import GATES
from terrarium.questions.question import Question
from terrarium.questions.reading import Library


@pytest.mark.slow
def test_an_excerpt_of_wikipedia_gives_a_hundred_questions_in_three_capabilities(tmp_path: Path, run_extract: Callable[..., list[Question]]) -> None:
    dump = Path(os.environ.get("TERRARIUM_TEST_DATA", "../shared/data")) / "wikipedia" / "enwiki-excerpt.xml.bz2"
    if not dump.exists():
        pytest.skip(f"the excerpt {dump} is not there; set TERRARIUM_TEST_DATA to the folder that holds wikipedia/")
    out = tmp_path / "wiki"
    out.mkdir()
    gather(GatherJob(out=out, sources=[SeedSource(kind="wikipedia", location=str(dump))], round="first"), SilentReport())
    pages = read_pages(out / "pages.parquet")
    questions = [question for question in run_extract(pages) if not any(gate(question) for _, gate in GATES)]
    library = Library(pages, sorted({operand.subject for question in questions for operand in question.operands}))
    years = {question.question_id: int(question.as_of[:4]) if question.as_of else None for question in questions}
    held = [
        question
        for question in questions
        if question.capability != "statistics" and all(library.said(operand, years[question.question_id]) for operand in question.operands)
    ]
    counts = Counter(question.capability for question in held)
    assert sum(counts.values()) >= 100 and len([name for name, count in counts.items() if count >= 5]) >= 3, counts
    answers = {question.fact_key: question.answers[0] for question in questions}
    assert answers.get("algeria · capital", "Algiers") == "Algiers" and answers.get("albert einstein · born", "14 March 1879") == "14 March 1879"
