"""The leak probe: asks both tools for every removed page, in every spelling of its addresses, by its title and by its evidence.

It goes through the tools as a policy would, and knows nothing of how removal is done; with removal switched off it finds every page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from terrarium.errors import Outage
from terrarium.job import Report, track
from terrarium.journal import Journal
from terrarium.questions.question import Question
from terrarium.tables import stable_id
from terrarium.world.loading import canonical
from terrarium.world.spellings import all_spellings
from terrarium.world.tools import Status
from terrarium.world.world import World

PROBE_SCHEMA = pa.schema(
    [
        ("page_id", pa.string()),
        ("url", pa.string()),
        ("question_id", pa.string()),
        ("tool", pa.string()),
        ("asked", pa.int64()),
        ("leaks", pa.int64()),
        ("example", pa.string()),
    ]
)
_HITS = 10
_LONGEST = 300
# A shorter piece may stand in two pages by chance.
_TELLING_WORDS = 8


@dataclass(frozen=True, slots=True)
class Target:
    """One page that must not be reached: its addresses, its title, and the sentences that questions rest on."""

    page_id: str
    url: str
    title: str
    addresses: tuple[str, ...]
    sentences: tuple[str, ...] = ()
    question_id: str | None = None


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """What one tool gave away of one page: `asked` calls, of which `leaks` reached it, the first of them in `example`."""

    page_id: str
    url: str
    question_id: str | None
    tool: str
    asked: int
    leaks: int
    example: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """All rows, and the ids of pages that repeat an evidence sentence word for word (copies that nobody recognised as such)."""

    rows: tuple[ProbeRow, ...]
    repeats: frozenset[str]

    @property
    def leaks(self) -> int:
        """How many (page, tool) leak."""
        return sum(row.leaks > 0 for row in self.rows)


def evidence_sentences(questions: Iterable[Question], stays: Mapping[str, str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """page id -> question id -> what the question was read from; a copy counts as the page that stays for it (`stays`)."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for question in questions:
        for span in question.evidence:
            if text := " ".join(span.text.split())[:_LONGEST]:
                by_question = found.setdefault(stays.get(span.page_id, span.page_id), {})
                by_question[question.question_id] = tuple(dict.fromkeys((*by_question.get(question.question_id, ()), text)))
    return found


def probe(world: World, targets: Sequence[Target], report: Report, journal: Journal | None = None) -> Probe:
    """Ask both tools for every target; a target with a question is asked for in that question's view of the world.

    Targets that the journal knows are not asked for again.

    Raises:
        Outage: a tool failed, so that nothing can be said.
    """
    rows: list[ProbeRow] = []
    repeats: set[str] = set()
    for target in track(targets, report, "removed pages probed"):
        name = stable_id(world.snapshot, target.page_id, target.question_id or "")
        kept = journal.take(name) if journal is not None else None
        if kept is not None:
            rows += [ProbeRow(**row) for row in kept["rows"]]
            repeats |= set(kept["repeats"])
            continue
        view = world.for_question(target.question_id) if target.question_id else world
        searched, again = _searched(view, target)
        found = [_visited(view, target), searched]
        if journal is not None:
            journal.add(name, {"rows": [asdict(row) for row in found], "repeats": sorted(again)})
        rows += found
        repeats |= again
    return Probe(tuple(rows), frozenset(repeats))


def _visited(view: World, target: Target) -> ProbeRow:
    asked = all_spellings(target.addresses)
    results = view.visit(asked, target.title)
    for result in results:
        if result.status is Status.FAILED:
            raise Outage(f"The probe could not visit {result.url} ({result.error}); seal the world again.")
    reached = [result.url for result in results if result.status is Status.FOUND]
    return ProbeRow(target.page_id, target.url, target.question_id, "visit", len(asked), len(reached), reached[0] if reached else "")


def _searched(view: World, target: Target) -> tuple[ProbeRow, set[str]]:
    queries = [query for query in dict.fromkeys((target.title, *target.sentences)) if query.strip()]
    forbidden = set(target.addresses)
    reached: list[str] = []
    repeats: set[str] = set()
    for result in view.search(queries, _HITS):
        if result.status is Status.FAILED:
            raise Outage(f"The probe could not search for {result.query[:80]!r} ({result.error}); seal the world again.")
        if any(hit.page_id == target.page_id or canonical(hit.url) in forbidden for hit in result.hits):
            reached.append(result.query)
        if len(result.query.split()) >= _TELLING_WORDS and result.query != target.title:
            told = _squeezed(result.query)
            pages = (view.page(hit.page_id) for hit in result.hits if hit.page_id != target.page_id)
            repeats.update(page.page_id for page in pages if page is not None and told in _squeezed(page.markdown))
    return ProbeRow(target.page_id, target.url, target.question_id, "search", len(queries), len(reached), reached[0] if reached else ""), repeats


def _squeezed(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()


def addresses_of(row: Mapping[str, Any], more: Iterable[str] = ()) -> tuple[str, ...]:
    """The canonical addresses of a row of the candidate table, and `more` of them."""
    known = (canonical(name) for name in (row["url"], *(row["aliases"] or ())))
    return tuple(dict.fromkeys([*(address for address in known if address), *more]))
