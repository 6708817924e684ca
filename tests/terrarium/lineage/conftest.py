"""A small lineage on disk: rows of every table that `explain` reads, under real manifests and content hashes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from resources.artifacts import ArtifactStore
from resources.manifest import Artifact
from terrarium.job import Gate, Outcome

PAGE, COPY, OTHER, LIST = "page00000000aaaa", "page00000000bbbb", "page00000000cccc", "page00000000dddd"
KEPT, DROPPED = "question0000aaaa", "question0000bbbb"
TRAINED, TRIED, SHOWN = "rollout00000aaaa", "rollout00000bbbb", "rollout00000cccc"
URL, ALIAS = "https://town.example/a", "http://town.example/a?from=search"


def page(page_id: str, url: str, **more: Any) -> dict[str, Any]:
    base = {"page_id": page_id, "url": url, "aliases": [], "title": f"Page {page_id[-4:]}", "content_hash": page_id[-4:], "duplicate_of": None}
    return {**base, "origin": "seed", "round": "round_001", "fetched_at": "2026-01-01", "vanished_at": None, **more}


def question(question_id: str, **more: Any) -> dict[str, Any]:
    span = {"page_id": PAGE, "start": 3, "end": 9, "text": "a span"}
    base = {"question_id": question_id, "question": f"What is {question_id[-4:]}?", "answers": ["four"], "capability": "direct"}
    return {**base, "source_page_ids": [PAGE], "evidence": [span], "support": [{**span, "page_id": OTHER}], "split": "train", "share": "rl", **more}


def rollout(rollout_id: str, policy: str, correct: bool | None = True) -> dict[str, Any]:
    base = {"rollout_id": rollout_id, "question_id": KEPT, "policy": policy, "recipe": "grpo-s1", "stage": 1, "snapshot": "snap01"}
    return {
        **base,
        "sampling": '{"temperature": 1.0}',
        "answer": "four",
        "termination": "answered",
        "correct": correct,
        "grade": "exact",
        "judge": "exact",
    }


@pytest.fixture
def made(tmp_path: Path) -> dict[str, Artifact]:
    """asset -> artifact; the state folder is `tmp_path`."""
    store = ArtifactStore(root=str(tmp_path))
    artifacts: dict[str, Artifact] = {}

    def add(
        name: str, parents: list[str], tables: dict[str, list[dict[str, Any]]], partition: str | None = None, notes: Any = None, **more: Any
    ) -> None:
        def work(out: Path) -> Outcome:
            for file, rows in tables.items():
                pq.write_table(pa.Table.from_pylist(rows), out / file)
            if name == "world":
                (out / "world.json").write_text(json.dumps({"snapshot": "snap01", "mode": "corpus", "pages": 2, "removed": 2}))
                (out / "places.json").write_text("{}")
            return Outcome(
                costs={"cpu_seconds": 2.0, **more.get("costs", {})}, notes=notes or {}, gates=more.get("gates", []), drops=more.get("drops", {})
            )

        volatile = more.get("volatile", ())
        artifacts[name] = store.make(name, partition, [artifacts[parent] for parent in parents], {"seed": 1}, "1", work, volatile=volatile)

    drop = {"id": DROPPED, "text": "What is bbbb?", "step": "snippets", "reason": "answered by a web snippet", "detail": ""}
    add("seed_pages", [], {"pages.parquet": [page(PAGE, URL, aliases=[ALIAS])]}, "round_001", costs={"pages_fetched": 1, "bytes": 10})
    add("extracted_questions", ["seed_pages"], {"questions.parquet": [question(KEPT), question(DROPPED)]}, "round_001")
    add(
        "screened_questions", ["extracted_questions"], {"questions.parquet": [question(KEPT)], "dropped.parquet": [drop]}, "round_001", drops={"s": 1}
    )
    pages = [page(PAGE, URL, aliases=[ALIAS]), page(COPY, "https://copy.example/a", duplicate_of=PAGE), page(OTHER, "https://o.example/")]
    add("candidate_pages", ["seed_pages"], {"pages.parquet": pages})
    gone = [{"page_id": PAGE, "url": URL, "why": "source", "because_of": KEPT, "question_id": None}]
    gone += [{"page_id": COPY, "url": "https://copy.example/a", "why": "near_duplicate", "because_of": PAGE, "question_id": None}]
    add("removed_sources", ["candidate_pages", "screened_questions"], {"removed.parquet": gone}, notes={"mode": "corpus"})
    add("world", ["candidate_pages", "removed_sources"], {}, notes={"snapshot": "snap01"}, volatile=("places.json",))
    add("answerable_questions", ["screened_questions", "world"], {"questions.parquet": [question(KEPT)]})
    shown = rollout(SHOWN, "scripted teacher")
    add("teacher_trajectories", ["answerable_questions", "world"], {"rollouts.parquet": [shown]}, costs={"searches": 3, "visits": 2})
    kept = [{"trajectory_id": "trajectory000001", "question_id": KEPT, "split": "train"}]
    add("curated_trajectories", ["teacher_trajectories"], {"trajectories.parquet": kept})
    add("sft_checkpoint", ["curated_trajectories"], {}, costs={"tokens_trained/sft": 7})
    tried = [rollout(TRIED, "start-of-stage-1"), rollout("rollout00000dddd", "start-of-stage-1", False)]
    add("stage_1/policy_rollouts", ["sft_checkpoint", "answerable_questions", "world"], {"rollouts.parquet": tried}, "grpo-s1")
    attempts = [{"question_id": KEPT, "correct": 1, "attempts": 2, "kept": True, "reason": "kept"}]
    add("stage_1/questions", ["stage_1/policy_rollouts"], {"attempts.parquet": attempts}, "grpo-s1")
    add(
        "stage_1/checkpoint",
        ["sft_checkpoint", "stage_1/questions", "answerable_questions", "world"],
        {"rollouts.parquet": [rollout(TRAINED, "stage-1-step-0")]},
        "grpo-s1",
        gates=[Gate(name="steps_done", passed=True, detail="4 of 4")],
        costs={"searches": 1, "tokens_out/stage-1": 5},
    )
    return artifacts
