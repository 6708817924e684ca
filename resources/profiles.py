"""Profiles and recipes: the only place that chooses implementations and sizes.

A profile (profiles/<name>.yaml) says which web, seeds, embedder, model and sizes; a recipe (curricula/<name>.yaml) says how the
stages of reinforcement learning go. `grpo-s1` is recipe `grpo` with seed 1. Nothing here is computed: files in, validated models out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Section(BaseModel):
    """Base of all sections: unknown keys are errors, values are within their ranges."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Serve(Section):
    """A web the profile brings: `command` follows `python`; `ready_url` is asked through the web's proxy until it answers."""

    command: list[str]
    ready_url: str
    patience_seconds: float = Field(60.0, gt=0)


class Difficulty(Section):
    """How a stage's questions are chosen: candidates in seeded order until `survivors` pass or `candidates` were tried."""

    attempts: int = Field(ge=2, le=64)
    survivors: int = Field(ge=1)
    candidates: int = Field(ge=1)
    minimum: int = Field(ge=0, description="fewer survivors than this is too little for a stage")
    when_too_few: str = Field("fail", pattern="^(fail|pass_through)$")


class Recipe(Section):
    """One recipe with its seed. `stages` are StageSettings, the profile's sizes already laid over them."""

    name: str
    recipe: str
    seed: int
    stages: tuple[Any, ...]

    def stage(self, number: int) -> Any | None:
        """Settings of stage `number` (from 1), or None where the recipe has no such stage: it passes its parent through."""
        return self.stages[number - 1] if 1 <= number <= len(self.stages) else None


class Profile(Section):
    """Everything a run of the lineage is told."""

    name: str
    description: str
    recipes: list[str] = Field(min_length=1)
    serve: Serve | None = None
    difficulty: Difficulty

    @property
    def stages(self) -> int:
        """How many stages the graph has: the most that any recipe of the profile has."""
        raise NotImplementedError

    def recipe(self, name: str) -> Recipe:
        """The recipe of a partition key such as `grpo-s1`.

        Raises:
            TerrariumError: no such recipe, or a value out of range; says which file and which key.
        """
        raise NotImplementedError


def load_profile(name: str, overrides: Mapping[str, Any] | None = None) -> Profile:
    """Read profiles/<name>.yaml (or a path to a YAML file). `overrides` are dotted keys: {"difficulty.attempts": 2}.

    `${NAME}` in a value is an environment variable, `${NAME:-value}` one with a default.

    Raises:
        TerrariumError: one sentence: unknown profile, unknown key, value out of range, variable not set; says which file and which key.
    """
    raise NotImplementedError
