"""Files from outside are unpacked with limits: what grows without end when it is unpacked costs a row or ends with a sentence, never the memory."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from terrarium.corpus import seed_files
from terrarium.corpus.seeds import SeedSource
from terrarium.tables import Drop

ROOT = Path(__file__).parents[2]
MEGABYTE = 1 << 20
PAGE = "<page><title>{}</title><ns>0</ns><revision><id>1</id><text>A town with a mill and a bridge, which stands on a river.</text></revision></page>"

READ = """
import resource, sys
from terrarium.corpus import seed_files
from terrarium.corpus.seeds import SeedSource
from terrarium.errors import TerrariumError
told, source = [], SeedSource(kind=sys.argv[1], location=sys.argv[2])
import pandas, trafilatura, datasketch  # what reading imports on its way counts before
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    for at, record in seed_files.read_source(source):
        told.append(getattr(record, "reason", type(record).__name__))
except TerrariumError as error:
    told.append(str(error))
print("\\n".join(told))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def read(kind: str, path: Path) -> tuple[list[str], int]:
    """What reading a seed file gives, in a process of its own, and the megabytes that it took."""
    done = subprocess.run(
        [sys.executable, "-c", READ, kind, str(path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *told, megabytes = done.stdout.splitlines()
    return told, int(megabytes)


@pytest.mark.parametrize("pack", [bz2.compress, gzip.compress])
def test_a_page_without_end_ends_a_dump_with_a_sentence(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    bomb = tmp_path / "dump.xml"
    begun = f"<mediawiki>{PAGE.format('First')}<page><title>Endless</title><ns>0</ns><revision><id>2</id><text>".encode()
    # Both formats may consist of several streams.
    bomb.write_bytes(pack(begun) + pack(b"word " * (2 * MEGABYTE)) * 40)
    assert bomb.stat().st_size < 3 * MEGABYTE
    told, megabytes = read("wikipedia", bomb)
    assert told[0] == "Page"
    assert "after 1 pages comes one of more than 128 MB" in told[1]
    assert megabytes < 400


def test_entities_are_not_multiplied(tmp_path: Path) -> None:
    names = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 10))
    text = f'<?xml version="1.0"?><!DOCTYPE m [<!ENTITY e0 "laugh">{names}]><mediawiki>'
    page = PAGE.format("First").replace("A town", "&e9; A town")
    path = tmp_path / "d.xml"
    path.write_text(f"{text}{page}</mediawiki>")
    told, megabytes = read("wikipedia", path)
    assert len(told) == 1 and "is damaged after 0 pages" in told[0]
    assert megabytes < 100


def test_entities_read_no_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("the lighthouse keeper")
    path = tmp_path / "d.xml"
    page = PAGE.format("First").replace("a mill", "&f; a mill")
    path.write_text(f'<?xml version="1.0"?><!DOCTYPE m [<!ENTITY f SYSTEM "{(tmp_path / "secret").as_uri()}">]><mediawiki>{page}</mediawiki>')
    pages = [record for _, record in seed_files.read_source(SeedSource(kind="wikipedia", location=str(path)))]
    assert len(pages) == 1 and "lighthouse" not in str(pages[0])


def row(name: str) -> bytes:
    return json.dumps({"url": f"https://example.org/{name}", "title": name, "text": f"{name} is a town with a mill and a bridge."}).encode() + b"\n"


def test_a_row_without_end_costs_itself(tmp_path: Path) -> None:
    packer = zstandard.ZstdCompressor(level=3)
    path = tmp_path / "rows.jsonl.zst"
    with path.open("wb") as file, packer.stream_writer(file) as packed:
        packed.write(row("first"))
        for _ in range(700):
            packed.write(b" " * MEGABYTE)
        packed.write(b"\n" + row("last"))
    assert path.stat().st_size < MEGABYTE
    told, megabytes = read("lite_jsonl_zst", path)
    assert told == ["Page", "too_large", "Page"]
    assert megabytes < 500


def test_files_of_a_folder_stay_in_it_and_have_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = tmp_path / "secret.html"
    outside.write_text("<html><body><p>Nobody outside should read this sentence of mine.</p></body></html>")
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "a.html").symlink_to(outside)
    (folder / "b.html").write_text("<p>" + "long " * 1000)
    monkeypatch.setattr(seed_files, "MAX_HTML_BYTES", 1000)
    read_records = [record for _, record in seed_files.read_source(SeedSource(kind="html_folder", location=str(folder), site="https://example.org"))]
    assert [record.reason for record in read_records if isinstance(record, Drop)] == ["outside", "too_large"]
    assert len(read_records) == 2
