"""Sealing, killed between two pages that it probes for: those probed before are not asked for again, and the snapshot is the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from terrarium.job import SilentReport
from terrarium.tables import read_rows
from terrarium.world.build import build
from terrarium.world.seal import SealJob
from tests.terrarium.killing import finish, kill, lines
from tests.terrarium.world.conftest import FILLER, MINILM, PAGES, SOURCE, WordEmbedder, build_job, write_inputs

pytestmark = [pytest.mark.process, pytest.mark.slow]

SEAL = "tests.terrarium.killable:seal"


def test_the_probe_goes_on_at_the_page(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    inputs = write_inputs(tmp_path, PAGES, removed=(SOURCE, *FILLER))
    build(build_job(tmp_path, inputs), SilentReport())
    where = {"store": tmp_path / "store", "index": tmp_path / "index", "removed": inputs.removed, "pages": inputs.pages}
    killed, whole = (SealJob(out=tmp_path / name, questions=[inputs.questions], embedder=MINILM, **where) for name in ("killed", "whole"))
    for job in (killed, whole):
        job.out.mkdir()
    outcome = finish(SEAL, whole)
    journal = killed.out / "probed.jsonl"
    kill(SEAL, killed, lambda: lines(journal) >= 2, most_seconds=0.1)
    kept = lines(journal)
    assert 2 <= kept < outcome.counts["probed"]
    again = finish(SEAL, killed)
    assert again.counts == outcome.counts and again.notes == outcome.notes
    assert read_rows(killed.out / "probe.parquet") == read_rows(whole.out / "probe.parquet")
    assert json.loads((killed.out / "world.json").read_text()) == json.loads((whole.out / "world.json").read_text())
    assert not journal.exists()
