"""What the two tools take and give: settings and result records. No text for the policy (render.py), no searching (world.py)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

# Part of the snapshot's identity: a change of what these produce is a change of their name.
SNIPPET_RULE = "best-window-of-lead-1"
RANKER = "passage-bm25-dense-1"
SUMMARISER = "best-sentence-1"


class ToolSettings(BaseModel):
    """Sizes of what the tools give. Tokens are estimated (`words.estimate_tokens`), so that no tokenizer decides a result."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    k: int = Field(default=3, ge=1, le=50, description="hits a query")
    snippet_words: int = Field(default=30, ge=5, le=100)
    lead_words: int = Field(default=100, ge=20, le=400, description="how far into a page a snippet looks")
    evidence_tokens: int = Field(default=140, ge=20, le=20_000, description="budget of one visit's evidence")
    passage_tokens: int = Field(
        default=48, ge=10, le=2_000, description="longer paragraphs are cut between sentences, longer tables and lists between rows"
    )
    summary_words: int = Field(default=25, ge=5, le=400)
    cached_results: int = Field(default=50_000, ge=0, description="results kept in memory")


class Status(StrEnum):
    """How a call went. A removed page looks like an unknown one; a failure is never an empty result."""

    FOUND = "found"
    NOTHING_FOUND = "nothing_found"
    UNKNOWN_PAGE = "unknown_page"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Hit:
    """One page found. `score` is the fused reciprocal rank: comparable within one result only."""

    page_id: str
    url: str
    title: str
    snippet: str
    score: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What one query gave. `error` says what failed, or what was wrong with the query."""

    query: str
    status: Status
    hits: tuple[Hit, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class VisitResult:
    """What one page says about a goal. `url` is as it was asked for; `evidence` are passages, best first;
    `summary` is the sentence that serves the goal best, or says what the page is where none serves it."""

    url: str
    status: Status
    page_id: str | None = None
    title: str = ""
    evidence: str = ""
    summary: str = ""
    error: str | None = None
