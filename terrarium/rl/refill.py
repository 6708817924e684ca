"""Outages: a rollout that a service cut short is tried again under another number; it is never a wrong answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from terrarium.agent.loop import Task
from terrarium.agent.rollout import Rollout

# A service that restarts is back within a minute; one that is not is for a person to look at.
PAUSES = (2.0, 10.0, 45.0)


@dataclass(slots=True)
class Tried:
    """`rollouts` answers the tasks in order, the last try of each; `lost` are the earlier ones that outages cut short."""

    rollouts: list[Rollout]
    lost: list[Rollout] = field(default_factory=list)

    @property
    def outages(self) -> int:
        """Tasks that are still undecided."""
        return sum(rollout.termination.outage for rollout in self.rollouts)


def run_with_refills(
    run: Callable[[Sequence[Task]], list[Rollout]],
    tasks: Sequence[Task],
    attempts: int,
    pauses: Sequence[float] = PAUSES,
    sleep: Callable[[float], None] = time.sleep,
) -> Tried:
    """Run `tasks`, then those again that an outage cut short, after growing pauses.

    Args:
        attempts: how many attempts a question has; the r-th refill of attempt a is number a + r * attempts, so that its noise is new.
    """
    tried = Tried(run(tasks))
    for number, pause in enumerate(pauses, start=1):
        lost = [place for place, rollout in enumerate(tried.rollouts) if rollout.termination.outage]
        if not lost:
            break
        sleep(pause)
        again = run([Task(tasks[place].question, tasks[place].attempt + number * attempts) for place in lost])
        for place, rollout in zip(lost, again, strict=True):
            tried.lost.append(tried.rollouts[place])
            tried.rollouts[place] = rollout
    return tried
