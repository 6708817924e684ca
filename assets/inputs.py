"""What a step may read, and what its reading makes of its fingerprint.

The fingerprint of an asset is its job, with the folders of parents replaced by their content: so it holds the parents' hashes and the
part of the configuration that is read, and nothing else, and can be told before anything is launched.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from pydantic import ValidationError

from assets.checksums import checksum
from assets.step import Step
from resources.artifacts import ArtifactStore
from resources.manifest import Artifact
from resources.profiles import Recipe
from resources.settings_files import HOME
from terrarium.errors import TerrariumError
from terrarium.job import Job

if TYPE_CHECKING:
    from assets.lineage import Lineage


def job_type(work: str) -> type[Job]:
    """The job that a work function "package.module:name" takes: the type of its first parameter."""
    module, name = work.split(":")
    function = getattr(importlib.import_module(module), name)
    kind = next(iter(get_type_hints(function).values()))
    if not (isinstance(kind, type) and issubclass(kind, Job)):
        raise TypeError(f"{work} does not take a Job first")
    return kind


class Inputs:
    """The profile, a partition, parents' artifacts, and files that the profile names.

    `out` is the staging folder of the step's (first) asset. Reading a parent makes it part of the fingerprint; reading one that
    the step does not declare is an error.
    """

    def __init__(
        self,
        step: Step,
        lineage: Lineage,
        store: ArtifactStore,
        partition: str | None,
        outs: Mapping[str, Path] | None = None,
        attempt: int = 0,
    ) -> None:
        self.step = step
        self.profile = lineage.profile
        self.partition = partition
        self.attempt = attempt
        self.store = store
        self.parents: list[Artifact] = []
        self._lineage = lineage
        self._facts: dict[str, Any] = {}
        self._outs = dict(outs) if outs else {name: Path("out") / name for name in step.names}
        self._tokens: dict[str, str] = {str(path): f"<{name}>" for name, path in self._outs.items()}

    @property
    def out(self) -> Path:
        return self._outs[self.step.names[0]]

    def out_of(self, name: str) -> Path:
        """The staging folder of one of the assets that this step makes."""
        return self._outs[name]

    @property
    def round(self) -> str:
        """The round this step works on."""
        if self.step.per != "round" or self.partition is None:
            raise TerrariumError(f"{self.step.name} was run without a round; choose one in the launch dialog.")
        return self.partition

    @property
    def recipe(self) -> Recipe:
        """The recipe this step works for."""
        if self.step.per != "recipe" or self.partition is None:
            raise TerrariumError(f"{self.step.name} was run without a recipe; choose one in the launch dialog.")
        return self.profile.recipe(self.partition)

    def seed(self, seed: int) -> int:
        """A seed of the profile or recipe, moved on by the attempt: a fresh attempt draws anew."""
        return seed + 1_000_003 * self.attempt

    def parent(self, name: str) -> Artifact:
        """What a parent is now, at this step's own partition if it has the same kind of partitions.

        Raises:
            TerrariumError: it was not made yet, or a gate of it did not pass.
        """
        return self._read(name, self.partition if self._declared(name).per else None)

    def folder(self, name: str) -> Path:
        """The folder of `parent(name)`."""
        return self.parent(name).path

    def all_of(self, name: str) -> dict[str, Artifact]:
        """Every partition of a parent that exists, by partition."""
        self._declared(name)
        return {partition: self._read(name, partition) for partition in self.store.partitions(name)}

    def folders(self, name: str) -> list[Path]:
        """The folders of `all_of(name)`.

        Raises:
            TerrariumError: no partition was made yet.
        """
        found = [artifact.path for artifact in self.all_of(name).values()]
        if not found:
            raise TerrariumError(f"{self.step.name} reads {name}, of which no partition was made yet; materialise {name} first.")
        return found

    def descent(self, artifact: Artifact) -> Iterator[Artifact]:
        """Everything an artifact was made from, and that from, each once; nearest first. It is in the fingerprint already."""
        waiting, seen = list(artifact.manifest.parents), set()
        while waiting:
            parent = waiting.pop(0)
            if parent.path in seen:
                continue
            seen.add(parent.path)
            found = self.store.find(parent.asset, Path(parent.path).name)
            if found is not None:
                yield found
                waiting.extend(found.manifest.parents)

    def file(self, path: Path) -> Path:
        """A file or folder from outside, made absolute; its content, not its name, becomes part of the fingerprint.

        Raises:
            TerrariumError: it cannot be read.
        """
        absolute = HOME / path.expanduser()
        self._tokens[str(absolute)] = checksum(self.store.folder, absolute)
        return absolute

    def also(self, **facts: Any) -> None:
        """Facts that results depend on though the job does not name them; they become part of the fingerprint."""
        self._facts.update(facts)

    def _declared(self, name: str) -> Step:
        if name not in self.step.after:
            raise TerrariumError(f"{self.step.name} reads {name} without declaring it; name it in the `after` of that asset.")
        return self._lineage.step(name)

    def _read(self, name: str, partition: str | None) -> Artifact:
        artifact = self.store.current(name, partition)
        if all(known.path != artifact.path for known in self.parents):
            self.parents.append(artifact)
        self._tokens[str(artifact.path)] = f"<{artifact.asset} {artifact.data_version}>"
        return artifact

    def job(self, **fields: Any) -> Job:
        """The job of this step's work, checked against what that work takes.

        Raises:
            TerrariumError: a field is missing, unknown or out of range; says which.
        """
        kind = job_type(self.step.work)
        try:
            return kind.model_validate({"out": self.out, **fields})
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise TerrariumError(f"{self.step.name} cannot be made from this profile: {place}: {first['msg']}.") from error

    def config_of(self, job: Job) -> dict[str, Any]:
        """The job as the fingerprint sees it: without what changes no result, paths replaced by what lies there."""
        config = json.loads(job.model_dump_json(exclude={"out"}))
        for dotted in self.step.outside:
            holder: Any = config
            *above, last = dotted.split(".")
            for key in above:
                holder = holder.get(key) if isinstance(holder, dict) else None
            if isinstance(holder, dict):
                holder.pop(last, None)
        return self._replaced({**config, **({"also": self._facts} if self._facts else {})})

    def _replaced(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._replaced(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._replaced(item) for item in value]
        if isinstance(value, str):
            for path, token in self._tokens.items():
                if value == path or value.startswith(path + "/"):
                    return token + value[len(path) :]
        return value
