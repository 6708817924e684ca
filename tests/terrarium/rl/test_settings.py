"""Recipes and profiles come together: who wins, what a stage that is not there means, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from terrarium.agent.settings import AgentSettings
from terrarium.errors import TerrariumError
from terrarium.rl.settings import load_recipe, resolve_stage

CURRICULA = Path(__file__).parents[3] / "curricula"


def sizes(context: int, **more: Any) -> dict[str, Any]:
    return {"context": context, "turns": 4, "tokens_a_turn": 96, "questions": 4, "group": 4, "steps": 10, **more}


PROFILE = {1: sizes(512, learning_rate=1e-5), 2: sizes(768, steps=12), 3: sizes(1024)}


@pytest.mark.parametrize("path", sorted(CURRICULA.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_recipe_is_valid_and_says_where_its_numbers_are_from(path: Path) -> None:
    recipe = load_recipe(path)
    assert recipe.sources
    assert any(resolve_stage(recipe, PROFILE, number) for number in PROFILE)


def test_the_profile_sizes_what_the_recipe_lists() -> None:
    recipe = load_recipe(CURRICULA / "grpo.yaml")
    stages = [resolve_stage(recipe, PROFILE, number) for number in (1, 2, 3)]
    assert [stage and stage.context for stage in stages] == [512, 768, 1024]
    assert [stage and stage.learning_rate for stage in stages] == [1e-5, recipe.method.learning_rate, recipe.method.learning_rate]
    assert resolve_stage(recipe, PROFILE, 4) is None


def test_one_long_stage_lacks_the_first_two_and_has_the_steps_of_all() -> None:
    recipe = load_recipe(CURRICULA / "one_long_stage.yaml")
    assert resolve_stage(recipe, PROFILE, 1) is None and resolve_stage(recipe, PROFILE, 2) is None
    stage = resolve_stage(recipe, PROFILE, 3)
    assert stage is not None and (stage.context, stage.steps, stage.number) == (1024, 32, 3)


def written(tmp_path: Path, **changes: Any) -> Path:
    data = yaml.safe_load((CURRICULA / "grpo.yaml").read_text()) | changes
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(data))
    return tmp_path / "mine.yaml"


def test_an_override_of_the_recipe_wins(tmp_path: Path) -> None:
    recipe = load_recipe(written(tmp_path, stages=[1, {"stage": 2, "override": {"temperature": 0.7, "steps": 3}}]))
    stage = resolve_stage(recipe, PROFILE, 2)
    assert stage is not None and (stage.temperature, stage.steps, stage.context) == (0.7, 3, 768)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"stages": []}, "stages"),
        ({"stages": [2, 1]}, "not in order"),
        ({"colour": "blue"}, "colour"),
        ({"method": {"std": "population"}}, "method.clip_low"),
    ],
)
def test_a_recipe_that_is_wrong_is_refused_with_the_place(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(TerrariumError, match=says):
        load_recipe(written(tmp_path, **changes))


def test_unknown_and_unreadable_recipes(tmp_path: Path) -> None:
    with pytest.raises(TerrariumError, match="known recipes are: .*grpo"):
        load_recipe(CURRICULA / "gpro.yaml")
    (tmp_path / "broken.yaml").write_text("a: [1")
    with pytest.raises(TerrariumError, match="not readable YAML"):
        load_recipe(tmp_path / "broken.yaml")


def test_sizes_that_are_wrong_or_missing() -> None:
    recipe = load_recipe(CURRICULA / "grpo.yaml")
    with pytest.raises(TerrariumError, match="group"):
        resolve_stage(recipe, {1: sizes(512, group=1)}, 1)
    with pytest.raises(TerrariumError, match="sizes of stage 2"):
        resolve_stage(recipe, {1: sizes(512)}, 2)
    with pytest.raises(TerrariumError, match="sizes of stage 1"):
        resolve_stage(load_recipe(CURRICULA / "one_long_stage.yaml"), {3: sizes(1024)}, 3)


def test_a_stage_sets_the_agents_limits() -> None:
    base = AgentSettings(context_tokens=4096, turns=9, tokens_a_turn=256, search_k=7)
    stage = resolve_stage(load_recipe(CURRICULA / "grpo.yaml"), PROFILE, 1)
    assert stage is not None
    agent = stage.agent(base)
    assert (agent.context_tokens, agent.turns, agent.tokens_a_turn, agent.temperature, agent.search_k) == (512, 4, 96, 1.0, 7)
