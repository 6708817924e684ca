"""What the web search gave for each question, kept once: the screen reads the snippets, the crawl reads the addresses.

A question has hits, nothing, was not asked, or the search failed; an outage is never an empty result.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from terrarium.corpus.urls import canonical_url
from terrarium.corpus.web import WebSettings
from terrarium.errors import Outage, TerrariumError
from terrarium.job import Gate, Job, Outcome, Report
from terrarium.questions.question import read_questions
from terrarium.tables import write_rows

HIT_SCHEMA = pa.schema(
    [
        ("question_id", pa.string()),
        ("rank", pa.int64()),
        ("url", pa.string()),
        ("title", pa.string()),
        ("snippet", pa.string()),
        ("status", pa.string()),
    ]
)
# This many questions in a row without an answer, each with its retries: the service is down, the rest is not asked.
_DOWN_AFTER = 4


class SearchSettings(BaseModel):
    """A search endpoint that speaks Serper's JSON. The key is read from the environment variable `key_env`, and stands nowhere else."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoint: str = Field(default="https://google.serper.dev/search", pattern=r"^https?://")
    key_env: str | None = "SERPER_API_KEY"
    results: int = Field(default=10, ge=1, le=100, description="results a question; about 100 at scale")
    timeout_seconds: float = Field(default=20.0, gt=0)
    retries: int = Field(default=3, ge=0, le=10)
    concurrency: int = Field(default=4, ge=1, le=64)


@dataclass(frozen=True, slots=True)
class WebHit:
    """One result. Rank 0 is what the engine answers by itself (answer box, knowledge graph)."""

    rank: int
    url: str
    title: str
    snippet: str


class SerperClient:
    """Asks a Serper-compatible endpoint; retries what may pass, and says which failure is whose."""

    def __init__(self, settings: SearchSettings, proxy: str | None = None, sleep: Callable[[float], None] = time.sleep) -> None:
        """Raises TerrariumError when the environment variable of the key is not set."""
        self._settings, self._sleep = settings, sleep
        headers = {"Content-Type": "application/json"}
        self._key = ""
        if settings.key_env:
            key = os.environ.get(settings.key_env, "").strip()
            if not key:
                raise TerrariumError(
                    f"The web search needs a key: set the environment variable {settings.key_env}, or take the search section out of the profile."
                )
            headers["X-API-KEY"] = self._key = key
        self._client = httpx.Client(proxy=proxy, timeout=settings.timeout_seconds, headers=headers)
        self.asked = 0

    def close(self) -> None:
        self._client.close()

    def search(self, query: str) -> list[WebHit]:
        """The hits for one query, best first; empty when the engine found nothing.

        Raises:
            Outage: no usable answer after all retries.
            TerrariumError: the key was refused.
        """
        problem = ""
        for attempt in range(self._settings.retries + 1):
            if attempt:
                self._sleep(min(30.0, 0.5 * 2**attempt))
            self.asked += 1
            try:
                response = self._client.post(self._settings.endpoint, json={"q": query, "num": self._settings.results})
            except httpx.HTTPError as error:
                problem = type(error).__name__
                continue
            if response.status_code in (401, 403):
                raise TerrariumError(
                    f"The search endpoint {self._settings.endpoint} refused the key in {self._settings.key_env} (status {response.status_code})."
                )
            if response.status_code == 429 or response.status_code >= 500:
                problem = f"status {response.status_code}"
                wait = response.headers.get("Retry-After", "")
                if wait.isdigit() and attempt < self._settings.retries:
                    self._sleep(min(60.0, float(wait)))
                continue
            if response.status_code != 200:
                raise Outage(f"The search endpoint {self._settings.endpoint} answered status {response.status_code}.")
            try:
                return parse_hits(response.json(), self._settings.results)
            except (ValueError, Outage) as error:
                # Some endpoints repeat the key in what they complain about.
                problem = (str(error).replace(self._key, "***") if self._key else str(error))[:200]
        raise Outage(f"The search endpoint {self._settings.endpoint} gave no answer in {self._settings.retries + 1} tries ({problem}).")


