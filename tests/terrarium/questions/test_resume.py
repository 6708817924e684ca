"""Making questions and judging them, killed between two rows: what was done is not done again, and the end is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from terrarium.corpus.page import Page, write_pages
from terrarium.job import SilentReport
from terrarium.questions.extract import ExtractJob, ExtractSettings, extract
from terrarium.questions.support import SupportJob
from tests.terrarium.killing import continued

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture
def job(tmp_path: Path, seeds: list[Page]) -> ExtractJob:
    for name in ("out", "seeds"):
        (tmp_path / name).mkdir()
    write_pages(tmp_path / "seeds" / "pages.parquet", seeds)
    return ExtractJob(
        out=tmp_path / "out",
        pages=tmp_path / "seeds",
        round="first",
        settings=ExtractSettings(fractions={"train": 0.6, "test": 0.4}, max_questions=4),
    )


def test_question_making_goes_on_at_the_page(job: ExtractJob) -> None:
    continued("tests.terrarium.killable:extract", job, "facts.jsonl")


def test_the_support_check_goes_on_at_the_question(job: ExtractJob, tmp_path: Path, seeds: list[Page], others: list[Page]) -> None:
    extract(job, SilentReport())
    for name in ("pages", "judged"):
        (tmp_path / name).mkdir()
    write_pages(tmp_path / "pages" / "pages.parquet", [*seeds, *others])
    check = SupportJob(out=tmp_path / "judged", questions=[job.out], pages=tmp_path / "pages", world=tmp_path)
    continued("tests.terrarium.killable:answerable", check, "verdicts.jsonl")
