"""Artifacts: immutable folders named by the fingerprint of what went into them.

This module owns paths, staging, publishing by rename, the `current` pointers and what is there already. It knows nothing of
what the files mean, and starts no processes.

    <root>/artifacts/<asset>/<fingerprint>/...            the data, manifest.json, costs.json
    <root>/staging/<fingerprint>/<asset>/...              work in progress, kept when a step is killed
    <root>/refused/<asset>/<fingerprint>/...              what did not pass a gate, for a person to look at
    <root>/current/<asset>/<partition or _>.json          which artifact an asset (or partition) is now
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from resources.manifest import Artifact
from terrarium.job import Outcome


class ArtifactStore(dg.ConfigurableResource):
    """The folder of all artifacts. `root` defaults to the environment's TERRARIUM_STATE, then to `.terrarium`."""

    root: str | None = None

    @property
    def folder(self) -> Path:
        """The absolute root."""
        raise NotImplementedError

    def current(self, asset: str, partition: str | None = None) -> Artifact:
        """What `asset` is now.

        Raises:
            TerrariumError: it was never made, its folder is gone, or its manifest says that a gate of severity error failed.
        """
        raise NotImplementedError

    def current_or_none(self, asset: str, partition: str | None = None) -> Artifact | None:
        """`current`, or None where nothing was made."""
        raise NotImplementedError

    def partitions(self, asset: str) -> list[str]:
        """Partitions of `asset` that have a current artifact, sorted."""
        raise NotImplementedError

    def fingerprint(self, asset: str | Sequence[str], parents: Sequence[Artifact], config: Mapping[str, Any], code_version: str, attempt: int = 0) -> str:
        """The name of what these inputs make: parents by asset and data version, in the order given."""
        raise NotImplementedError

    def find(self, asset: str, fingerprint: str) -> Artifact | None:
        """The published artifact of that name, or None."""
        raise NotImplementedError

    def attempt(
        self, asset: str | Sequence[str], partition: str | None, parents: Sequence[Artifact], config: Mapping[str, Any], code_version: str, fresh: bool = False
    ) -> int:
        """Which attempt to make: the one `current` holds for these inputs, else 0; with `fresh` the first that is not published yet.

        Add it to the seeds of a job, or a fresh attempt draws what the last one drew.
        """
        raise NotImplementedError

    def is_up_to_date(
        self, asset: str | Sequence[str], partition: str | None, parents: Sequence[Artifact], config: Mapping[str, Any], code_version: str
    ) -> bool:
        """Whether `current` already is what these inputs make, at any attempt. Decides before a step is launched."""
        raise NotImplementedError

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

        `work(out)` fills a staging folder, which may hold what a killed attempt left, and is not called when the artifact is there already
        (`Artifact.reused` says so). `volatile` are glob patterns of files that are no part of `data_version` (an engine's own files); columns named
        `fetched_at` and `seconds` of Parquet files never are.

        Raises:
            dagster.Failure: a gate of severity error did not pass (nothing is published, `current` stays, the folder moves to `refused/`),
                or the disk is full (nothing is replaced; the staging folder stays and is continued).
        """
        raise NotImplementedError

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
        raise NotImplementedError

    def pass_through(self, asset: str, partition: str | None, parent: Artifact, why: str) -> Artifact:
        """Point `asset` at its parent's artifact: free, and marked (`Artifact.passed_through` holds `why`)."""
        raise NotImplementedError
