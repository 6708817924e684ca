"""Making questions and judging them, killed between two rows: what was done is not done again, and the end is the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from resources.content import data_version_of
from terrarium.corpus.page import Page, write_pages
from terrarium.job import Job, SilentReport
from terrarium.questions.extract import ExtractJob, ExtractSettings, extract
from terrarium.questions.support import SupportJob
from tests.terrarium.killing import finish, kill, lines

pytestmark = [pytest.mark.process, pytest.mark.slow]


def continued(function: str, job: Job, journal: str) -> None:
    """Kill it twice; no row of the journal is made twice, and the result is that of a run that nobody killed."""
    whole = job.model_copy(update={"out": job.out.with_name("whole")})
    whole.out.mkdir()
    outcome = finish(function, whole)
    path = job.out / journal
    kill(function, job, lambda: lines(path) >= 2, most_seconds=0.15)
    first = path.read_text().splitlines()
    kill(function, job, lambda: lines(path) >= len(first) + 2, most_seconds=0.1)
    rows = [json.loads(line)["key"] for line in path.read_text().splitlines() if line.endswith("}")]
    assert len(rows) == len(set(rows))
    again = finish(function, job)
    assert again.model_copy(update={"costs": {}}) == outcome.model_copy(update={"costs": {}})
    assert data_version_of(job.out, "") == data_version_of(whole.out, "")
    assert not path.exists()


@pytest.fixture
def job(tmp_path: Path, seeds: list[Page]) -> ExtractJob:
    for name in ("out", "seeds"):
        (tmp_path / name).mkdir()
    write_pages(tmp_path / "seeds" / "pages.parquet", seeds)
    return ExtractJob(out=tmp_path / "out", pages=tmp_path / "seeds", round="first", settings=ExtractSettings(fractions={"train": 0.6, "test": 0.4}))


def test_question_making_goes_on_at_the_page(job: ExtractJob) -> None:
    continued("tests.terrarium.killable:extract", job, "facts.jsonl")


def test_the_support_check_goes_on_at_the_question(job: ExtractJob, tmp_path: Path, seeds: list[Page], others: list[Page]) -> None:
    extract(job, SilentReport())
    for name in ("pages", "judged"):
        (tmp_path / name).mkdir()
    write_pages(tmp_path / "pages" / "pages.parquet", [*seeds, *others])
    check = SupportJob(out=tmp_path / "judged", questions=[job.out], pages=tmp_path / "pages", world=tmp_path)
    continued("tests.terrarium.killable:answerable", check, "verdicts.jsonl")
