"""The sealed world, opened: search and visit over one snapshot, the same bytes for the same call in every process.

Removal is enforced here, for both tools, by page identity. Results are records; text for the policy is render.py's.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from terrarium.errors import Outage, TerrariumError
from terrarium.questions.question import Question
from terrarium.world.closeness import Closeness
from terrarium.world.embed import Embedder, open_embedder
from terrarium.world.evidence import evidence
from terrarium.world.fusion import fuse
from terrarium.world.index import SearchIndex
from terrarium.world.loading import canonical
from terrarium.world.snapshot import PLACES, WORLD, Places, WorldFile, read_hidden, read_json
from terrarium.world.snippet import first_words, snippet, summary
from terrarium.world.store import PageStore, StoredPage
from terrarium.world.tools import Hit, SearchResult, Status, ToolSettings, VisitResult

R = TypeVar("R", SearchResult, VisitResult)
_LONGEST_QUERY = 1000
_log = logging.getLogger(__name__)


class Engines:
    """What several views of one world share: store, index, embedder, cache."""

    def __init__(self, store: PageStore, index: SearchIndex, embedder: Embedder, cached_results: int) -> None:
        self.store = store
        self.index = index
        self.embedder = embedder
        self.closeness = Closeness(embedder)
        self.cache = Cache(cached_results)

    def close(self) -> None:
        """End the engine and let go of the database."""
        self.index.close()
        self.store.close()


class World:
    """A snapshot with a set of hidden pages. Safe to use from several threads; close it, or use it in a `with`."""

    def __init__(
        self,
        engines: Engines,
        identity: WorldFile,
        by_question: Mapping[str, frozenset[str]],
        hidden: frozenset[str] = frozenset(),
        owner: bool = True,
    ) -> None:
        self._engines = engines
        self._identity = identity
        self._by_question = by_question
        self._hidden = hidden
        self._owner = owner

    @property
    def snapshot(self) -> str:
        """The id of the snapshot."""
        return self._identity.snapshot

    @property
    def mode(self) -> str:
        """How sources are removed: corpus, question or none."""
        return self._identity.mode

    @property
    def pages(self) -> int:
        """How many pages the world has."""
        return self._identity.pages

    @property
    def tools(self) -> ToolSettings:
        """Sizes of what the tools give."""
        return self._identity.tools

    @property
    def hidden(self) -> frozenset[str]:
        """Ids of the pages this view hides."""
        return self._hidden

    def for_question(self, question: Question | str) -> World:
        """The same world with that question's sources hidden (mode "question"; in the other modes the same world). Need not be closed."""
        if self.mode != "question":
            return World(self._engines, self._identity, self._by_question, self._hidden, owner=False)
        known = question if isinstance(question, str) else question.question_id
        hidden = self._by_question.get(known, frozenset())
        if isinstance(question, Question):
            hidden = hidden | frozenset(question.source_page_ids)
        return World(self._engines, self._identity, self._by_question, self._hidden | hidden, owner=False)

    def hiding(self, page_ids: Sequence[str]) -> World:
        """The same world with further pages hidden. Need not be closed."""
        return World(self._engines, self._identity, self._by_question, self._hidden | frozenset(page_ids), owner=False)

    def search(self, queries: Sequence[str], k: int | None = None) -> list[SearchResult]:
        """The best `k` pages for each query (default: the snapshot's), each query apart.

        Raises:
            ValueError: k is not between 1 and 50.
        """
        wanted = self.tools.k if k is None else k
        if not 1 <= wanted <= 50:
            raise ValueError(f"k must be between 1 and 50, not {wanted}")
        return [self._cached(("search", query, wanted), lambda query=query: self._search(query, wanted)) for query in queries]  # type: ignore[misc]

    def visit(self, urls: Sequence[str], goal: str) -> list[VisitResult]:
        """What each page says about the goal."""
        return [self._cached(("visit", url, goal), lambda url=url: self._visit(url, goal)) for url in urls]  # type: ignore[misc]

    def page_at(self, url: str) -> StoredPage | None:
        """The whole page at an address, or None where this view has none.

        Raises:
            Outage: the store did not answer.
        """
        page_id = self._page_id(url)
        return self._engines.store.pages([page_id]).get(page_id) if page_id else None

    def page(self, page_id: str) -> StoredPage | None:
        """The whole page with an id, or None where this view has none."""
        return None if page_id in self._hidden else self._engines.store.pages([page_id]).get(page_id)

    def close(self) -> None:
        """Let go of engine and store. Views made by `for_question` close nothing."""
        if self._owner:
            self._engines.close()

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _cached(self, call: tuple[Hashable, ...], work: Callable[[], R]) -> R:
        return self._engines.cache.get((self._hidden, *call), work)

    def _search(self, query: str, k: int) -> SearchResult:
        asked = " ".join(_readable(query).split())[:_LONGEST_QUERY]
        if not asked:
            return SearchResult(query, Status.NOTHING_FOUND, error="the query is empty")
        try:
            engines, settings = self._engines, self._identity.index_settings
            reads = engines.embedder.reads(asked)
            vectors = engines.embedder.embed([asked]) if reads or engines.embedder.lexical else None
            dense = vectors.dense[0] if vectors is not None and reads else None
            lexical = vectors.lexical[0] if vectors is not None and vectors.lexical is not None else None
            legs = engines.index.legs(asked, dense, lexical, max(settings.candidates, k) + len(self._hidden))
            weights = [settings.dense_weight if dense is not None and place == 0 else 1.0 for place in range(len(legs))]
            best = fuse(legs, settings.rrf_k, self._hidden, weights)[:k]
            held = engines.store.pages([page_id for page_id, _ in best])
            missing = [page_id for page_id, _ in best if page_id not in held]
            if missing:
                raise TerrariumError(f"The index names page {missing[0]}, which the store does not hold; build both again.")
            hits = tuple(self._hit(held[page_id], asked, score) for page_id, score in best)
        except (TerrariumError, OSError, RuntimeError) as error:
            return SearchResult(query, Status.FAILED, error=_said(error))
        return SearchResult(query, Status.FOUND if hits else Status.NOTHING_FOUND, hits)

    def _hit(self, page: StoredPage, query: str, score: float) -> Hit:
        words = snippet(page.title, page.markdown, query, self.tools.snippet_words, self.tools.lead_words)
        return Hit(page.page_id, page.url, page.title, words, score)

    def _visit(self, url: str, goal: str) -> VisitResult:
        try:
            page = self.page_at(url)
            if page is None:
                return VisitResult(url, Status.UNKNOWN_PAGE)
            sizes = self.tools
            near = self._engines.closeness
            said = evidence(page.title, page.markdown, _readable(goal), sizes.evidence_tokens, sizes.passage_tokens, near)
            gist = first_words(said.gist, sizes.summary_words) or summary(page.markdown, page.title, page.summary, sizes.summary_words)
        except (TerrariumError, OSError, RuntimeError) as error:
            return VisitResult(url, Status.FAILED, error=_said(error))
        return VisitResult(url, Status.FOUND, page.page_id, page.title, said.text, gist)

    def _page_id(self, url: str) -> str | None:
        address = _readable(url).strip().strip("<>\"'`").strip()
        known = canonical(address) or canonical(f"https://{address}")
        page_id = self._engines.store.find(known) if known else None
        return None if page_id in self._hidden else page_id


