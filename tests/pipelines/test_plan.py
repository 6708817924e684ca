"""Segments keep parents before children; --from and --until choose what lies below and above."""

from __future__ import annotations

import dagster as dg
import pytest

from assets.graph import graph
from assets.lineage import Lineage
from pipelines.plan import choose, ordered, segments
from resources.profiles import load_profile
from terrarium.errors import TerrariumError


@pytest.fixture(scope="module")
def laptop() -> Lineage:
    return graph(load_profile("laptop"))


def names(steps: object) -> set[str]:
    return {name for step in steps for name in step.names}  # type: ignore[attr-defined]


def test_parents_stand_before_children(laptop: Lineage) -> None:
    seen: set[str] = set()
    for step in ordered(laptop):
        assert set(step.after) <= seen
        seen |= set(step.names)
    assert seen == names(laptop.steps)


def test_segments_are_few_and_in_order(laptop: Lineage) -> None:
    found = segments(laptop, ["round_001", "round_002"], ["grpo-s1"])
    kinds = [(segment.steps[0].per, segment.partition) for segment in found]
    assert kinds == [(None, None), ("round", "round_001"), ("round", "round_002"), (None, None), ("recipe", "grpo-s1"), (None, None)]
    assert [step for segment in found if segment.partition != "round_002" for step in segment.steps].__len__() == len(laptop.steps)


def test_from_a_group_on(laptop: Lineage) -> None:
    below = names(choose(laptop, "stage_2", None))
    assert {"stage_2/policy_rollouts", "stage_3/checkpoint", "evaluation_report", "recipe_comparison"} <= below
    assert not {"stage_1/checkpoint", "world", "stage_0/evaluation"} & below


def test_until_an_asset(laptop: Lineage) -> None:
    above = names(choose(laptop, None, "world"))
    assert {"world", "page_store", "seed_pages", "benchmarks"} <= above
    assert not {"answerable_questions", "base_model"} & above
    assert names(choose(laptop, "candidate_pages", "world")) == {"candidate_pages", "removed_sources", "page_store", "search_index", "world"}


def test_unknown_names_and_empty_choices_are_one_sentence(laptop: Lineage) -> None:
    with pytest.raises(TerrariumError, match="There is no asset or group wolrd"):
        choose(laptop, None, "wolrd")
    with pytest.raises(TerrariumError, match="Nothing lies between"):
        choose(laptop, "stage_2", "world")


def test_an_asset_backfill_of_stages_keeps_their_order(laptop: Lineage) -> None:
    """All steps of a recipe's stages lie in one run each, and inside it children wait for their parents."""
    from pipelines.definitions import build_definitions

    asset_graph = build_definitions(laptop.profile).resolve_asset_graph()
    order = [key.to_user_string() for level in asset_graph.toposorted_asset_keys_by_level for key in level]
    for k in (2, 3):
        chain = [f"stage_{k - 1}/checkpoint", *(f"stage_{k}/{name}" for name in ("policy_rollouts", "questions", "checkpoint", "evaluation"))]
        assert sorted(chain, key=order.index) == chain
    stages = [asset_graph.get(dg.AssetKey(name.split("/"))) for name in order if name.startswith("stage_")]
    assert len({tuple(node.partitions_def.get_partition_keys()) for node in stages if node.partitions_def}) == 1
