"""What a running `make ui` is asked: assets with the state of their partitions, backfills launched and followed. Its GraphQL, the UI's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from terrarium.errors import TerrariumError

_ASSETS = """
query Assets { assetNodes {
  assetKey { path } groupName isPartitioned partitionKeys dependencyKeys { path }
  assetPartitionStatuses { ... on DefaultPartitionStatuses { materializedPartitions failedPartitions materializingPartitions } }
} }
"""
_DAEMONS = "query Daemons { instance { daemonHealth { allDaemonStatuses { daemonType required healthy } } } }"
_LAUNCH = """
mutation Launch($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
  __typename
  ... on LaunchBackfillSuccess { backfillId }
  ... on Error { message }
} }
"""
_BACKFILL = """
query Backfill($id: String!) { partitionBackfillOrError(backfillId: $id) {
  __typename
  ... on Error { message }
  ... on PartitionBackfill { status error { message } assetBackfillData { assetBackfillStatuses { ... on AssetPartitionsStatusCounts {
    assetKey { path } numPartitionsTargeted numPartitionsMaterialized numPartitionsFailed } } } }
} }
"""


@dataclass(frozen=True)
class Asset:
    """One asset as the console knows it. `made`, `failed` and `running` are partition keys."""

    name: str
    group: str
    partitions: tuple[str, ...]
    parents: tuple[str, ...]
    made: frozenset[str]
    failed: frozenset[str]
    running: frozenset[str]


@dataclass(frozen=True)
class Backfill:
    """How far a backfill is. `failed` and `left` are partitions by asset that failed, or were neither made nor failed."""

    status: str
    error: str | None
    failed: Mapping[str, int]
    left: Mapping[str, int]

    @property
    def ended(self) -> bool:
        return self.status.startswith("COMPLETED") or self.status in ("FAILED", "CANCELED")


class Console:
    """A running webserver of this project, at an address such as http://127.0.0.1:3000."""

    def __init__(self, address: str, seconds: float = 30.0) -> None:
        self.address = address.rstrip("/")
        self._client = httpx.Client(timeout=seconds, trust_env=False)

    def __enter__(self) -> Console:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def assets(self) -> list[Asset]:
        """All assets of the code location, whatever their partitions are."""
        found = []
        for node in self.ask(_ASSETS)["assetNodes"]:
            state = node["assetPartitionStatuses"] or {}
            found.append(
                Asset(
                    name="/".join(node["assetKey"]["path"]),
                    group=node["groupName"],
                    partitions=tuple(node["partitionKeys"]) if node["isPartitioned"] else (),
                    parents=tuple("/".join(key["path"]) for key in node["dependencyKeys"]),
                    made=frozenset(state.get("materializedPartitions", ())),
                    failed=frozenset(state.get("failedPartitions", ())),
                    running=frozenset(state.get("materializingPartitions", ())),
                )
            )
        return found

    def require_daemon(self) -> None:
        """Raise TerrariumError where no daemon would ever work on a backfill."""
        statuses = self.ask(_DAEMONS)["instance"]["daemonHealth"]["allDaemonStatuses"]
        dead = [one["daemonType"] for one in statuses if one["daemonType"] in ("BACKFILL", "QUEUED_RUN_COORDINATOR") and not one["healthy"]]
        if dead:
            raise TerrariumError(
                f"The daemon of {self.address} does not work ({', '.join(sorted(dead))}), so that a backfill would wait for ever; "
                "start both with `make ui`."
            )

    def launch(self, partitions: Mapping[str, Sequence[str]], title: str = "") -> str:
        """Launch one backfill of assets, each with its own partitions; its id.

        Raises:
            TerrariumError: it was refused; says why.
        """
        params = {
            "partitionsByAssets": [
                {"assetKey": {"path": name.split("/")}, "partitions": {"ranges": [{"start": key, "end": key} for key in keys]}}
                for name, keys in partitions.items()
            ],
            "title": title or None,
        }
        answer = self.ask(_LAUNCH, {"params": params})["launchPartitionBackfill"]
        if "backfillId" not in answer:
            raise TerrariumError(f"The backfill was refused: {answer.get('message') or answer['__typename']}")
        return str(answer["backfillId"])

    def backfill(self, identity: str) -> Backfill:
        """How far a backfill is.

        Raises:
            TerrariumError: there is none of that id.
        """
        answer = self.ask(_BACKFILL, {"id": identity})["partitionBackfillOrError"]
        if "status" not in answer:
            raise TerrariumError(f"The backfill {identity} is not known to {self.address}: {answer.get('message') or answer['__typename']}")
        counts = {"/".join(one["assetKey"]["path"]): one for one in (answer["assetBackfillData"] or {}).get("assetBackfillStatuses", ()) if one}
        failed = {name: one["numPartitionsFailed"] for name, one in counts.items() if one["numPartitionsFailed"]}
        left = {name: one["numPartitionsTargeted"] - one["numPartitionsMaterialized"] - one["numPartitionsFailed"] for name, one in counts.items()}
        error = answer["error"]["message"].strip().splitlines()[0] if answer["error"] else None
        return Backfill(answer["status"], error, failed, {name: count for name, count in left.items() if count})

    def ask(self, query: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The data that a query gives.

        Raises:
            TerrariumError: nothing answers, or the query failed.
        """
        try:
            response = self._client.post(f"{self.address}/graphql", json={"query": query, "variables": dict(variables or {})})
            answer = response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise TerrariumError(
                f"No Dagster UI answers at {self.address} ({type(error).__name__}); start it with `make ui`, or name another with --ui."
            ) from error
        if answer.get("errors"):
            raise TerrariumError(f"The Dagster UI at {self.address} could not answer: {str(answer['errors'][0].get('message'))[:300]}")
        return dict(answer["data"])
