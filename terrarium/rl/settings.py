"""What a stage of the curriculum is: the recipe says how it learns, the profile how large it is, `resolve_stage` puts both together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from terrarium.agent.settings import AgentSettings
from terrarium.errors import TerrariumError
from terrarium.rl.advantages import Deviation

Precision = Literal["auto", "float32", "bfloat16"]


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StageSizes(_Frozen):
    """How large a stage is: what a profile says about stage k. Lengths are tokens.

    A None means that the profile leaves the recipe's number as it is.
    """

    context: int = Field(gt=0, description="tokens of a rollout, prompt and observations included")
    turns: int = Field(gt=0, description="turns of a rollout before the answer is forced")
    tokens_a_turn: int = Field(gt=0)
    questions: int = Field(gt=0, description="questions (groups) a step")
    group: int = Field(ge=2, description="rollouts a question and step")
    steps: int = Field(gt=0, description="updates of the stage")
    attempts: int = Field(default=4, ge=2, description="n of pass@n: rollouts of the starting policy a candidate question")
    survivors: int = Field(default=16, gt=0, description="candidates are tried until this many have 1 to n-1 correct")
    candidates: int = Field(default=64, gt=0, description="or until this many were tried")
    minimum: int = Field(default=16, ge=0, description="with fewer survivors the stage passes its parent through")
    validate_every: int | None = Field(default=None, gt=0, description="steps between looks at validation questions; None = never")
    validation_questions: int = Field(default=40, gt=0, description="how many of them, the same at every look")
    patience: int | None = Field(default=None, gt=0, description="stop after so many looks without a better one; None = make all steps")
    learning_rate: float | None = Field(default=None, gt=0, lt=1)
    temperature: float | None = Field(default=None, gt=0)
    save_every: int | None = Field(default=None, gt=0)
    micro_batch: int | None = Field(default=None, gt=0)
    precision: Precision | None = None


class Method(_Frozen):
    """How a recipe learns; the same on every machine."""

    algorithm: Literal["grpo"] = "grpo"
    std: Deviation = Field(description="deviation that a group's rewards are divided by")
    clip_low: float = Field(gt=0, lt=1)
    clip_high: float = Field(gt=0)
    kl: Literal[0] = Field(description="weight of a KL term; the trainer has none")
    entropy: Literal[0] = Field(description="weight of an entropy bonus; the trainer has none")
    importance_cap: float = Field(gt=0, description="token-level importance weights of training over sampling engine are cut off here")
    learning_rate: float = Field(gt=0, lt=1, description="constant over the stage")
    weight_decay: float = Field(ge=0)
    betas: tuple[float, float]
    max_grad_norm: float = Field(gt=0)
    temperature: float = Field(gt=0)
    save_every: int = Field(default=2, gt=0, description="steps between checkpoints inside the stage")
    micro_batch: int = Field(default=1, gt=0, description="rollouts a forward pass; 1 wastes nothing on padding")
    precision: Precision = Field(default="auto", description="of the training pass (weights stay float32); auto = bfloat16 on hardware made for it")
    difficulty_filter: bool = Field(default=True, description="train only on questions with 1 to n-1 of n attempts correct")

    @model_validator(mode="after")
    def _clip_is_a_range(self) -> Method:
        if self.clip_high < self.clip_low:
            raise ValueError("clip_high lies below clip_low")
        return self


class RecipeStage(_Frozen):
    """One stage of a recipe. `steps_of` = as many steps as the profile gives these stages together; `override` = any size or number."""

    stage: int = Field(ge=1)
    steps_of: tuple[int, ...] = ()
    override: dict[str, Any] = Field(default_factory=dict)


class Recipe(_Frozen):
    """One file of `curricula/`. A stage that is not listed passes its parent through. `sources` is for readers: where each number is from."""

    description: str
    method: Method
    sources: dict[str, str]
    stages: tuple[RecipeStage, ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _plain_numbers_are_stages(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("stages"), list):
            data = {**data, "stages": [{"stage": item} if isinstance(item, int) else item for item in data["stages"]]}
        return data

    @model_validator(mode="after")
    def _each_stage_once(self) -> Recipe:
        numbers = [entry.stage for entry in self.stages]
        if numbers != sorted(set(numbers)):
            raise ValueError(f"stages {numbers} are not in order, each once")
        return self


class StageSettings(StageSizes, Method):
    """Everything one stage trains with: sizes and method together."""

    number: int = Field(ge=1, description="k of stage_k")
    learning_rate: float = Field(gt=0, lt=1)
    temperature: float = Field(gt=0)
    save_every: int = Field(gt=0)
    micro_batch: int = Field(gt=0)
    precision: Precision

    def agent(self, base: AgentSettings) -> AgentSettings:
        """The profile's agent under this stage's limits and temperature."""
        limits = {"context_tokens": self.context, "turns": self.turns, "tokens_a_turn": self.tokens_a_turn, "temperature": self.temperature}
        return AgentSettings.model_validate({**base.model_dump(), **limits})

    @property
    def rollouts_a_step(self) -> int:
        return self.questions * self.group


def load_recipe(path: Path) -> Recipe:
    """Read a recipe file.

    Raises:
        TerrariumError: the file is missing, no YAML, or says something a recipe cannot say.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        return Recipe.model_validate(data)
    except FileNotFoundError:
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.yaml"))) or "none"
        raise TerrariumError(f"There is no recipe {path.stem}: {path} does not exist; known recipes are: {known}.") from None
    except yaml.YAMLError as error:
        raise TerrariumError(f"The recipe {path} is not readable YAML ({str(error).splitlines()[0]}); mend that place.") from error
    except ValidationError as error:
        raise TerrariumError(f"The recipe {path} is not valid: {_first(error)}.") from error


def resolve_stage(recipe: Recipe, profile_stages: Mapping[int, StageSizes | Mapping[str, Any]], k: int) -> StageSettings | None:
    """What stage `k` of `recipe` trains with under a profile; None where the recipe lacks the stage, which then passes its parent through.

    Later wins: the recipe's method, the profile's sizes of stage k, the recipe's override of stage k.

    Raises:
        TerrariumError: the profile has no sizes for a stage that the recipe needs, or a value is out of range.
    """
    entry = next((entry for entry in recipe.stages if entry.stage == k), None)
    if entry is None:
        return None
    for needed in (k, *entry.steps_of):
        if needed not in profile_stages:
            raise TerrariumError(f"The recipe needs the sizes of stage {needed}, and the profile has stages {sorted(profile_stages)}; add it there.")
    sizes = _plain(profile_stages[k])
    if entry.steps_of:
        sizes["steps"] = sum(_plain(profile_stages[other])["steps"] for other in entry.steps_of)
    try:
        return StageSettings.model_validate({**recipe.method.model_dump(), **sizes, **entry.override, "number": k})
    except ValidationError as error:
        raise TerrariumError(f"Stage {k} cannot be put together from recipe and profile: {_first(error)}.") from error


def _plain(sizes: StageSizes | Mapping[str, Any]) -> dict[str, Any]:
    try:
        model = sizes if isinstance(sizes, StageSizes) else StageSizes.model_validate(sizes)
    except ValidationError as error:
        raise TerrariumError(f"The profile's sizes of a stage are not valid: {_first(error)}.") from error
    return model.model_dump(exclude_none=True)


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}"
