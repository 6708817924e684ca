"""The two tools as a rollout uses them: calls in, text for the policy out, outages told apart from answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from terrarium.agent.protocol import SEARCH
from terrarium.agent.rollout import ToolCall
from terrarium.errors import Outage
from terrarium.world.render import render_search, render_visit


class World(Protocol):
    """What a rollout needs of a world (terrarium.world.open_world gives one)."""

    @property
    def snapshot(self) -> str:
        """The name of this state of the world."""

    def search(self, queries: list[str], k: int | None = None) -> list[Any]:
        """One result a query. Raises `Outage`."""

    def visit(self, urls: list[str], goal: str) -> list[Any]:
        """One result a URL. Raises `Outage`."""

    def for_question(self, question: Any) -> Any:
        """The world as this question may see it."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What came back of a turn's calls. `outage` says which service failed; then `text` is not to be used."""

    text: str
    searches: int
    visits: int
    outage: str | None = None


def observe(world: World, calls: Sequence[ToolCall], k: int) -> Observation:
    """Carry out the calls of one turn, in order."""
    texts, searches, visits = [], 0, 0
    try:
        for call in calls:
            if call.name == SEARCH:
                results = world.search(call.arguments["query"], k)
                searches += len(results)
                texts.append(render_search(results))
            else:
                results = world.visit(call.arguments["url"], call.arguments["goal"])
                visits += len(results)
                texts.append(render_visit(results))
            failed = [result for result in results if str(result.status) == "failed"]
            if failed:
                return Observation("", searches, visits, outage=f"{call.name}: {failed[0].error or 'it failed'}")
    except Outage as error:
        return Observation("", searches, visits, outage=str(error))
    return Observation("\n".join(texts), searches, visits)
