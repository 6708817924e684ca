"""Search hits, and the difference between nothing found and no answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from terrarium.corpus.websearch import HIT_SCHEMA, HitsJob, SearchSettings, SerperClient, gather_hits, parse_hits
from terrarium.errors import Outage, TerrariumError
from terrarium.job import SilentReport
from terrarium.questions.question import Question, write_questions
from terrarium.tables import read_rows

Answer = Callable[[str, int], tuple[int, Any]]


class _Endpoint:
    """A search endpoint whose answer to (query, how often it was asked before) is a function."""

    def __init__(self, answer: Answer) -> None:
        self.asked: list[str] = []
        self.keys: list[str | None] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                return None

            def do_POST(self) -> None:  # noqa: N802 - the name is given
                query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["q"]
                before = endpoint.asked.count(query)
                endpoint.asked.append(query)
                endpoint.keys.append(self.headers.get("X-API-KEY"))
                status, reply = answer(query, before)
                body = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.settings = SearchSettings(endpoint=f"http://127.0.0.1:{self.server.server_address[1]}/search", key_env=None, retries=1)


@pytest.fixture
def endpoint() -> Iterator[Callable[[Answer], _Endpoint]]:
    made: list[_Endpoint] = []

    def make(answer: Answer) -> _Endpoint:
        made.append(_Endpoint(answer))
        return made[-1]

    yield make
    for one in made:
        one.server.shutdown()
        one.server.server_close()


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("terrarium.corpus.websearch.SerperClient.__init__.__defaults__", (None, lambda seconds: None))


def _questions(folder: Path, *texts: str) -> Path:
    folder.mkdir(exist_ok=True)
    write_questions(
        folder / "questions.parquet", [Question(f"q{number}", text, ("x",), "single", "direct", 1, (), ()) for number, text in enumerate(texts)]
    )
    return folder


def _reply(*links: str) -> dict[str, Any]:
    return {"organic": [{"link": link, "title": "T", "snippet": "S", "position": number} for number, link in enumerate(links, start=1)]}


def test_hits_nothing_and_failed_are_told_apart(endpoint: Callable[[Answer], _Endpoint], tmp_path: Path) -> None:
    def answer(query: str, before: int) -> tuple[int, Any]:
        if query == "flaky" and before == 0:
            return 503, {}
        if query == "down":
            return 500, {}
        return 200, _reply() if query == "obscure" else _reply("http://a.example/1", "http://www.a.example/1?utm_source=x", "http://b.example/2")

    service = endpoint(answer)
    job = HitsJob(out=tmp_path, questions=_questions(tmp_path / "q", "plain", "flaky", "obscure", "down"), search=service.settings)
    outcome = gather_hits(job, SilentReport())
    rows = read_rows(tmp_path / "hits.parquet", HIT_SCHEMA)
    assert [(row["question_id"], row["rank"], row["url"], row["status"]) for row in rows] == [
        ("q0", 1, "http://a.example/1", "hit"),
        ("q0", 2, "http://b.example/2", "hit"),
        ("q1", 1, "http://a.example/1", "hit"),
        ("q1", 2, "http://b.example/2", "hit"),
        ("q2", None, None, "nothing"),
        ("q3", None, None, "failed"),
    ]
    assert outcome.counts["failed"] == 1 and not outcome.gates[0].passed and outcome.gates[0].severity == "warn"
    assert outcome.costs["searches"] == 6


def test_what_was_answered_is_not_asked_again(endpoint: Callable[[Answer], _Endpoint], tmp_path: Path) -> None:
    broken = True
    service = endpoint(lambda query, before: (500, {}) if broken and query == "two" else (200, _reply("http://a.example/1")))
    job = HitsJob(out=tmp_path, questions=_questions(tmp_path / "q", "one", "two"), search=service.settings)
    assert gather_hits(job, SilentReport()).counts["failed"] == 1
    broken = False
    (tmp_path / "journal.jsonl").open("a").write('{"question_id": "q1", "hi')
    service.asked.clear()
    assert gather_hits(job, SilentReport()).counts["failed"] == 0
    assert service.asked == ["two"]


def test_an_outage_stops_the_asking_and_is_no_empty_result(endpoint: Callable[[Answer], _Endpoint], tmp_path: Path) -> None:
    service = endpoint(lambda query, before: (200, {"message": "Not enough credits", "statusCode": 400}))
    job = HitsJob(out=tmp_path, questions=_questions(tmp_path / "q", *(f"text {number}" for number in range(40))), search=service.settings)
    outcome = gather_hits(job, SilentReport())
    assert outcome.counts["failed"] == 40 and outcome.counts["nothing"] == 0
    assert len(service.asked) <= 20
    assert "Not enough credits" in outcome.gates[0].detail


def test_no_search_is_not_asked(tmp_path: Path) -> None:
    job = HitsJob(out=tmp_path, questions=_questions(tmp_path / "q", "one", "two"))
    gather_hits(job, SilentReport())
    assert [row["status"] for row in read_rows(tmp_path / "hits.parquet", HIT_SCHEMA)] == ["not_asked", "not_asked"]


def test_the_key_comes_from_the_environment_alone(endpoint: Callable[[Answer], _Endpoint], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = endpoint(lambda query, before: (403, {}) if query == "bad" else (200, _reply("http://a.example/1")))
    settings = service.settings.model_copy(update={"key_env": "TEST_SEARCH_KEY"})
    monkeypatch.delenv("TEST_SEARCH_KEY", raising=False)
    with pytest.raises(TerrariumError, match="TEST_SEARCH_KEY"):
        SerperClient(settings)
    monkeypatch.setenv("TEST_SEARCH_KEY", "planted-secret")
    gather_hits(HitsJob(out=tmp_path, questions=_questions(tmp_path / "q", "one"), search=settings), SilentReport())
    assert service.keys == ["planted-secret"]
    assert not any(b"planted-secret" in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    with pytest.raises(TerrariumError, match="refused the key") as raised:
        SerperClient(settings).search("bad")
    assert "planted-secret" not in str(raised.value)


def test_answer_boxes_are_rank_zero() -> None:
    hits = parse_hits({"answerBox": {"answer": "1650", "link": "http://a.example/"}, **_reply("http://b.example/", "mailto:x")})
    assert [(hit.rank, hit.snippet) for hit in hits] == [(0, "1650"), (1, "S")]
    for reply in ([], {"message": "quota"}, {"organic": None}):
        with pytest.raises(Outage):
            parse_hits(reply)
