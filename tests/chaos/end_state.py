"""What a state folder holds when all is done: which artifacts, what Dagster was told, and what should not be there any more."""

from __future__ import annotations

import fcntl
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg

from assets.lineage import Lineage
from resources.artifacts import ArtifactStore
from resources.publish import load_artifact
from terrarium.errors import TerrariumError
from terrarium.lineage.content import file_hashes

UNFINISHED = [status for status in dg.DagsterRunStatus if status.value not in ("SUCCESS", "FAILURE", "CANCELED")]


@dataclass(frozen=True)
class EndState:
    """`current` and `told` are by "asset partition": which content it is now, and of which contents Dagster was told, in order.

    `published` are the artifact folders, `worked` how often the work of each ended, `left` what should be gone.
    """

    folder: Path
    current: dict[str, str] = field(default_factory=dict)
    published: dict[str, str] = field(default_factory=dict)
    told: dict[str, list[str]] = field(default_factory=dict)
    worked: dict[str, int] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


def end_state(folder: Path, home: Path, lineage: Lineage, partitions: Sequence[str], pools: Sequence[str] = ("cpu", "gpu")) -> EndState:
    """Read all of it; `home` is Dagster's, `partitions` are those that count."""
    store = ArtifactStore(root=str(folder))
    current: dict[str, str] = {}
    left: list[str] = []
    for step in lineage.steps:
        for name in step.names:
            for partition in _partitions(lineage, name, partitions):
                try:
                    artifact = store.current_or_none(name, partition)
                except TerrariumError as error:
                    left.append(f"broken: {error}")
                    continue
                if artifact is not None:
                    passed = " passed through" if artifact.passed_through else ""
                    current[_key(name, partition)] = f"{artifact.manifest.fingerprint} {artifact.data_version}{passed}"
    told, unfinished = _told(folder, home, lineage, partitions, pools)
    return EndState(folder, current, _published(folder), told, _worked(folder), left + unfinished + _left_on_disk(folder))


def differences(reference: EndState, found: EndState, told_before: dict[str, list[str]] | None = None) -> list[str]:
    """What is not as in the run that nobody disturbed; `told_before` is what Dagster had been told when the work was started again."""
    said: list[str] = []
    for key in sorted(reference.current.keys() | found.current.keys()):
        one, other = reference.current.get(key), found.current.get(key)
        if one is None or other is None:
            said.append(f"{key} is {'missing' if other is None else 'one too many'}")
        elif one != other:
            said.append(f"{key} differs{_how(reference, found, key)}")
    for name in sorted(found.published.keys() - reference.published.keys()):
        if f"{name.split('/')[0]}" not in " ".join(said):
            said.append(f"artifact {name} is one too many")
    for name in sorted(reference.published.keys() - found.published.keys()):
        if f"{name.rsplit('/', 1)[0]} " not in " ".join(said):
            said.append(f"artifact {name} is lost")
    for key, version in found.current.items():
        told = found.told.get(key, [])
        content = version.split(" ")[1]
        if not told or told[-1] != content:
            said.append(f"Dagster was not told of {key} as it is")
        if told_before is not None and told_before.get(key) and _whole(found, told_before, key) and len(told) != len(told_before[key]):
            said.append(f"{key} was finished and materialised again")
        elif len(told) > (2 if told_before is not None else 1):
            said.append(f"{key} was materialised {len(told)} times")
    said += [f"the work for {out} was done {times} times" for out, times in sorted(found.worked.items()) if times > 1]
    return said + [f"left: {thing}" for thing in found.left]


def _whole(found: EndState, told_before: dict[str, list[str]], key: str) -> bool:
    """Whether all assets of the step had been told: the two that one step makes are told one after the other."""
    twins = {"page_store None": "search_index None", "search_index None": "page_store None"}
    return bool(told_before.get(twins.get(key, key)))


def _how(reference: EndState, found: EndState, key: str) -> str:
    """Which files of an artifact differ, or that only its inputs do."""
    name = key.rsplit(" ", 1)[0]
    folders = [state.folder / "artifacts" / name / state.current[key].split(" ")[0] for state in (reference, found)]
    if not all(folder.is_dir() for folder in folders):
        return " (passed through)"
    if folders[0].name != folders[1].name:
        return _inputs(folders)
    hashes = [file_hashes(folder) for folder in folders]
    files = sorted(file for file in hashes[0].keys() | hashes[1].keys() if hashes[0].get(file) != hashes[1].get(file))
    return f" in {', '.join(files[:4])}"


