"""Where does this come from: a small state, made by hand, and one answer for each kind of thing in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from terrarium.__main__ import main
from terrarium.agent.rollout import Rollout, RolloutTurn, Termination, write_rollouts
from terrarium.corpus.page import Page
from terrarium.corpus.page_file import write_page_file
from terrarium.errors import TerrariumError
from terrarium.job import Gate
from terrarium.provenance import explain
from terrarium.provenance.content import data_version_of
from terrarium.provenance.manifest import Making, Manifest, Parent, versions
from terrarium.questions.question import Question, Span, write_questions
from terrarium.tables import Drop, write_drops, write_rows

SOURCE, OTHER = "https://one.example/a", "https://two.example/b"


class Maker:
    """Writes artifacts as the store does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(self, asset: str, fill: Any, parents: list[Manifest] = [], partition: str | None = None, **more: Any) -> Manifest:  # noqa: B006
        name = asset.replace("/", "-")
        path = self.folder / "artifacts" / asset / name
        path.mkdir(parents=True)
        fill(path)
        said = [Parent(asset=one.asset, data_version=one.data_version, path=f"artifacts/{one.asset}/{one.fingerprint}") for one in parents]
        manifest = Manifest(asset=asset, fingerprint=name, code_version="1", parents=said, data_version=data_version_of(path, name), **more)
        (path / "manifest.json").write_text(manifest.model_dump_json())
        making = Making(made_at="2026-01-01T00:00:00+00:00", costs={"searches": 2.0, "wall_seconds": 1.5}, versions=versions())
        (path / "costs.json").write_text(making.model_dump_json())
        pointer = self.folder / "current" / (f"{asset}/{partition}.json" if partition else f"{asset}.json")
        pointer.parent.mkdir(parents=True, exist_ok=True)
        pointer.write_text(json.dumps({"asset": asset, "partition": partition, "path": f"artifacts/{asset}/{name}", "passed_through": None}))
        return manifest


def page(url: str, text: str) -> Page:
    return Page.make(url, url[-1].upper(), text, aliases=(url + "?old=1",))


@pytest.fixture
def state(tmp_path: Path) -> Path:
    maker = Maker(tmp_path)
    source, other = page(SOURCE, "The tower is 12 m high."), page(OTHER, "Height of the tower: 12 m.")
    question = Question(
        question_id="q1",
        question="How high is the tower?",
        answers=("12 m",),
        answer_kind="number",
        capability="direct",
        hops=1,
        source_page_ids=(source.page_id,),
        evidence=(Span(source.page_id, 0, 5, "12 m"),),
        support=(Span(other.page_id, 0, 5, "tower: 12 m"),),
        split="train",
        share="rl",
    )
    pages = maker.make("candidate_pages", lambda path: write_page_file(path / "pages.parquet", [source, other]))
    drawn = maker.make("extracted_questions", lambda path: write_questions(path / "questions.parquet", [question]), [pages], "round_001")

    def screen(path: Path) -> None:
        write_questions(path / "questions.parquet", [question])
        write_drops(path / "dropped.parquet", [Drop("q2", "What?", "shape", "too vague", "one word")])

    screened = maker.make("screened_questions", screen, [drawn], "round_001", drops={"too vague": 1})
    row = {"page_id": source.page_id, "url": SOURCE, "why": "source", "because_of": "q1", "question_id": None}
    removed = maker.make("removed_sources", lambda path: write_rows(path / "removed.parquet", [row], removed_schema()), [pages, screened])
    world = maker.make("world", lambda path: (path / "world.json").write_text('{"snapshot": "snap1"}'), [pages, removed])
    answerable = maker.make("answerable_questions", lambda path: write_questions(path / "questions.parquet", [question]), [screened, world])
    turn = RolloutTurn("text", "I look.", (), "seen", None, 1, 2, advantage=0.5)
    rollout = Rollout(
        rollout_id="r1",
        question_id="q1",
        policy="stage-1-step-0",
        recipe="x",
        stage=1,
        snapshot="snap1",
        sampling={"temperature": 1.0, "agent": {"turns": 4}},
        messages=(),
        turns=(turn,),
        token_ids=(1, 2),
        loss_mask=(0, 1),
        logprobs=(0.0, -0.1),
        answer="12 m",
        termination=Termination.ANSWERED,
        correct=True,
        grade="number",
    )
    attempts = [{"question_id": "q1", "correct": 1, "attempts": 4, "kept": True, "reason": "kept"}]
    kept = maker.make("stage_1/questions", lambda path: write_rows(path / "attempts.parquet", attempts, attempts_schema()), [answerable], "x")

    def train(path: Path) -> None:
        (path / "model").mkdir()
        (path / "model" / "weights").write_bytes(b"weights")
        write_rollouts(path / "rollouts.parquet", [rollout])

    gates = [Gate(name="token_ids_as_sampled", passed=True, detail="0 of 1 rows differ")]
    maker.make("stage_1/checkpoint", train, [kept, answerable, world], "x", gates=gates, config={"stage": {"steps": 10}, "seed": 3})
    return tmp_path


def removed_schema() -> Any:
    import pyarrow as pa

    return pa.schema([(name, pa.string()) for name in ("page_id", "url", "why", "because_of", "question_id")])


def attempts_schema() -> Any:
    import pyarrow as pa

    return pa.schema([("question_id", pa.string()), ("correct", pa.int64()), ("attempts", pa.int64()), ("kept", pa.bool_()), ("reason", pa.string())])


