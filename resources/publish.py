"""From work to artifact: a staging folder that survives a kill, a manifest that seals it, a rename that publishes it.

The manifest is written last and by rename: a staging folder that has one is complete and only needs its rename, one that has none is continued.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from resources.durable import sync_folder, sync_tree, write_durably
from resources.manifest import Artifact
from terrarium.job import Outcome
from terrarium.lineage.content import data_version_of, plain
from terrarium.lineage.manifest import COSTS, MANIFEST, Making, Manifest, read_making, read_manifest
from terrarium.lineage.versions import versions

OUTCOME = "outcome.json"
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Worked(BaseModel):
    """Work that has ended and is not sealed yet. `boot` names the run of the machine in which it ended."""

    outcome: Outcome
    seconds: float
    boot: str


def load_artifact(path: Path, reused: bool = False, passed_through: str | None = None) -> Artifact | None:
    """The artifact in a folder, or None where there is none or its manifest cannot be read."""
    manifest = read_manifest(path)
    if manifest is None:
        return None
    return Artifact(path=path, manifest=manifest, costs=read_making(path).costs, reused=reused, passed_through=passed_through)


class Staging:
    """The staging folders of one step's artifacts, one an asset; `manifest` is what they share."""

    def __init__(self, root: Path, assets: Sequence[str], manifest: Manifest) -> None:
        self.root = root
        self.assets = list(assets)
        self.manifest = manifest

    def complete(self) -> bool:
        """Whether an earlier attempt was killed after its work and before its last rename."""
        return all(load_artifact(self._staged(asset)) or load_artifact(self._published(asset)) for asset in self.assets)

    def keep(self, outcome: Outcome, seconds: float) -> Worked:
        """Note that the work has ended: hashing and syncing large files takes minutes, and a kill in them must not cost the work."""
        worked = Worked(outcome=outcome, seconds=seconds, boot=_boot())
        write_durably(self._folder / OUTCOME, worked.model_dump_json())
        return worked

    def worked(self) -> Worked | None:
        """What `keep` noted. Nothing after the machine was started anew: then the files may lack what had not reached the disk."""
        try:
            worked = Worked.model_validate_json((self._folder / OUTCOME).read_text())
        except (FileNotFoundError, ValidationError):
            return None
        there = all(self._staged(asset).is_dir() or load_artifact(self._published(asset)) for asset in self.assets)
        return worked if there and worked.boot and worked.boot == _boot() else None

    def open(self) -> Mapping[str, Path]:
        """The folders to work in, with what a killed attempt left in them."""
        for asset in self.assets:
            folder = self._staged(asset)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / MANIFEST).unlink(missing_ok=True)
            for half_written in folder.rglob("*.partial"):
                half_written.unlink()
        return {asset: self._staged(asset) for asset in self.assets}

    def seal(self, outcome: Outcome, seconds: float, volatile: Mapping[str, Collection[str]]) -> None:
        """Write costs and manifests beside the data; from here on the work is done whatever happens."""
        for asset in self.assets:
            if load_artifact(self._published(asset)):
                continue
            folder = self._staged(asset)
            manifest = self.manifest.model_copy(
                update={
                    "asset": asset,
                    "gates": outcome.gates,
                    "counts": outcome.counts,
                    "drops": outcome.drops,
                    "notes": plain(outcome.notes),
                    "data_version": data_version_of(folder, self.manifest.fingerprint, volatile.get(asset, ())),
                }
            )
            making = Making(
                made_at=datetime.now(UTC).isoformat(timespec="seconds"),
                costs={**outcome.costs, "wall_seconds": round(seconds, 3)},
                volatile=list(volatile.get(asset, ())),
                versions=versions(),
            )
            (folder / COSTS).write_text(making.model_dump_json(indent=1))
            sync_tree(folder)
            write_durably(folder / MANIFEST, manifest.model_dump_json(indent=1))

    def publish(self) -> None:
        """Move what is sealed to where artifacts lie."""
        for asset in self.assets:
            staged, published = self._staged(asset), self._published(asset)
            if load_artifact(published):
                shutil.rmtree(staged, ignore_errors=True)
                continue
            if published.exists():
                self._put_aside(published, asset)
            published.parent.mkdir(parents=True, exist_ok=True)
            staged.rename(published)
            sync_folder(published.parent)
        shutil.rmtree(self._folder, ignore_errors=True)

    def refuse(self, outcome: Outcome) -> list[Path]:
        """Put aside what did not pass its gates, with the outcome beside it, so that the next attempt starts anew."""
        kept = []
        for asset in self.assets:
            staged = self._staged(asset)
            (staged / "outcome.json").write_text(outcome.model_dump_json(indent=1))
            kept.append(self._put_aside(staged, asset))
        shutil.rmtree(self._folder, ignore_errors=True)
        return kept

    def _put_aside(self, folder: Path, asset: str) -> Path:
        aside = self.root / "refused" / asset / self.manifest.fingerprint
        shutil.rmtree(aside, ignore_errors=True)
        aside.parent.mkdir(parents=True, exist_ok=True)
        folder.rename(aside)
        return aside

    @property
    def _folder(self) -> Path:
        return self.root / "staging" / self.manifest.fingerprint

    def _staged(self, asset: str) -> Path:
        return self._folder / asset

    def _published(self, asset: str) -> Path:
        return self.root / "artifacts" / asset / self.manifest.fingerprint


def _boot() -> str:
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""
