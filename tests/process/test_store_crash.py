"""The artifact store under SIGKILL at its every step: started again, it ends as if nothing had happened, and does no work twice that was done."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from resources.artifacts import ArtifactStore
from resources.manifest import Artifact
from terrarium.job import Outcome

pytestmark = pytest.mark.process

PAIR = ["page_store", "search_index"]

# A process that makes the pair and kills itself where `point` says.
SCRIPT = """
import os, signal, sys
from pathlib import Path
import resources.publish as publish
from resources.artifacts import ArtifactStore
from terrarium.job import Outcome

root, point = sys.argv[1:]

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def dying(function, number):
    calls = []
    def wrapped(*arguments, **more):
        calls.append(1)
        if len(calls) == number:
            die()
        return function(*arguments, **more)
    return wrapped

if point.startswith("seal"):
    publish.write_durably = dying(publish.write_durably, int(point[-1]))
if point.startswith("rename"):
    Path.rename = dying(Path.rename, int(point[-1]))
if point.startswith("replace"):
    Path.replace = dying(Path.replace, int(point[-1]))
if point.startswith("pointer"):
    import resources.artifacts as artifacts
    artifacts.write_pointer = dying(artifacts.write_pointer, int(point[-1]))

def work(outs):
    for name, out in outs.items():
        with (out / "rows.txt").open("a") as file:
            file.write("half ")
            file.flush()
            if point == "work" and name == "search_index":
                die()
    with open(root + "/worked", "a") as file:
        file.write("x")
    for out in outs.values():
        (out / "rows.txt").write_text("whole")
    return Outcome(counts={"rows": 1})

ArtifactStore(root=root).make_together(["page_store", "search_index"], None, [], {"text": "new"}, "1", work)
"""


def _killed(root: Path, point: str) -> int:
    return subprocess.run([sys.executable, "-c", SCRIPT, str(root), point], capture_output=True, cwd=Path(__file__).parents[2]).returncode


def _made(root: Path, text: str) -> dict[str, Artifact]:
    """The same work, in this process and undisturbed."""

    def work(outs: Mapping[str, Path]) -> Outcome:
        root.mkdir(exist_ok=True)
        with (root / "worked").open("a") as file:
            file.write("x")
        for out in outs.values():
            (out / "rows.txt").write_text("whole")
        return Outcome(counts={"rows": 1})

    return ArtifactStore(root=str(root)).make_together(PAIR, None, [], {"text": text}, "1", work)


@pytest.mark.parametrize(
    ("point", "worked"),
    [
        ("work", 1),
        ("seal1", 2),
        ("seal2", 1),
        ("seal3", 1),
        ("rename1", 1),
        ("rename2", 1),
        ("pointer1", 1),
        ("pointer2", 1),
        ("replace1", 2),
        ("replace2", 1),
        ("replace4", 1),
        ("replace5", 1),
    ],
)
def test_killed_anywhere_it_ends_as_if_undisturbed(tmp_path: Path, point: str, worked: int) -> None:
    store = ArtifactStore(root=str(tmp_path))
    before = _made(tmp_path, "old")
    (tmp_path / "worked").unlink()

    assert _killed(tmp_path, point) == -signal.SIGKILL
    # Nothing half-made is ever current: each is whole, old or new.
    for name in PAIR:
        assert store.current(name).file("rows.txt").read_text() == "whole"

    after = _made(tmp_path, "new")
    assert all(store.current(name).path == after[name].path != before[name].path and before[name].path.exists() for name in PAIR)
    assert all(artifact.manifest.counts == {"rows": 1} for artifact in after.values())
    assert (tmp_path / "worked").read_text() == "x" * worked
    assert not [path for path in (tmp_path / "staging").iterdir() if path.is_dir()]
    undisturbed = _made(tmp_path / "undisturbed", "new")
    assert all(undisturbed[name].data_version == after[name].data_version for name in PAIR)
