"""Removal: what must not be in the world, so that a question cannot be answered by copying the page it was made from.

Removed are the source pages of screened questions, pages known under the same addresses, copies and mirrors of them, and pages
that publish benchmark questions with their answers.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
from pydantic import Field

from terrarium.corpus.dedup import different_facts, near_duplicates
from terrarium.corpus.page import Page, read_pages
from terrarium.corpus.urls import canonical_url
from terrarium.job import Job, Outcome, Report, track
from terrarium.questions.question import Question, read_questions
from terrarium.questions.values import fold, has_cjk, kind_of, places, plain
from terrarium.tables import read_rows, write_rows

REMOVED_SCHEMA = pa.schema(
    [("page_id", pa.string()), ("url", pa.string()), ("why", pa.string()), ("because_of", pa.string()), ("question_id", pa.string())]
)

Mode = Literal["corpus", "question", "none"]
_RUN = 6
"""Words of one shingle: runs this long are seldom shared by chance."""
_TRIGRAM = 3


@dataclass(frozen=True, slots=True)
class Removed:
    """One page that is hidden: from everybody where `question_id` is None, else from that question alone.

    `why` is source, url_variant, near_duplicate, mirror or benchmark; `because_of` the question, page or benchmark question that caused it.
    """

    page_id: str
    url: str
    why: str
    because_of: str
    question_id: str | None = None


class RemovalJob(Job):
    """Reads `pages`/pages.parquet, each of `questions` (folders), `benchmarks`/benchmarks.parquet; writes removed.parquet, removal.json."""

    pages: Path
    questions: list[Path]
    benchmarks: Path
    mode: Mode = "corpus"
    mirrored: float = Field(default=0.8, gt=0, le=1, description="a page that holds this share of a source's runs of words is a mirror of it")
    published: float = Field(
        default=0.8, gt=0, le=1, description="a page that holds this share of a benchmark question's words, and its answer, publishes it"
    )


def remove(job: RemovalJob, report: Report) -> Outcome:
    """Name the pages to hide. In mode none only those that publish benchmark answers; in mode question, each question's own.

    Raises:
        TerrariumError: an input is missing or damaged.
    """
    pages = read_pages(job.pages / "pages.parquet")
    questions = [question for folder in job.questions for question in read_questions(folder / "questions.parquet")]
    benchmarks = [(row["question_id"], row["question"], tuple(row["answers"] or ())) for row in read_rows(job.benchmarks / "benchmarks.parquet")]
    rows: dict[tuple[str, str | None], Removed] = {}
    if job.mode != "none":
        copies = _copies(pages, questions, job.mirrored, report)
        for row in _sources(pages, questions, copies, job.mode):
            rows.setdefault((row.page_id, row.question_id), row)
    for row in _publishers(pages, benchmarks, job.published, report):
        rows.setdefault((row.page_id, None), row)
    found = sorted(rows.values(), key=lambda row: (row.page_id, row.question_id or ""))
    write_rows(job.out / "removed.parquet", (asdict(row) for row in found), REMOVED_SCHEMA)
    (job.out / "removal.json").write_text(json.dumps({"mode": job.mode}) + "\n", encoding="utf-8")
    hidden = {row.page_id for row in found}
    counts: dict[str, float] = {"rows": len(found), "removed_pages": len(hidden), "pages": len(pages), "questions": len(questions)}
    return Outcome(
        counts=counts | {f"pages_{why}": count for why, count in sorted(Counter(row.why for row in found).items())}, notes={"mode": job.mode}
    )


def _sources(pages: Sequence[Page], questions: Sequence[Question], copies: dict[str, dict[str, str]], mode: Mode) -> Iterator[Removed]:
    by_id = {page.page_id: page for page in pages}
    for question in questions:
        owner = question.question_id if mode == "question" else None
        for source in question.source_page_ids:
            page = by_id.get(source)
            yield Removed(source, page.url if page else "", "source", question.question_id, owner)
            for copy, why in copies.get(source, {}).items():
                yield Removed(copy, by_id[copy].url, why, source, owner)


def _copies(pages: Sequence[Page], questions: Sequence[Question], mirrored: float, report: Report) -> dict[str, dict[str, str]]:
    """For each source page, the pages that are other spellings, copies or mirrors of it, and which of these."""
    sources = {page_id for question in questions for page_id in question.source_page_ids}
    living = [page for page in pages if page.vanished_at is None]
    copies: dict[str, dict[str, str]] = defaultdict(dict)
    for source, other, why in (*_variants(living, sources), *_clusters(living, sources), *_mirrors(living, sources, mirrored, report)):
        if source != other:
            copies[source].setdefault(other, why)
    return copies


def _variants(pages: Sequence[Page], sources: set[str]) -> Iterator[tuple[str, str, str]]:
    holders: dict[str, set[str]] = defaultdict(set)
    for page in pages:
        for address in {page.url, *page.aliases}:
            holders[_canonical(address)].add(page.page_id)
    for holding in holders.values():
        for source in sorted(holding & sources):
            yield from ((source, other, "url_variant") for other in sorted(holding))


def _canonical(url: str) -> str:
    try:
        return canonical_url(url)
    except ValueError:
        return url


def _clusters(pages: Sequence[Page], sources: set[str]) -> Iterator[tuple[str, str, str]]:
    """Near-duplicates: those that the candidates' own clusters name, and those found among sources and all other pages."""
    order = sorted(pages, key=lambda page: (page.duplicate_of is not None, page.page_id not in sources, page.page_id))
    stays = near_duplicates([page.markdown for page in order])
    root = {page.page_id: page.duplicate_of or page.page_id for page in pages}
    members: dict[str, set[str]] = defaultdict(set)
    for place, page in enumerate(order):
        members[f"text {order[stays[place]].page_id}"].add(page.page_id)
        members[f"cluster {root[page.page_id]}"].add(page.page_id)
    for together in members.values():
        for source in sorted(together & sources):
            yield from ((source, other, "near_duplicate") for other in sorted(together))


