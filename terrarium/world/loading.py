"""Which candidate pages enter the world, and under which addresses. Decided once, before anything is written.

Removed pages stay out, with everything that is the same page under another name or address. Of copies one stays, and answers to
the addresses of all. Reads tables, writes nothing.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from terrarium.corpus.page import page_id_of
from terrarium.corpus.urls import canonical_url
from terrarium.errors import TerrariumError
from terrarium.tables import batches, read_rows, stable_id

Mode = Literal["corpus", "question", "none"]


@dataclass(frozen=True, slots=True)
class Removals:
    """What is hidden: from everybody, or (mode "question") from one question. Ids and canonical addresses of pages."""

    mode: Mode
    everywhere: frozenset[str] = frozenset()
    everywhere_urls: frozenset[str] = frozenset()
    by_question: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """`pages` enter the world (id -> canonical addresses they answer to); `stays` names for each copy the page that stays for it;
    `digest` is equal for equal pages under equal addresses."""

    pages: dict[str, tuple[str, ...]]
    stays: dict[str, str]
    removed: frozenset[str]
    vanished: int
    copies: int
    digest: str


def read_removals(folder: Path) -> Removals:
    """What `removed_sources` says. In mode "none" only what no question caused (published benchmark answers) is removed.

    Raises:
        TerrariumError: the tables are missing or name an unknown mode.
    """
    try:
        mode = json.loads((folder / "removal.json").read_text())["mode"]
    except (OSError, ValueError, KeyError) as error:
        raise TerrariumError(f"The removal list {folder} has no readable removal.json; materialise removed_sources again.") from error
    if mode not in ("corpus", "question", "none"):
        raise TerrariumError(f"The removal list {folder} names the unknown mode {mode!r}; it must be corpus, question or none.")
    ids: set[str] = set()
    urls: set[str] = set()
    by_question: dict[str, set[str]] = defaultdict(set)
    for row in read_rows(folder / "removed.parquet"):
        question = row.get("question_id")
        if question is None or mode == "corpus":
            ids.add(row["page_id"])
            if address := canonical(row["url"]):
                urls.add(address)
        elif mode == "question":
            by_question[question].add(row["page_id"])
    return Removals(mode, frozenset(ids), frozenset(urls), {question: frozenset(pages) for question, pages in by_question.items()})


def canonical(url: str | None) -> str | None:
    """The canonical form of an address, or None where it is no address."""
    try:
        return canonical_url(url) if url else None
    except ValueError:
        return None


def plan(pages: Path, removals: Removals) -> Plan:
    """Decide over the table of candidate pages (streamed; texts are not read)."""
    rows = [
        row
        for batch in batches(pages, columns=["page_id", "url", "aliases", "duplicate_of", "vanished_at", "content_hash"], size=8192)
        for row in batch
    ]
    by_id = {row["page_id"]: row for row in rows}
    clusters: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        clusters[_root(row["page_id"], by_id)].append(row)
    entering: dict[str, list[dict[str, Any]]] = {}
    removed: set[str] = set()
    forbidden: set[str] = set(removals.everywhere_urls)
    vanished = copies = 0
    stays: dict[str, str] = {}
    for root, members in sorted(clusters.items()):
        # A copy of a removed page says what the removed page says: they go together.
        if any(_is_removed(row, removals) for row in members):
            removed.update(row["page_id"] for row in members)
            forbidden.update(address for row in members for address in _addresses(row))
            continue
        living = [row for row in members if row["vanished_at"] is None]
        vanished += len(members) - len(living)
        if not living:
            continue
        first = min(living, key=lambda row: (row["page_id"] != root, row["page_id"]))
        entering[first["page_id"]] = [first, *(row for row in living if row is not first)]
        copies += len(living) - 1
        stays.update((row["page_id"], first["page_id"]) for row in living if row is not first)
    claimed = _claims(entering, forbidden)
    identity = (f"{page_id} {by_id[page_id]['content_hash']} {' '.join(addresses)}" for page_id, addresses in claimed.items())
    return Plan(claimed, stays, frozenset(removed), vanished, copies, stable_id(*identity, length=32))


def _root(page_id: str, by_id: Mapping[str, dict[str, Any]]) -> str:
    """The name of a page's cluster: the last page that `duplicate_of` leads to, in the table or not; the smallest of a ring."""
    seen = {page_id}
    while page_id in by_id and (parent := by_id[page_id]["duplicate_of"]):
        if parent in seen:
            ring = {parent}
            while (parent := by_id[parent]["duplicate_of"]) not in ring:
                ring.add(parent)
            return min(ring)
        seen.add(parent)
        page_id = parent
    return page_id


def _is_removed(row: Mapping[str, Any], removals: Removals) -> bool:
    return row["page_id"] in removals.everywhere or any(
        address in removals.everywhere_urls or page_id_of(address) in removals.everywhere for address in _addresses(row)
    )


def _addresses(row: Mapping[str, Any]) -> list[str]:
    return [address for url in (row["url"], *(row["aliases"] or ())) if (address := canonical(url))]


def _claims(entering: Mapping[str, Sequence[Mapping[str, Any]]], forbidden: set[str]) -> dict[str, tuple[str, ...]]:
    """Addresses go first to the page whose own they are, then to copies' own, then to other names; the smaller page id first."""
    owner: dict[str, str] = {}
    for own in (True, False):
        for copy in (False, True):
            for page_id, members in sorted(entering.items()):
                for row in members[1:] if copy else members[:1]:
                    urls: Iterable[str] = (row["url"],) if own else (row["aliases"] or ())
                    for address in filter(None, map(canonical, urls)):
                        if address not in forbidden:
                            owner.setdefault(address, page_id)
    claimed: dict[str, list[str]] = {page_id: [] for page_id in entering}
    for address, page_id in owner.items():
        claimed[page_id].append(address)
    return {page_id: tuple(sorted(addresses)) for page_id, addresses in sorted(claimed.items())}


def stream(pages: Path, wanted: Mapping[str, object], size: int) -> Iterator[list[dict[str, Any]]]:
    """The wanted rows of the table of candidate pages, with their texts, in chunks of at most `size`."""
    for batch in batches(pages, size=size):
        chosen = [row for row in batch if row["page_id"] in wanted]
        if chosen:
            yield chosen