def _inputs(folders: Sequence[Path]) -> str:
    artifacts = [load_artifact(folder) for folder in folders]
    if None in artifacts:
        return ""
    one, other = (artifact.manifest for artifact in artifacts if artifact is not None)
    parents = sorted({a.asset for a in one.parents} ^ {a.asset for a in other.parents})
    parents += [a.asset for a, b in zip(one.parents, other.parents, strict=False) if a.data_version != b.data_version]
    config = sorted(name for name in one.config.keys() | other.config.keys() if one.config.get(name) != other.config.get(name))
    return f" by its inputs ({', '.join([*parents, *config]) or 'attempt or code'})"


def _partitions(lineage: Lineage, name: str, partitions: Sequence[str]) -> list[str | None]:
    per = lineage.step(name).per
    if per is None:
        return [None]
    return [partition for partition in partitions if partition.startswith("round_") == (per == "round")]


def _key(name: str, partition: str | None) -> str:
    return f"{name} {partition}"


def _published(folder: Path) -> dict[str, str]:
    root = folder / "artifacts"
    found = {}
    for manifest in sorted(root.rglob("manifest.json")):
        where = manifest.parent.relative_to(root).as_posix()
        artifact = load_artifact(manifest.parent)
        if artifact is not None and artifact.manifest.fingerprint == manifest.parent.name:
            found[where] = artifact.data_version
    return found


def _worked(folder: Path) -> dict[str, int]:
    """How often a child process ended its work well, by the folder it worked for."""
    times: Counter[str] = Counter()
    for result in (folder / "processes").glob("*/result.json"):
        out = Path(json.loads(result.with_name("job.json").read_text())["out"])
        times[out.relative_to(folder / "staging").as_posix() if out.is_relative_to(folder / "staging") else out.name] += 1
    return dict(times)


@contextmanager
def environment(folder: Path, home: Path) -> Iterator[None]:
    """Dagster's instance of a state folder is named by the environment."""
    before = {name: os.environ.get(name) for name in ("TERRARIUM_STATE", "DAGSTER_HOME")}
    os.environ |= {"TERRARIUM_STATE": str(folder), "DAGSTER_HOME": str(home)}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def told_now(folder: Path, home: Path, lineage: Lineage, partitions: Sequence[str]) -> dict[str, list[str]]:
    """What Dagster was told of each asset: the contents, oldest first."""
    return _told(folder, home, lineage, partitions, ())[0]


def _told(folder: Path, home: Path, lineage: Lineage, partitions: Sequence[str], pools: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    told: dict[str, list[str]] = {}
    left: list[str] = []
    with environment(folder, home), dg.DagsterInstance.get() as instance:
        for step in lineage.steps:
            for key, name in zip(step.keys, step.names, strict=True):
                records = instance.fetch_materializations(dg.AssetRecordsFilter(asset_key=key), limit=1000, ascending=True).records
                for record in records:
                    event = record.asset_materialization
                    assert event is not None
                    if event.partition is None or event.partition in partitions:
                        told.setdefault(_key(name, event.partition), []).append((event.tags or {}).get("dagster/data_version", ""))
        for run in instance.get_runs(filters=dg.RunsFilter(statuses=UNFINISHED)):
            left.append(f"run {run.run_id[:8]} is {run.status.value}")
        for pool in pools:
            info = instance.event_log_storage.get_concurrency_info(pool)
            if info.active_slot_count or info.pending_step_count:
                left.append(f"pool {pool} has {info.active_slot_count} slots taken and {info.pending_step_count} steps waiting")
    return told, left


def _left_on_disk(folder: Path) -> list[str]:
    """Work in progress, half-written files, and locks that somebody holds."""
    found = []
    for name in ("staging", "refused", "progress"):
        found += [f"{path.relative_to(folder)}" for path in sorted((folder / name).glob("*"))]
    found += [f"{path.relative_to(folder)}" for path in sorted((folder / "artifacts").rglob("*.partial"))]
    locks = [*(folder / "leases").rglob("*.lock"), folder / "run.lock", *(folder / "web").glob("*.users"), *(folder / "web").glob("*.start")]
    locks += [path for path in (folder / "artifacts" / "search_index").glob("*") if path.is_dir()]
    return found + [f"{path.relative_to(folder)} is locked" for path in locks if path.exists() and _locked(path)]


def _locked(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
