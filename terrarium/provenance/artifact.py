"""Where an artifact comes from: all it was made from, what was removed, dropped and checked on the way, and what it cost."""

from __future__ import annotations

from collections import Counter
from typing import Any

from terrarium.ledger import added
from terrarium.provenance.account import Account
from terrarium.provenance.content import data_version_of
from terrarium.provenance.state import Record, State


def tell_artifact(state: State, record: Record, verify: bool = False) -> Account:
    """The descent of one artifact.

    Args:
        verify: compute the content hash of it and of every ancestor anew, and compare it with what the manifest says.

    Raises:
        TerrariumError: an ancestor is gone.
    """
    ancestors = state.descent(record)
    family = [record, *ancestors]
    held = ", ".join(holding.name + (f" (passed through: {holding.why})" if holding.why else "") for holding in state.holdings_of(record))
    account = Account(
        kind="artifact",
        subject=record.name,
        summary=f"{record.asset}, made from {len(ancestors)} artifacts; it is now {held}."
        if held
        else f"{record.asset}; no asset is this one any more.",
    )
    manifest = record.manifest
    account.tell(
        "itself",
        {
            "content": manifest.data_version,
            "folder": state_path(state, record),
            "made at": record.making.made_at,
            "code version": manifest.code_version,
            "attempt": manifest.attempt,
            "versions": record.making.versions,
            "counts": manifest.counts,
        },
    )
    account.tell("settings", _flat(manifest.config))
    account.tell("made from", rows=[_line(state, ancestor, verify) for ancestor in ancestors])
    account.tell("world", _world(family))
    account.tell("removed sources", _removed(family))
    account.tell("judged by", _judges(family))
    account.tell("gates", rows=[row for one in family for row in _gates(one)])
    account.tell("dropped on the way", rows=[row for one in family for row in _drops(one)])
    account.tell("cost of itself", record.making.costs)
    account.tell("cost of the whole descent", added(one.making.costs for one in family))
    if verify:
        account.tell("content hashes computed anew", {one.name: verified(one) for one in family})
    return account


def verified(record: Record) -> str:
    """Whether a folder still holds what its manifest says: "as told", or what is wrong."""
    if not record.making.versions:
        return "made before the files that do not count were recorded; not checked"
    found = data_version_of(record.path, record.manifest.fingerprint, record.making.volatile)
    return "as told" if found == record.manifest.data_version else f"differs: {found}"


def state_path(state: State, record: Record) -> str:
    """The folder of an artifact, relative to the state folder."""
    return record.path.relative_to(state.folder).as_posix()


def _line(state: State, record: Record, verify: bool) -> dict[str, Any]:
    line = {
        "asset": record.asset,
        "folder": state_path(state, record),
        "content": record.manifest.data_version,
        "attempt": record.manifest.attempt,
        "made at": record.making.made_at,
    }
    return line | ({"content now": verified(record)} if verify else {})


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    """A configuration by dotted names."""
    if not isinstance(value, dict):
        return {name: value}
    found: dict[str, Any] = {}
    for key, part in value.items():
        found |= _flat(part, f"{name}.{key}" if name else str(key))
    return found


def _world(family: list[Record]) -> dict[str, Any]:
    for record in family:
        if record.asset == "world":
            return {"snapshot": snapshot_of(record), "content": record.manifest.data_version, **record.manifest.counts}
    return {}


def snapshot_of(world: Record) -> str:
    """The snapshot id of a world artifact."""
    import json

    for name in ("snapshot.json", "world.json"):
        file = world.path / name
        if file.exists():
            said = json.loads(file.read_text(encoding="utf-8"))
            return str(said.get("snapshot") or said.get("id") or "")
    return ""


def _removed(family: list[Record]) -> dict[str, Any]:
    import pyarrow.parquet as pq

    for record in family:
        file = record.path / "removed.parquet"
        if record.asset == "removed_sources" and file.exists():
            why = Counter(pq.read_table(file, columns=["why"])["why"].to_pylist())
            return {
                "pages": sum(why.values()),
                "mode": record.manifest.config.get("mode"),
                **{f"why: {reason}": count for reason, count in why.most_common()},
            }
    return {}


def _judges(family: list[Record]) -> dict[str, Any]:
    """Who said what is right, over all rollouts of the descent."""
    import pyarrow.parquet as pq

    found: Counter[str] = Counter()
    for record in family:
        file = record.path / "rollouts.parquet"
        if file.exists():
            table = pq.read_table(file, columns=["grade", "judge"])
            found.update(
                f"{judge or 'rules'}: {grade}" for grade, judge in zip(table["grade"].to_pylist(), table["judge"].to_pylist(), strict=True) if grade
            )
    return dict(found.most_common())


def _gates(record: Record) -> list[dict[str, Any]]:
    return [
        {"asset": record.asset, "gate": gate.name, "passed": gate.passed, "severity": gate.severity, "detail": gate.detail}
        for gate in record.manifest.gates
    ]


def _drops(record: Record) -> list[dict[str, Any]]:
    return [{"asset": record.asset, "reason": reason, "rows": rows} for reason, rows in record.manifest.drops.items()]