class Cache:
    """Results kept in memory, the least recently used forgotten first. Failures are not kept."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[Hashable, SearchResult | VisitResult] = OrderedDict()
        self._lock = threading.Lock()
        self.hits = 0
        self.misses = 0

    def get(self, key: Hashable, work: Callable[[], R]) -> R:
        """The result kept under a key, or the one that `work` gives."""
        with self._lock:
            if key in self._kept:
                self.hits += 1
                self._kept.move_to_end(key)
                return self._kept[key]  # type: ignore[return-value]
            self.misses += 1
        result = work()
        if result.status is not Status.FAILED and self._size:
            with self._lock:
                self._kept[key] = result
                if len(self._kept) > self._size:
                    self._kept.popitem(last=False)
        return result


def _readable(text: str) -> str:
    """Without what no database or tokenizer takes: NUL and lone surrogates, which models do write."""
    return text.encode("utf-8", "ignore").decode().replace("\x00", " ")


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def open_world(path: Path, say: Callable[[str], None] = _log.warning) -> World:
    """Open the world of a `world` artifact's folder. Waits while another process has its index open; `say` hears of that
    (by default the log).

    Raises:
        TerrariumError: a part is missing or is not the one that was sealed.
        Outage: the engine did not start.
    """
    identity: WorldFile = read_json(path / WORLD, WorldFile, "world")
    places: Places = read_json(path / PLACES, Places, "list of places")
    store_folder, index_folder = places.found(path)
    hidden = read_hidden(path)
    embedder = open_embedder(identity.embedder)
    if embedder.fingerprint != identity.embedder_fingerprint:
        raise TerrariumError(
            f"The embedder's weights are not those that the world {path} was built with "
            f"({embedder.fingerprint} instead of {identity.embedder_fingerprint}); materialise search_index and world again."
        )
    store = PageStore.open(store_folder, identity.build, identity.store_url)
    try:
        index = SearchIndex.open(index_folder, identity.index_settings, identity.build, identity.lexical, say)
    except (TerrariumError, Outage):
        store.close()
        raise
    return World(Engines(store, index, embedder, identity.tools.cached_results), identity, hidden)
