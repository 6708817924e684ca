"""What an asset of this project is: a function from inputs to a job, and what Dagster must know of it.

A child process does the job and the artifact store publishes what came out (see `lineage`). No craft lives here, and no policy:
pools, retries and automation are `pipelines`' business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import dagster as dg

from resources.manifest import Artifact
from terrarium.job import Job

if TYPE_CHECKING:
    from assets.inputs import Inputs

Per = Literal["round", "recipe"]


@dataclass(frozen=True)
class PassThrough:
    """What a stage returns in place of a job when it has nothing to do: it becomes its parent, free and marked."""

    parent: Artifact
    why: str


@dataclass(frozen=True, eq=False)
class Step:
    """One step of the lineage; it makes one asset, or several that only make sense together.

    `unfinished` are counts of rows that an outage left undecided: while one is not 0 the step is not up to date, and the next run
    tries again. `outside` are fields of the job (dotted) that change no result and are no part of the fingerprint.
    """

    names: tuple[str, ...]
    group: str
    work: str
    build: Callable[[Inputs], Job | PassThrough]
    descriptions: Mapping[str, str]
    after: tuple[str, ...] = ()
    per: Per | None = None
    needs: Literal["cpu", "gpu"] = "cpu"
    kinds: frozenset[str] = frozenset()
    gates: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    volatile: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outside: tuple[str, ...] = ()
    web: bool = False
    code_version: str = "1"

    @property
    def name(self) -> str:
        return self.names[0]

    @property
    def title(self) -> str:
        """How a run calls it."""
        return " and ".join(sorted(self.names))

    @property
    def op(self) -> str:
        """The name of the op that Dagster gives it."""
        return "_and_".join(name.replace("/", "__") for name in self.names)

    @property
    def keys(self) -> list[dg.AssetKey]:
        return [dg.AssetKey(name.split("/")) for name in self.names]


def step(
    work: str,
    *,
    group: str,
    names: tuple[str, ...] | None = None,
    descriptions: Mapping[str, str] | None = None,
    kinds: Iterable[str] = ("python", "parquet"),
    **more: Any,
) -> Callable[[Callable[[Inputs], Job | PassThrough]], Step]:
    """Make a step out of a function from inputs to a job; its name and docstring are the asset's, unless others are given."""

    def wrap(build: Callable[[Inputs], Job | PassThrough]) -> Step:
        named = names or (build.__name__,)
        return Step(
            names=named,
            group=group,
            work=work,
            build=build,
            descriptions=descriptions or {named[0]: _plain(build.__doc__ or "")},
            kinds=frozenset(kinds),
            **more,
        )

    return wrap


def _plain(doc: str) -> str:
    return " ".join(doc.split())
