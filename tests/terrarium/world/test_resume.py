"""Sealing, killed between two pages that it probes for: those probed before are not asked for again, and the snapshot is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from terrarium.job import SilentReport
from terrarium.world.build import build
from terrarium.world.seal import SealJob
from tests.terrarium.killing import continued
from tests.terrarium.world.conftest import FILLER, MINILM, PAGES, SOURCE, WordEmbedder, build_job, write_inputs

pytestmark = [pytest.mark.process, pytest.mark.slow]


def test_the_probe_goes_on_at_the_page(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    inputs = write_inputs(tmp_path, PAGES, removed=(SOURCE, *FILLER))
    build(build_job(tmp_path, inputs), SilentReport())
    where = {"store": tmp_path / "store", "index": tmp_path / "index", "removed": inputs.removed, "pages": inputs.pages}
    job = SealJob(out=tmp_path / "sealed", questions=[inputs.questions], embedder=MINILM, **where)
    job.out.mkdir()
    continued("tests.terrarium.killable:seal", job, "probed.jsonl", volatile=("places.json",))
