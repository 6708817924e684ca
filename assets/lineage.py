"""All steps of a profile together: what is up to date, and how a step finds or makes its assets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from assets.checks import disagreement
from assets.inputs import Inputs
from assets.step import PassThrough, Step
from resources.artifacts import ArtifactStore
from resources.manifest import Artifact
from resources.profiles import Profile
from terrarium.errors import TerrariumError
from terrarium.job import Job, Outcome


class Lineage:
    """All steps of a profile by asset name, and what can be told of them without running one."""

    def __init__(self, profile: Profile, steps: Iterable[Step]) -> None:
        self.profile = profile
        self.steps = list(steps)
        self._by_name = {name: step for step in self.steps for name in step.names}

    def step(self, name: str) -> Step:
        """The step that makes an asset.

        Raises:
            TerrariumError: there is no such asset.
        """
        if name not in self._by_name:
            groups = ", ".join(dict.fromkeys(step.group for step in self.steps))
            raise TerrariumError(
                f"There is no asset or group {name}; there are the groups {groups}, and the assets {', '.join(sorted(self._by_name))}."
            )
        return self._by_name[name]

    def is_up_to_date(self, step: Step, partition: str | None, store: ArtifactStore) -> bool:
        """Whether what `step` made last is what its inputs would make now; False also where an input is missing."""
        inputs = Inputs(step, self, store, partition)
        try:
            built = step.build(inputs)
            made = [store.current(name, partition) for name in step.names]
            if isinstance(built, PassThrough):
                return all(artifact.path == built.parent.path and artifact.passed_through == built.why for artifact in made)
            if any(artifact.passed_through for artifact in made) or _unfinished(step, made):
                return False
            asset = step.names if len(step.names) > 1 else step.name
            return store.is_up_to_date(asset, partition, inputs.parents, inputs.config_of(built), step.code_version)
        except TerrariumError:
            return False

    def make(
        self, step: Step, partition: str | None, store: ArtifactStore, work: Callable[[Step, Job], Outcome], fresh: bool = False
    ) -> dict[str, Artifact]:
        """Find or make what `step` makes; `work(step, job)` does the job.

        Raises:
            TerrariumError: a parent is missing or did not pass a gate, or the configuration cannot be used.
        """
        inputs = Inputs(step, self, store, partition)
        built = step.build(inputs)
        if isinstance(built, PassThrough):
            return {name: store.pass_through(name, partition, built.parent, built.why) for name in step.names}
        config = inputs.config_of(built)
        asset = step.names if len(step.names) > 1 else step.name
        fresh = fresh or self._left_undecided(step, partition, store)
        attempt = store.attempt(asset, partition, inputs.parents, config, step.code_version, fresh=fresh)

        def fill(outs: Mapping[str, Path]) -> Outcome:
            job = step.build(Inputs(step, self, store, partition, outs, attempt))
            assert isinstance(job, Job)
            outcome = work(step, job)
            if said := disagreement(outcome, step.gates, step.warnings):
                raise TerrariumError(f"The work of {step.name} {said}; make the gates of work and asset agree.")
            return outcome

        if len(step.names) == 1:
            only = store.make(
                step.name,
                partition,
                inputs.parents,
                config,
                step.code_version,
                lambda out: fill({step.name: out}),
                attempt=attempt,
                volatile=step.volatile.get(step.name, ()),
            )
            return {step.name: only}
        return store.make_together(
            step.names, partition, inputs.parents, config, step.code_version, fill, attempt=attempt, volatile=dict(step.volatile)
        )

    @staticmethod
    def _left_undecided(step: Step, partition: str | None, store: ArtifactStore) -> bool:
        try:
            held = [store.current_or_none(name, partition) for name in step.names]
        except TerrariumError:
            return False
        return _unfinished(step, [artifact for artifact in held if artifact is not None])


def _unfinished(step: Step, made: Sequence[Artifact]) -> bool:
    """Whether an outage left rows undecided, so that the same inputs may give more the next time."""
    return any(artifact.manifest.counts.get(name) for artifact in made for name in step.unfinished)