def _words(text: str) -> list[str]:
    return re.findall(r"[\u3400-\u9fff]|\d+(?:[.,]\d+)*|[^\W\d_]+", plain(text).casefold())


def _runs(words: Sequence[str], length: int) -> set[str]:
    return {" ".join(words[place : place + length]) for place in range(len(words) - length + 1)}


def _mirrors(pages: Sequence[Page], sources: set[str], mirrored: float, report: Report) -> Iterator[tuple[str, str, str]]:
    """Pages that hold nearly all of a source, however much more they hold. Templates with other facts in them are no mirrors."""
    holders: dict[str, list[str]] = defaultdict(list)
    sizes: dict[str, int] = {}
    by_id = {page.page_id: page for page in pages}
    for page in pages:
        if page.page_id in sources:
            runs = _runs(_words(page.markdown), _RUN)
            sizes[page.page_id] = len(runs)
            for run in runs:
                holders[run].append(page.page_id)
    for page in track(pages, report, "pages compared with sources", len(pages)):
        shared: Counter[str] = Counter()
        for run in _runs(_words(page.markdown), _RUN):
            shared.update(holders.get(run, ()))
        for source, count in sorted(shared.items()):
            share = count / sizes[source]
            if (
                source != page.page_id
                and count >= 12
                and share >= mirrored
                and (share >= 0.95 or not different_facts(by_id[source].markdown, page.markdown))
            ):
                yield source, page.page_id, "mirror"


def _publishers(pages: Sequence[Page], benchmarks: Iterable[tuple[str, str, Sequence[str]]], published: float, report: Report) -> Iterator[Removed]:
    """Pages on which a benchmark's question stands nearly word for word, and its answer outside of it."""
    wanted: dict[str, list[int]] = defaultdict(list)
    rows = list(benchmarks)
    sizes: list[int] = []
    for place, (_, question, _) in enumerate(rows):
        runs = _runs(_words(question), _TRIGRAM)
        sizes.append(len(runs))
        for run in runs:
            wanted[run].append(place)
    if not rows:
        return
    for page in track(pages, report, "pages searched for benchmark questions", len(pages)):
        words = _words(page.markdown)
        shared: Counter[int] = Counter()
        for run in _runs(words, _TRIGRAM):
            shared.update(wanted.get(run, ()))
        for place, count in sorted(shared.items()):
            question_id, question, answers = rows[place]
            if count < published * sizes[place]:
                continue
            text = plain(page.markdown)
            if any(_answered(answer, text, question) for answer in answers):
                yield Removed(page.page_id, page.url, "benchmark", question_id)
                break


def _answered(answer: str, text: str, question: str) -> bool:
    kind = kind_of(answer)
    found = len(places(answer if kind in ("number", "date") else fold(answer), text, kind))
    return found > len(places(answer if kind in ("number", "date") else fold(answer), plain(question), kind)) and (
        len(answer) > 1 or has_cjk(answer) or kind == "number"
    )