def parse_hits(reply: Any, most: int = 100) -> list[WebHit]:
    """Hits of a Serper reply.

    Raises:
        Outage: the reply is an error in the dress of an answer (a quota notice with status 200), or no search result at all.
    """
    if not isinstance(reply, dict):
        raise Outage("The search reply is no JSON object.")
    organic = reply.get("organic")
    if not isinstance(organic, list):
        raise Outage(f"The search reply has no results: {reply.get('message') or reply.get('error') or sorted(reply)}")
    hits: list[WebHit] = []
    for name in ("answerBox", "knowledgeGraph"):
        box = reply.get(name)
        if isinstance(box, dict):
            text = " ".join(str(box[key]) for key in ("answer", "snippet", "description") if box.get(key))
            address = str(box.get("link") or box.get("descriptionLink") or "")
            if text:
                hits.append(WebHit(0, address, str(box.get("title") or ""), text))
    seen: set[str] = set()
    for row in organic:
        if not isinstance(row, dict) or not row.get("link"):
            continue
        try:
            name = canonical_url(str(row["link"]))
        except ValueError:
            continue
        if name not in seen and len(seen) < most:
            seen.add(name)
            hits.append(WebHit(len(seen), str(row["link"]), str(row.get("title") or ""), str(row.get("snippet") or "")))
    return hits


class HitsJob(Job):
    """Ask the web search each extracted question. `search` None: every row says not_asked."""

    questions: Path
    web: WebSettings | None = None
    search: SearchSettings | None = None


def gather_hits(job: HitsJob, report: Report) -> Outcome:
    """Write hits.parquet: one row a hit; one row without URL for a question with no hits, that failed or was not asked."""
    questions = read_questions(job.questions / "questions.parquet")
    if job.search is None:
        rows = [_row(question.question_id, "not_asked") for question in questions]
        write_rows(job.out / "hits.parquet", rows, HIT_SCHEMA)
        return Outcome(counts={"questions": len(questions), "hits": 0, "not_asked": len(rows)}, notes={"search": "not_asked"})
    journal = job.out / "journal.jsonl"
    known = _read_journal(journal)
    client = SerperClient(job.search, job.web.proxy if job.web else None)
    todo = [question for question in questions if question.question_id not in known]
    lock = threading.Lock()
    down = threading.Event()
    in_a_row = done = 0
    problems: list[str] = []
    with journal.open("a", encoding="utf-8") as file:

        def ask(question_id: str, text: str) -> None:
            nonlocal in_a_row, done
            if down.is_set():
                return
            try:
                hits = client.search(text)
            except Outage as error:
                with lock:
                    in_a_row += 1
                    problems.append(str(error))
                    if in_a_row >= _DOWN_AFTER:
                        down.set()
                return
            with lock:
                in_a_row, done = 0, done + 1
                known[question_id] = hits
                file.write(json.dumps({"question_id": question_id, "hits": [[hit.rank, hit.url, hit.title, hit.snippet] for hit in hits]}) + "\n")
                file.flush()
                report.progress(len(known), len(questions), "questions searched")

        try:
            with ThreadPoolExecutor(job.search.concurrency) as pool:
                for finished in [pool.submit(ask, question.question_id, question.question) for question in todo]:
                    finished.result()
        finally:
            client.close()
    rows = []
    counts = {"questions": len(questions), "hits": 0, "nothing": 0, "failed": 0}
    for question in questions:
        found = known.get(question.question_id)
        if found:
            rows += [
                {"question_id": question.question_id, "rank": hit.rank, "url": hit.url, "title": hit.title, "snippet": hit.snippet, "status": "hit"}
                for hit in found
            ]
            counts["hits"] += len(found)
        else:
            rows.append(_row(question.question_id, "nothing" if found is not None else "failed"))
            counts["nothing" if found is not None else "failed"] += 1
    write_rows(job.out / "hits.parquet", rows, HIT_SCHEMA)
    detail = f"{counts['failed']} of {len(questions)} questions got no answer: {problems[-1]}" if problems else ""
    gate = Gate(name="search_answered", passed=counts["failed"] == 0, severity="warn", detail=detail, figures={"failed": counts["failed"]})
    return Outcome(counts=dict(counts), gates=[gate], costs={"searches": client.asked}, notes={"search": job.search.endpoint})


def _row(question_id: str, status: str) -> dict[str, Any]:
    return {"question_id": question_id, "rank": None, "url": None, "title": None, "snippet": None, "status": status}


def _read_journal(journal: Path) -> dict[str, list[WebHit]]:
    known: dict[str, list[WebHit]] = {}
    if journal.exists():
        data = journal.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            journal.write_bytes(whole)
        for line in whole.decode("utf-8").splitlines():
            row = json.loads(line)
            known[row["question_id"]] = [WebHit(*hit) for hit in row["hits"]]
    return known