def facts(account: Any, title: str) -> dict[str, Any]:
    return next(section.facts for section in account.sections if section.title == title)


def rows(account: Any, title: str) -> list[dict[str, Any]]:
    return next((section.rows for section in account.sections if section.title == title), [])


@pytest.mark.parametrize(
    "name", ["stage_1/checkpoint", "stage_1/checkpoint x", "stage_1-checkpoint", "artifacts/stage_1/checkpoint/stage_1-checkpoint"]
)
def test_every_input_of_a_checkpoint_is_found_by_its_hash(state: Path, name: str) -> None:
    account = explain(state, name, verify=True)
    made_from = {row["asset"]: row for row in rows(account, "made from")}
    assert set(made_from) == {
        "stage_1/questions",
        "answerable_questions",
        "world",
        "screened_questions",
        "extracted_questions",
        "removed_sources",
        "candidate_pages",
    }
    for row in made_from.values():
        assert data_version_of(state / row["folder"], Path(row["folder"]).name) == row["content"]
        assert row["content now"] == "as told"
    assert facts(account, "settings") == {"stage.steps": 10, "seed": 3}
    assert facts(account, "world")["snapshot"] == "snap1"
    assert facts(account, "removed sources")["pages"] == 1
    assert facts(account, "judged by") == {"exact: number": 1}
    assert facts(account, "cost of the whole descent") == {"searches": 16.0, "wall_seconds": 12.0}
    assert "torch" in facts(account, "itself")["versions"]
    assert rows(account, "dropped on the way") == [{"asset": "screened_questions", "reason": "too vague", "rows": 1}]


def test_a_changed_input_is_seen(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (state / "artifacts" / "world" / "world" / "world.json").write_text('{"snapshot": "other"}')
    account = explain(state, "stage_1/checkpoint x", verify=True)
    now = {row["asset"]: row["content now"] for row in rows(account, "made from")}
    assert now.pop("world").startswith("differs")
    assert set(now.values()) == {"as told"}
    assert main(["explain", "stage_1/checkpoint", "x", "--verify", "--state", str(state)]) == 1


def test_a_question_is_followed_from_its_page_to_what_was_trained_on_it(state: Path) -> None:
    account = explain(state, "q1")
    assert account.kind == "question"
    assert SOURCE in rows(account, "read on")[0]["page"]
    assert OTHER in rows(account, "supported in the sealed world by")[0]["page"]
    assert [row["result"] for row in rows(account, "gates")] == ["passed"] * 3
    assert rows(account, "its sources, removed from the world")[0]["why"] == "source"
    assert rows(account, "difficulty")[0]["right"] == "1 of 4"
    assert [(row["rollout_id"], row["trained on"], row["correct"]) for row in rows(account, "rollouts")] == [("r1", True, True)]


def test_a_dropped_question_says_where_and_why(state: Path) -> None:
    account = explain(state, "q2")
    assert account.summary == "What?"
    assert rows(account, "dropped") == [{"asset": "screened_questions of round_001", "step": "shape", "reason": "too vague", "detail": "one word"}]


@pytest.mark.parametrize("name", [SOURCE, SOURCE + "?old=1", "http://one.example/a#top"])
def test_a_page_says_that_it_is_hidden_and_what_was_drawn_from_it(state: Path, name: str) -> None:
    account = explain(state, name)
    assert account.kind == "page"
    assert rows(account, "removed from the world")[0]["why"] == "source"
    assert "hidden" in facts(account, "worlds")["world"]
    assert [row["question"] for row in rows(account, "questions drawn from it")] == ["q1"]


def test_a_page_that_stays_says_what_leans_on_it(state: Path) -> None:
    account = explain(state, OTHER)
    assert "in it" in facts(account, "worlds")["world"]
    assert [row["question"] for row in rows(account, "questions that it supports")] == ["q1"]


def test_a_rollout_says_whose_it_is_and_what_it_trained(state: Path) -> None:
    account = explain(state, "r1")
    assert facts(account, "made in")["world"] == "artifacts/world/world"
    assert facts(account, "sampling") == {"temperature": 1.0, "turns": 4}
    assert facts(account, "graded")["method"] == "number"
    assert "stage_1/checkpoint of x" in facts(account, "trained")["checkpoint"]
    assert rows(account, "turns")[0]["advantage"] == 0.5


def test_what_is_unknown_is_said_with_what_comes_near(state: Path, tmp_path: Path) -> None:
    with pytest.raises(TerrariumError, match="near it are stage_1/checkpoint x"):
        explain(state, "stage_1/chekpoint x")
    with pytest.raises(TerrariumError, match="holds no artifacts"):
        explain(tmp_path / "elsewhere", "world")


def test_the_command_prints_text_and_json(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "q1", "--state", str(state)]) == 0
    assert "How high is the tower?" in capsys.readouterr().out
    assert main(["explain", "q1", "--state", str(state), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "question"
    assert main(["explain", "nothing", "--state", str(state)]) == 1
    assert "Nothing in" in capsys.readouterr().err


def test_an_ancestor_that_is_gone_is_told(state: Path) -> None:
    (state / "artifacts" / "world" / "world" / "manifest.json").unlink()
    with pytest.raises(TerrariumError, match="was made from world, which should lie in"):
        explain(state, "stage_1/checkpoint x")
