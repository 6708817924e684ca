"""Artifacts: immutable folders named by the fingerprint of what went into them.

This module owns what is there, what is current and what is up to date; `publish.py` owns how a folder gets there. It knows nothing
of what the files mean, and starts no processes.

    <root>/artifacts/<asset>/<fingerprint>/...       the data, manifest.json, costs.json
    <root>/staging/<fingerprint>/<asset>/...         work in progress, kept when a step is killed
    <root>/refused/<asset>/<fingerprint>/...         what did not pass a gate, for a person to look at
    <root>/current/<asset>[/<partition>].json        which artifact an asset (or its partition) is now
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from resources.failures import DISK_FULL, as_failure, disk_full
from resources.locks import FileLock
from resources.manifest import Artifact
from resources.pointers import write_pointer
from resources.publish import Staging, load_artifact
from resources.state import state_folder
from terrarium.errors import TerrariumError
from terrarium.job import Outcome
from terrarium.lineage.content import fingerprint_of, plain
from terrarium.lineage.manifest import Manifest, Parent
from terrarium.lineage.pointers import Pointer, pointer_path, read_pointer

Assets = str | Sequence[str]


class ArtifactStore(dg.ConfigurableResource):
    """The folder of all artifacts. `root` defaults to the environment's TERRARIUM_STATE, then to `.terrarium`."""

    root: str | None = None

    @property
    def folder(self) -> Path:
        """The absolute root."""
        return state_folder(self.root)

    def current(self, asset: str, partition: str | None = None) -> Artifact:
        """What `asset` is now.

        Raises:
            TerrariumError: it was never made, its folder is gone, or its manifest says that a gate of severity error failed.
        """
        pointer = read_pointer(pointer_path(self.folder, asset, partition))
        named = f"{asset} of {partition}" if partition else asset
        if pointer is None:
            raise TerrariumError(f"{named} has not been made yet: materialise it first.")
        artifact = load_artifact(self.folder / pointer.path, passed_through=pointer.passed_through)
        if artifact is None:
            raise TerrariumError(f"{named} should lie in {self.folder / pointer.path}, which is gone or damaged: materialise it again.")
        if artifact.manifest.failed_gates:
            gate = artifact.manifest.failed_gates[0]
            raise TerrariumError(f"{named} did not pass its gate '{gate.name}' ({gate.detail or 'no detail'}): mend that and materialise it again.")
        return artifact

    def current_or_none(self, asset: str, partition: str | None = None) -> Artifact | None:
        """`current`, or None where nothing was made; a failed gate still raises."""
        if read_pointer(pointer_path(self.folder, asset, partition)) is None:
            return None
        return self.current(asset, partition)

    def partitions(self, asset: str) -> list[str]:
        """Partitions of `asset` that have a current artifact, sorted."""
        pointers = (read_pointer(path) for path in pointer_path(self.folder, asset, None).with_suffix("").glob("*.json"))
        return sorted(pointer.partition for pointer in pointers if pointer is not None and pointer.asset == asset and pointer.partition is not None)

    def fingerprint(self, asset: Assets, parents: Sequence[Artifact], config: Mapping[str, Any], code_version: str, attempt: int = 0) -> str:
        """The name of what these inputs make: parents by asset and data version, in the order given."""
        return fingerprint_of(
            {
                "assets": _names(asset),
                "parents": [[parent.asset, parent.data_version] for parent in parents],
                "config": plain(config),
                "code_version": code_version,
                "attempt": attempt,
            }
        )

    def find(self, asset: str, fingerprint: str) -> Artifact | None:
        """The published artifact of that name, or None."""
        return load_artifact(self._published(asset, fingerprint), reused=True)

    def attempt(
        self,
        asset: Assets,
        partition: str | None,
        parents: Sequence[Artifact],
        config: Mapping[str, Any],
        code_version: str,
        fresh: bool = False,
    ) -> int:
        """Which attempt to make: the one `current` holds for these inputs, else 0; with `fresh` the first that is not published yet.

        Add it to the seeds of a job, or a fresh attempt draws what the last one drew.
        """
        names = _names(asset)
        if fresh:
            attempt = 0
            while all(self.find(name, self.fingerprint(asset, parents, config, code_version, attempt)) for name in names):
                attempt += 1
            return attempt
        held = self._held(names[0], partition)
        if held is not None and held.manifest.fingerprint == self.fingerprint(asset, parents, config, code_version, held.manifest.attempt):
            return held.manifest.attempt
        return 0

    def is_up_to_date(self, asset: Assets, partition: str | None, parents: Sequence[Artifact], config: Mapping[str, Any], code_version: str) -> bool:
        """Whether `current` already is what these inputs make, at any attempt. Decides before a step is launched."""
        for name in _names(asset):
            held = self._held(name, partition)
            if held is None or held.manifest.failed_gates:
                return False
            if held.manifest.fingerprint != self.fingerprint(asset, parents, config, code_version, held.manifest.attempt):
                return False
        return True

    def make(
        self,
        asset: str,
        partition: str | None,
        parents: Sequence[Artifact],
        config: Mapping[str, Any],
        code_version: str,
        work: Callable[[Path], Outcome],
        attempt: int = 0,
        volatile: Collection[str] = (),
    ) -> Artifact:
        """Find the artifact of these inputs or make it, and point `current` at it.

        `work(out)` fills a staging folder, which may hold what a killed attempt left, and is not called when the artifact is there
        already (`Artifact.reused` says so). `volatile` are patterns of files that are no part of `data_version` (an engine's own
        files); columns named `fetched_at` and `seconds` of Parquet files never are.

        Raises:
            dagster.Failure: a gate of severity error did not pass (nothing is published, `current` stays, the folder moves to
                `refused/`), the disk is full (nothing is replaced; the staging folder stays and is continued), or `work` raised a TerrariumError.
        """
        made = self.make_together([asset], partition, parents, config, code_version, lambda outs: work(outs[asset]), attempt, {asset: volatile})
        return made[asset]

    def make_together(
        self,
        assets: Sequence[str],
        partition: str | None,
        parents: Sequence[Artifact],
        config: Mapping[str, Any],
        code_version: str,
        work: Callable[[Mapping[str, Path]], Outcome],
        attempt: int = 0,
        volatile: Mapping[str, Collection[str]] | None = None,
    ) -> dict[str, Artifact]:
        """`make` for several assets that one step writes: `work` gets a staging folder for each; all are published, or none."""
        names = _names(assets)
        fingerprint = self.fingerprint(assets, parents, config, code_version, attempt)
        doing = f"making {' and '.join(names)}"
        try:
            with as_failure():
                made = self._found(names, fingerprint)
                if made is None:
                    with FileLock(self.folder / "staging" / f"{fingerprint}.lock", doing).held(_wait_in_log, remove=True):
                        made = self._found(names, fingerprint)
                        if made is None:
                            manifest = Manifest(
                                asset="",
                                fingerprint=fingerprint,
                                code_version=code_version,
                                attempt=attempt,
                                parents=[self._parent(parent) for parent in parents],
                                config=plain(config),
                            )
                            made = self._make(names, manifest, work, volatile or {})
                for name, artifact in made.items():
                    self._point(name, partition, artifact)
                return made
        except OSError as error:
            if error.errno in DISK_FULL:
                with as_failure():
                    raise disk_full(self.folder, doing) from error
            raise

    def pass_through(self, asset: str, partition: str | None, parent: Artifact, why: str) -> Artifact:
        """Point `asset` at its parent's artifact: free, and marked (`Artifact.passed_through` holds `why`)."""
        self._point(asset, partition, parent, why)
        passed = load_artifact(parent.path, reused=True, passed_through=why)
        if passed is None:
            raise TerrariumError(f"{parent.path} is gone or damaged: materialise {parent.asset} again.")
        return passed

    def is_passed_through(self, asset: str, partition: str | None, parent: Artifact) -> bool:
        """Whether `asset` already stands for just this parent."""
        pointer = read_pointer(pointer_path(self.folder, asset, partition))
        return pointer is not None and pointer.passed_through is not None and self.folder / pointer.path == parent.path

    def relative(self, path: Path) -> str:
        """A path below the root as manifests write it."""
        return path.absolute().relative_to(self.folder).as_posix()

    def _make(
        self, names: Sequence[str], manifest: Manifest, work: Callable[[Mapping[str, Path]], Outcome], volatile: Mapping[str, Collection[str]]
    ) -> dict[str, Artifact]:
        staging = Staging(self.folder, names, manifest)
        if not staging.complete():
            worked = staging.worked()
            if worked is None:
                started = time.monotonic()
                outcome = work(staging.open())
                worked = staging.keep(outcome, time.monotonic() - started)
            outcome = worked.outcome
            failed = [gate for gate in outcome.gates if gate.severity == "error" and not gate.passed]
            if failed:
                kept = staging.refuse(outcome)
                sentences = "; ".join(f"{gate.name}: {gate.detail}" if gate.detail else gate.name for gate in failed)
                raise dg.Failure(
                    description=f"{' and '.join(names)} did not pass a gate and was not published ({sentences}); what it made lies in {kept[0]}.",
                    metadata={"refused": dg.MetadataValue.path(str(kept[0])), "gates": dg.MetadataValue.json(plain(outcome.gates))},
                    allow_retries=False,
                )
            staging.seal(outcome, worked.seconds, volatile)
        staging.publish()
        made = self._found(names, manifest.fingerprint, reused=False)
        if made is None:
            raise TerrariumError(f"{' and '.join(names)} was published below {self.folder} and cannot be read back: look at that disk.")
        return made

    def _found(self, names: Sequence[str], fingerprint: str, reused: bool = True) -> dict[str, Artifact] | None:
        found = {name: load_artifact(self._published(name, fingerprint), reused=reused) for name in names}
        return None if None in found.values() else {name: artifact for name, artifact in found.items() if artifact is not None}

    def _held(self, asset: str, partition: str | None) -> Artifact | None:
        pointer = read_pointer(pointer_path(self.folder, asset, partition))
        return None if pointer is None else load_artifact(self.folder / pointer.path, passed_through=pointer.passed_through)

    def _point(self, asset: str, partition: str | None, artifact: Artifact, why: str | None = None) -> None:
        pointer = Pointer(asset=asset, partition=partition, path=self.relative(artifact.path), passed_through=why)
        write_pointer(pointer_path(self.folder, asset, partition), pointer)

    def _parent(self, parent: Artifact) -> Parent:
        return Parent(asset=parent.asset, data_version=parent.data_version, path=self.relative(parent.path))

    def _published(self, asset: str, fingerprint: str) -> Path:
        return self.folder / "artifacts" / asset / fingerprint


def _wait_in_log(who: str) -> None:
    dg.get_dagster_logger().info(f"Waiting for {who}, which makes the same artifact.")


def _names(asset: Assets) -> list[str]:
    return [asset] if isinstance(asset, str) else list(asset)
