"""The committed benchmark, the truth file and the dump."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from littleweb.__main__ import BENCHMARK, main
from littleweb.benchmark import DIRECT, PLANTED, benchmark_questions, write_benchmark


def test_the_committed_file_is_what_the_generator_makes(tmp_path: Path) -> None:
    assert write_benchmark(tmp_path / "again.jsonl") == 40
    assert (tmp_path / "again.jsonl").read_bytes() == BENCHMARK.read_bytes()


def test_forty_questions_of_five_capabilities_each_different() -> None:
    rows = [json.loads(line) for line in BENCHMARK.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 40 == len({row["question"] for row in rows})
    assert {row["capability"] for row in rows} == {"direct", "aggregation", "enumeration", "cross_verification", "statistics"}
    assert all(row.keys() == {"question", "answers", "capability"} and row["answers"] for row in rows)


def test_at_least_five_are_planted_in_the_seeds_and_the_others_are_not(country_truth: list[dict[str, Any]]) -> None:
    planted = [question for question in benchmark_questions() if question.planted]
    assert len(planted) >= 5 and len(planted) == len(PLANTED)
    seed_facts = {(row["kind"], row["relation"]) for row in country_truth if row["on_seeds"]}
    assert {(kind, relation) for kind, relation, _, _ in PLANTED} <= seed_facts
    assert not {(kind, relation) for kind, (relation, _) in DIRECT.items()} & seed_facts


def test_planted_answers_are_true(country_truth: list[dict[str, Any]]) -> None:
    for question in benchmark_questions():
        if question.planted:
            about = [row for row in country_truth if row["current"] and row["subject"] in question.question and row["value"] in question.answers]
            assert about, question


def test_truth_and_dump_are_written(tmp_path: Path) -> None:
    assert main(["truth", "--flavour", "tiny", "--out", str(tmp_path / "truth.jsonl")]) == 0
    rows = [json.loads(line) for line in (tmp_path / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows and all(row["pages"] for row in rows)
    assert main(["dump", "--flavour", "tiny", "--out", str(tmp_path / "dump")]) == 0
    listed = (tmp_path / "dump" / "pages.tsv").read_text(encoding="utf-8").splitlines()
    assert len(listed) == len(list((tmp_path / "dump").rglob("*.html")))
