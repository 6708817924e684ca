"""Removal: sources, their other addresses, copies and mirrors, and pages that publish benchmark answers; in three modes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from terrarium.corpus.page import Page, write_pages
from terrarium.job import SilentReport
from terrarium.questions.question import Question, write_questions
from terrarium.questions.removal import REMOVED_SCHEMA, RemovalJob, remove
from terrarium.tables import read_rows, write_rows

BENCHMARKS = pa.schema(
    [
        ("benchmark", pa.string()),
        ("question_id", pa.string()),
        ("question", pa.string()),
        ("answers", pa.list_(pa.string())),
        ("capability", pa.string()),
    ]
)


def run(
    tmp_path: Path, pages: list[Page], questions: list[Question], mode: str, benchmark: tuple[str, str] | None = None
) -> dict[str, tuple[str, str | None]]:
    for name in ("p", "q", "b", "out"):
        (tmp_path / name).mkdir(exist_ok=True)
    write_pages(tmp_path / "p" / "pages.parquet", pages)
    write_questions(tmp_path / "q" / "questions.parquet", questions)
    rows = [{"benchmark": "b", "question_id": "b1", "question": benchmark[0], "answers": [benchmark[1]], "capability": None}] if benchmark else []
    write_rows(tmp_path / "b" / "benchmarks.parquet", rows, BENCHMARKS)
    remove(RemovalJob(out=tmp_path / "out", pages=tmp_path / "p", questions=[tmp_path / "q"], benchmarks=tmp_path / "b", mode=mode), SilentReport())  # type: ignore[arg-type]
    assert json.loads((tmp_path / "out" / "removal.json").read_text()) == {"mode": mode}
    names = {page.page_id: page.url for page in pages}
    return {names[row["page_id"]]: (row["why"], row["question_id"]) for row in read_rows(tmp_path / "out" / "removed.parquet", REMOVED_SCHEMA)}


@pytest.fixture
def web(seeds: list[Page], make_page: Callable[..., Page]) -> list[Page]:
    source = seeds[0]
    long = source.markdown + (
        "\n\nThe town hall of Arlow was painted green by Otto Hult in a single night, "
        "and the clerk Ida Renn wrote a song about the river and its slow barges."
    )
    big = "\n\n".join(
        f"Paragraph {number} tells of other things entirely, such as the weather in month {number} and the price of oats." for number in range(40)
    )
    return [
        *seeds,
        make_page("http://mirror.test/arlow", "Arlow", source.markdown.replace("quiet town", "quiet town indeed")),
        make_page("http://digest.test/north", "The North", f"{big}\n\n{long}\n\n{big}"),
        make_page("http://other.test/arlow", "Arlow", "Arlow has 12,345 inhabitants, says a traveller who counted them on a sunny day in spring."),
        make_page(
            "http://encyclopedia.test/arlow-town",
            "Arlow (town)",
            "A redirect that was crawled as a page of its own with another text.",
            aliases=(source.url,),
        ),
    ]


def test_sources_their_variants_copies_and_mirrors_go_and_nothing_else(tmp_path: Path, web: list[Page], a_question: Callable[..., Question]) -> None:
    removed = run(tmp_path, web, [a_question(source_page_ids=(web[0].page_id,))], "corpus")
    assert {url: why for url, (why, _) in removed.items()} == {
        "https://encyclopedia.test/Arlow": "source",
        "https://mirror.test/arlow": "near_duplicate",
        "https://digest.test/north": "mirror",
        "https://encyclopedia.test/arlow-town": "url_variant",
    }
    assert {question for _, question in removed.values()} == {None}


def test_in_mode_question_pages_are_hidden_from_their_question_alone_and_in_mode_none_from_nobody(
    tmp_path: Path, web: list[Page], a_question: Callable[..., Question]
) -> None:
    questions = [a_question(source_page_ids=(web[0].page_id,))]
    assert {question for _, question in run(tmp_path, web, questions, "question").values()} == {"q1"}
    assert run(tmp_path, web, questions, "none") == {}


def test_pages_that_publish_benchmark_answers_go_in_every_mode(tmp_path: Path, seeds: list[Page], make_page: Callable[..., Page]) -> None:
    quiz = make_page("http://quiz.test/1", "Quiz", "Question 4: In which year was the old harbour of Brask dug out? Answer: 1744.")
    talk = make_page("http://quiz.test/2", "Talk", "Nobody knows in which year the pier of Brask was dug. Perhaps 1744.")
    removed = run(tmp_path, [*seeds, quiz, talk], [], "none", ("In which year was the old harbour of Brask dug out?", "1744"))
    assert removed == {"https://quiz.test/1": ("benchmark", None)}


def test_a_template_with_other_facts_is_no_mirror(tmp_path: Path, seeds: list[Page], a_question: Callable[..., Question]) -> None:
    assert set(run(tmp_path, seeds, [a_question(source_page_ids=(seeds[1].page_id,))], "corpus")) == {seeds[1].url}
