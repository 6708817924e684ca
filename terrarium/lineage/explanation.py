"""The one form of every explanation, as JSON and for `tell`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

import terrarium
from terrarium.job import Gate
from terrarium.lineage.archive import Archive, Record
from terrarium.lineage.ledger import Prices, money
from terrarium.lineage.manifest import Parent

PRICES = Path(terrarium.__file__).parents[1] / "profiles" / "prices.yaml"


class Ancestor(BaseModel):
    """One artifact of a descent. `verified` is None where the content was not hashed again."""

    model_config = ConfigDict(extra="forbid")
    asset: str
    current_for: list[str]
    path: str
    fingerprint: str
    data_version: str
    verified: bool | None
    code_version: str
    attempt: int
    made_at: str
    versions: dict[str, str]
    parents: list[Parent]
    config: dict[str, Any]
    gates: list[Gate]
    counts: dict[str, float]
    drops: dict[str, int]
    costs: dict[str, float]


class Event(BaseModel):
    """One thing that happened to what is explained: in which asset, what, and why."""

    model_config = ConfigDict(extra="forbid")
    asset: str
    what: str
    detail: str = ""
    path: str = ""


class Costs(BaseModel):
    """Own and whole costs under the ledger's names, and what the whole would have cost live, in US dollars by provider."""

    model_config = ConfigDict(extra="forbid")
    own: dict[str, float]
    descent: dict[str, float]
    live_usd: dict[str, float]


class Explanation(BaseModel):
    """What `explain` says of one thing. `lost` are inputs that are gone or hold something else by now."""

    model_config = ConfigDict(extra="forbid")
    kind: Literal["artifact", "question", "page", "rollout"]
    id: str
    title: str
    facts: dict[str, Any] = Field(default_factory=dict)
    events: list[Event] = Field(default_factory=list)
    lineage: list[Ancestor] = Field(default_factory=list)
    lost: list[Parent] = Field(default_factory=list)
    costs: Costs


def ancestors(archive: Archive, records: Iterable[Record], verify: bool = False) -> list[Ancestor]:
    """Records as they are shown; with `verify` every content is hashed again."""
    return [
        Ancestor(
            asset=record.asset,
            current_for=archive.names(record),
            path=record.path,
            fingerprint=record.manifest.fingerprint,
            data_version=record.manifest.data_version,
            verified=record.verified() if verify else None,
            code_version=record.manifest.code_version,
            attempt=record.manifest.attempt,
            made_at=record.making.made_at,
            versions=record.making.versions,
            parents=record.manifest.parents,
            config=record.manifest.config,
            gates=record.manifest.gates,
            counts=record.manifest.counts,
            drops=record.manifest.drops,
            costs=record.making.costs,
        )
        for record in records
    ]


def costs_of(archive: Archive, own: Iterable[Record], descent: Iterable[Record]) -> Costs:
    """The costs of a thing, under the project's price file."""
    whole = archive.costs(*descent)
    return Costs(own=archive.costs(*own), descent=whole, live_usd=money(whole, Prices.read(PRICES)))
