"""The run that nobody disturbs: made once for the sources as they are, kept, and read by every round."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from terrarium.errors import TerrariumError
from tests.chaos.end_state import EndState
from tests.chaos.processes import Kind, all_gone, of_kind
from tests.chaos.setting import ROOT, Place, Setting

SOURCES = ("terrarium", "resources", "assets", "pipelines", "littleweb", "profiles", "curricula")
WATCHED: tuple[Kind, ...] = ("child", "trainer", "crawler", "index", "owner")
# Jobs for the daemon: what must be there before each.
BEFORE = {"seal_world": "crawled_pages", "cold_start": "answerable_questions"}


@dataclass(frozen=True)
class Reference:
    """`lived` are the seconds at which each kind of victim was alive, `jobs` how long the steps of each of the daemon's jobs took."""

    folder: Path
    end: EndState
    seconds: float
    bytes: int
    lived: dict[str, list[float]]
    jobs: dict[str, float]

    def lay_out(self, job: str, state: Path) -> None:
        """Fill an empty state folder with what must be there before a job."""
        shutil.copytree(self.folder / f"before-{job}", state, dirs_exist_ok=True)


def reference_of(setting: Setting, jobs: Sequence[str] = tuple(BEFORE)) -> Reference:
    """The reference for these sources, from the last time or made now.

    Raises:
        TerrariumError: the undisturbed run failed, or left something behind.
    """
    name = f"reference-{digest_of(setting, jobs)}"
    folder = setting.root / name
    kept = folder / "reference.json"
    if not kept.exists():
        for old in setting.root.glob("reference-*"):
            shutil.rmtree(old)
        _make(setting, name, jobs, kept)
    row = json.loads(kept.read_text())
    end = EndState(**{**row["end"], "folder": folder / "state"})
    return Reference(folder, end, row["seconds"], row["bytes"], row["lived"], row["jobs"])


def digest_of(setting: Setting, jobs: Sequence[str]) -> str:
    """Names what is run: the command, the sources, and how many threads compute."""
    digest = hashlib.sha256(repr((setting.command, setting.partitions, list(jobs), os.environ.get("OMP_NUM_THREADS", ""))).encode())
    for path in _sources():
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def _sources() -> Iterator[Path]:
    for folder in SOURCES:
        yield from sorted(path for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix not in (".pyc",))
    yield ROOT / "dagster.yaml"


def _make(setting: Setting, name: str, jobs: Sequence[str], kept: Path) -> None:
    place = Place.fresh(setting, name)
    lived: dict[str, list[float]] = {kind: [] for kind in ("command", "everything", "database", *WATCHED)}
    seconds = 0.0
    for job in [*jobs, None]:
        began = time.monotonic()
        running = place.grow("--until", BEFORE[job]) if job else place.grow()
        while running.poll() is None:
            now = seconds + time.monotonic() - began
            for kind in ("command", "everything", "database"):
                lived[kind].append(round(now, 2))
            for kind in WATCHED:
                if of_kind(kind, place.mark):
                    lived[kind].append(round(now, 2))
            time.sleep(0.2)
        seconds += time.monotonic() - began
        if running.returncode != 0 or (left := all_gone(place.mark)):
            raise TerrariumError(f"The undisturbed run did not end well; see {place.log}: {place.tail(3) if running.returncode else left}")
        if job:
            shutil.copytree(place.state, place.folder / f"before-{job}")
    end = place.end_state()
    if end.left:
        raise TerrariumError(f"The undisturbed run left {', '.join(end.left)}.")
    size = sum(path.stat().st_blocks * 512 for path in place.state.rglob("*") if path.is_file())
    took = {job: _took(place, job) for job in jobs}
    row = {"end": {**asdict(end), "folder": ""}, "seconds": seconds, "bytes": size, "lived": lived, "jobs": took}
    kept.write_text(json.dumps(row))


def _took(place: Place, job: str) -> float:
    """Seconds that the steps of a job took."""
    groups = {"seal_world": ("corpus", "questions", "world"), "cold_start": ("sft",)}[job]
    from resources.artifacts import ArtifactStore

    store = ArtifactStore(root=str(place.state))
    steps = [step for step in place.setting.lineage.steps if step.group in groups and step.per is None]
    return sum(store.current(step.name).costs.get("wall_seconds", 0.0) + 1.0 for step in steps)
