"""The table at the end of `make run`: what was grown, what each gate cost and why, how well the agent does, what it would have cost live."""

from __future__ import annotations

import json
import resource
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from assets.lineage import Lineage
from pipelines.board import span
from resources.artifacts import ArtifactStore
from resources.manifest import Artifact
from terrarium.errors import TerrariumError
from terrarium.lineage.archive import Archive
from terrarium.lineage.ledger import LARGEST

DROPPING = (
    ("seed_pages", "round"),
    ("extracted_questions", "round"),
    ("screened_questions", "round"),
    ("crawled_pages", "round"),
    ("candidate_pages", None),
    ("answerable_questions", None),
    ("teacher_trajectories", None),
    ("curated_trajectories", None),
)


def show(
    console: Console,
    lineage: Lineage,
    store: ArtifactStore,
    rounds: Sequence[str],
    recipes: Sequence[str],
    seconds: float,
    peak_bytes: int,
    worked: int,
) -> None:
    """Print everything that exists now; what was not made is left out."""
    grown = _grown(store, rounds)
    if grown.row_count:
        console.print(grown)
    drops = _drops(store, rounds)
    if drops.row_count:
        console.print(drops)
    for recipe in recipes:
        report = _made(store, "evaluation_report", recipe)
        if report is not None:
            _recipe(console, recipe, report, json.loads(report.file("scores.json").read_text(encoding="utf-8")))
        for k in range(lineage.profile.stages, -1, -1):
            name = f"stage_{k}/checkpoint" if k else "sft_checkpoint"
            checkpoint = _made(store, name, recipe if k else None)
            if checkpoint is not None:
                console.print(f"Last checkpoint of {recipe}: {checkpoint.path}", soft_wrap=True)
                break
    costs = _costs(store)
    if costs.row_count:
        console.print(costs)
    # Children that were waited for, and their children; the sampled sum misses what is shorter than its interval.
    largest = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) * 1024
    did = f"{worked} steps worked on" if worked else "nothing had changed, no step had work"
    console.print(f"{span(seconds)}, {did}; peak memory {max(peak_bytes, largest) / 1e9:.1f} GB. All of it in the UI: make ui", highlight=False)


def _made(store: ArtifactStore, name: str, partition: str | None) -> Artifact | None:
    try:
        return store.current_or_none(name, partition)
    except TerrariumError:
        return None


def _all(store: ArtifactStore, name: str, per: str | None, rounds: Sequence[str]) -> list[Artifact]:
    found = [_made(store, name, partition) for partition in (rounds if per else [None])]
    return [artifact for artifact in found if artifact is not None]


def _rows(artifacts: Sequence[Artifact], file: str) -> int:
    return sum(pq.read_metadata(artifact.file(file)).num_rows for artifact in artifacts if artifact.file(file).exists())


def _grown(store: ArtifactStore, rounds: Sequence[str]) -> Table:
    table = Table("what", "how many", title="Grown", title_justify="left", box=None)
    pages = (("seed pages", "seed_pages", "round"), ("crawled pages", "crawled_pages", "round"), ("candidate pages", "candidate_pages", None))
    for words, name, per in pages:
        if found := _all(store, name, per, rounds):
            table.add_row(words, f"{_rows(found, 'pages.parquet'):,}")
    if found := _all(store, "removed_sources", None, rounds):
        table.add_row("removed from the world", f"{_rows(found, 'removed.parquet'):,}")
    questions = (("extracted questions", "extracted_questions", "round"), ("screened", "screened_questions", "round"))
    for words, name, per in (*questions, ("answerable", "answerable_questions", None)):
        if found := _all(store, name, per, rounds):
            by_capability: Counter[str] = Counter()
            for artifact in found:
                by_capability.update(pq.read_table(artifact.file("questions.parquet"), columns=["capability"])["capability"].to_pylist())
            kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(by_capability.items()))
            table.add_row(words, f"{sum(by_capability.values()):,}" + (f" ({kinds})" if kinds else ""))
    if found := _all(store, "answerable_questions", None, rounds):
        splits = Counter(pq.read_table(found[0].file("questions.parquet"), columns=["split"])["split"].to_pylist())
        table.add_row("  by split", ", ".join(f"{split} {count:,}" for split, count in sorted(splits.items(), key=str)))
    if found := _all(store, "curated_trajectories", None, rounds):
        table.add_row("trajectories for the cold start", f"{_rows(found, 'trajectories.parquet'):,}")
    return table


def _drops(store: ArtifactStore, rounds: Sequence[str]) -> Table:
    table = Table("gate", "dropped", "why", title="Dropped", title_justify="left", box=None)
    for name, per in DROPPING:
        reasons: Counter[str] = Counter()
        for artifact in _all(store, name, per, rounds):
            reasons.update(artifact.manifest.drops)
        if reasons:
            table.add_row(name, f"{sum(reasons.values()):,}", ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common()))
    return table


def _costs(store: ArtifactStore) -> Table:
    """What everything that is current cost, with all it was made from: each artifact once, whenever it was made."""
    table = Table("cost", "how much", title="Costs of all that was grown", title_justify="left", box=None)
    if not (store.folder / "artifacts").is_dir():
        return table
    archive = Archive(store.folder)
    for name, value in archive.costs(*archive.living).items():
        if name not in LARGEST:
            table.add_row(name, f"{value:,.0f}")
    return table


def _recipe(console: Console, recipe: str, report: Artifact, scores: Mapping[str, Any]) -> None:
    table = Table("checkpoint", "right", "95% interval", "by capability", title=f"Held-out questions, {recipe}", title_justify="left", box=None)
    for name, score in scores["models"].items():
        accuracy = score["accuracy"]
        kinds = ", ".join(f"{kind} {part['hits']}/{part['total']}" for kind, part in score["by_capability"].items() if part["total"])
        table.add_row(name, _share(accuracy), _interval(accuracy), kinds)
    console.print(table)
    stages = Table("stage", "right of n: questions", "survivors", "steps", "groups with spread", "at the limit", title_justify="left", box=None)
    stages.title = "Stages"
    for name, stage in scores["stages"].items():
        if "passed_through" in stage and "histogram" not in stage:
            stages.add_row(name, f"passed through: {stage['passed_through']}", "", "", "", "")
            continue
        histogram = stage.get("histogram", {})
        pairs = histogram.items() if isinstance(histogram, Mapping) else enumerate(histogram)
        spread = stage.get("groups_with_spread")
        stages.add_row(
            name,
            "  ".join(f"{right}: {count}" for right, count in pairs),
            f"{stage.get('survivors', '')} of {stage.get('tried', '')}",
            str(stage.get("steps", stage.get("passed_through", ""))),
            "" if spread is None else f"{spread:.0%}",
            _share(stage["at_limit"]) if "at_limit" in stage else "",
        )
    if stages.row_count:
        console.print(stages)
    calls = scores["tool_calls"]
    live = ", ".join(f"${cost:,.2f} with {provider}" for provider, cost in calls["live_cost_usd"].items())
    made = f"{calls['searches']:,} searches and {calls['visits']:,} visits"
    console.print(f"{made}; live they would have cost {live or 'an unknown price'}", highlight=False)
    console.print(f"Report: {report.file('report.html')}", soft_wrap=True)


def _share(share: Mapping[str, Any]) -> str:
    return "–" if share["value"] is None else f"{share['value']:.0%} ({share['hits']}/{share['total']})"


def _interval(share: Mapping[str, Any]) -> str:
    return "" if share["value"] is None else f"{share['low']:.0%} to {share['high']:.0%}"
