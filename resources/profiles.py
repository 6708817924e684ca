"""Profiles and recipes: the only place that chooses implementations and sizes.

A profile (profiles/<name>.yaml) says which web, seeds, embedder, model and sizes; a recipe (curricula/<name>.yaml) says how the
stages of reinforcement learning learn. `grpo-s1` is recipe `grpo` with seed 1. Files in, validated models out; nothing is computed here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from resources.settings_files import HOME, lay_over, read_settings, sentence_of
from terrarium.agent.settings import AgentSettings
from terrarium.corpus.candidates import MergeSettings
from terrarium.corpus.seeds import SeedSource
from terrarium.corpus.web import Limits, WebSettings
from terrarium.corpus.websearch import SearchSettings
from terrarium.errors import TerrariumError
from terrarium.evaluation.benchmarks import BenchmarkFile
from terrarium.evaluation.run import EvaluationSettings
from terrarium.questions.extract import ExtractSettings
from terrarium.questions.question import CAPABILITIES, Capability
from terrarium.questions.screen import ScreenSettings
from terrarium.questions.support import SupportSettings
from terrarium.rl.settings import StageSettings, StageSizes, load_recipe, resolve_stage
from terrarium.sft.base_model import ModelSource
from terrarium.sft.curate import CurateSettings
from terrarium.sft.settings import SftSettings
from terrarium.world.embed import EmbedderSettings
from terrarium.world.index import IndexSettings
from terrarium.world.tools import ToolSettings

PROFILES = HOME / "profiles"
CURRICULA = HOME / "curricula"
SEED_ENDINGS = {
    ".xml": "wikipedia",
    ".xml.bz2": "wikipedia",
    ".jsonl.zst": "lite_jsonl_zst",
    ".jsonl": "jsonl",
    ".parquet": "parquet_news",
    ".txt": "urls",
}
_RECIPE_NAME = re.compile(r"(?P<recipe>[a-z0-9_]+)-s(?P<seed>\d+)")


class Section(BaseModel):
    """Base of all sections: unknown keys are errors, values are within their ranges."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Serve(Section):
    """A web the profile brings: `command` follows `python`; it is up when `ready_url`, asked through the web's proxy, answers with 200."""

    command: tuple[str, ...] = Field(min_length=1)
    ready_url: str
    identity: str | None = Field(default=None, description="must stand in the server's `Server` header, or it is another web on the same port")
    patience_seconds: float = Field(default=60.0, gt=0)


class Teacher(Section):
    """Who makes the trajectories of the cold start, and on how many questions at most."""

    agent: AgentSettings
    limit: int = Field(ge=1)
    capabilities: tuple[Capability, ...] = CAPABILITIES
    quotes: bool = Field(default=True, description="thoughts quote the sentence that answers")


class Evaluation(Section):
    """How every checkpoint of a profile is measured."""

    agent: AgentSettings
    settings: EvaluationSettings


class Machine(Section):
    """What the machine gives: how many children compute at once where there is no GPU."""

    cpu_slots: int = Field(default=1, ge=1)


class Recipe(Section):
    """One recipe with its seed. `stages` maps k to the settings of stage k, the profile's sizes laid over the recipe's method."""

    name: str
    recipe: str
    seed: int
    stages: dict[int, StageSettings]

    def stage(self, number: int) -> StageSettings | None:
        """Settings of stage `number` (from 1), or None where the recipe has no such stage: it passes its parent through."""
        return self.stages.get(number)


class Profile(Section):
    """Everything a run of the lineage is told."""

    name: str
    description: str
    seed: int = Field(default=0, ge=0)
    machine: Machine = Machine()

    # Corpus
    seeds: tuple[SeedSource, ...] = Field(min_length=1)
    web: WebSettings | None = None
    serve: Serve | None = None
    search: SearchSettings | None = None
    limits: Limits = Limits()
    candidates: MergeSettings = MergeSettings()

    # Questions
    questions: ExtractSettings
    screen: ScreenSettings = ScreenSettings()
    removal: Literal["corpus", "question", "none"] = "corpus"
    answerable: SupportSettings
    benchmarks: tuple[BenchmarkFile, ...] = ()

    # World
    embedder: EmbedderSettings
    index: IndexSettings = IndexSettings()
    store_url: str | None = None
    tools: ToolSettings

    # Policies
    agent: AgentSettings
    base_model: ModelSource
    teacher: Teacher
    curation: CurateSettings
    sft: SftSettings
    stage_sizes: dict[int, StageSizes]
    recipes: tuple[str, ...] = Field(min_length=1)
    evaluation: Evaluation
    prices: dict[str, float] = Field(default_factory=dict, description="US dollars a thousand calls, for what a live web would have cost")

    @model_validator(mode="before")
    @classmethod
    def _put_together(cls, settings: Any) -> Any:
        """What a person writes once is said once: how sources are removed, the file that the cold start's settings stand in, a bare seed."""
        if not isinstance(settings, dict):
            return settings
        filled = dict(settings)
        if isinstance(filled.get("sft"), str):
            filled["sft"] = sft_settings(filled["sft"])
        if isinstance(filled.get("seeds"), str):
            filled["seeds"] = [seed_of(filled["seeds"])]
        if isinstance(filled.get("answerable"), dict):
            filled["answerable"] = {**filled["answerable"], "mode": filled.get("removal", "corpus")}
        return filled

    @model_validator(mode="after")
    def _contexts_fit_a_model_made_here(self) -> Profile:
        """A model from elsewhere says only when it is loaded how far it reads; one that the profile makes says it here."""
        if self.base_model.fresh is None:
            return self
        reads = self.base_model.fresh.positions
        contexts = {f"stage_sizes.{number}.context": sizes.context for number, sizes in self.stage_sizes.items()}
        contexts |= {"agent.context_tokens": self.agent.context_tokens, "teacher.agent.context_tokens": self.teacher.agent.context_tokens}
        contexts |= {"evaluation.agent.context_tokens": self.evaluation.agent.context_tokens}
        for name, tokens in contexts.items():
            if tokens > reads:
                raise ValueError(f"{name} is {tokens} tokens and the model reads {reads} (base_model.fresh.positions)")
        return self

    @property
    def stages(self) -> int:
        """How many stages the graph has: the highest that any recipe of the profile has."""
        return max(max(self.recipe(name).stages, default=0) for name in self.recipes)

    def recipe(self, name: str) -> Recipe:
        """The recipe of a partition key such as `grpo-s1`.

        Raises:
            TerrariumError: no such recipe, or recipe and profile do not go together; says which file and which key.
        """
        match = _RECIPE_NAME.fullmatch(name)
        if match is None:
            raise TerrariumError(f"{name} names no recipe: write the file of curricula/ and a seed, as in grpo-s1.")
        recipe = load_recipe(CURRICULA / f"{match['recipe']}.yaml")
        resolved = {entry.stage: resolve_stage(recipe, self.stage_sizes, entry.stage) for entry in recipe.stages}
        stages = {number: settings for number, settings in resolved.items() if settings is not None}
        return Recipe(name=name, recipe=match["recipe"], seed=int(match["seed"]), stages=stages)


def load_profile(name: str, overrides: Mapping[str, Any] | None = None) -> Profile:
    """Read profiles/<name>.yaml (or a path that ends in .yaml). `overrides` are dotted keys: {"evaluation.settings.per_capability": 3}.

    `${NAME}` in a value is an environment variable, `${NAME:-value}` one with a default; `base: <name>` starts from another profile.

    Raises:
        TerrariumError: one sentence: unknown profile or recipe, unknown key, value out of range, variable not set; says which file and key.
    """
    path = Path(name) if name.endswith(".yaml") else PROFILES / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(profile_names())
        raise TerrariumError(f"There is no profile {name}: {path} does not exist; known profiles are: {known}.")
    settings = lay_over(read_settings(path), overrides or {})
    try:
        profile = Profile.model_validate({"name": path.stem, **settings})
    except ValidationError as error:
        raise TerrariumError(f"The profile {path} is not valid: {sentence_of(error)}.") from error
    for recipe in profile.recipes:
        profile.recipe(recipe)
    return profile


def sft_settings(name: str) -> dict[str, Any]:
    """The numbers of curricula/sft/<name>.yaml, without what is there for readers.

    Raises:
        TerrariumError: there is no such file, or it is not readable.
    """
    path = CURRICULA / "sft" / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.yaml"))) or "none"
        raise TerrariumError(f"There are no settings {name} for the cold start: {path} does not exist; known ones are: {known}.")
    return {key: value for key, value in read_settings(path).items() if key not in ("description", "sources")}


def seed_of(location: str) -> dict[str, str]:
    """A seed source by its place alone, told by the name's ending.

    Raises:
        TerrariumError: the ending says nothing.
    """
    if location.startswith(("http://", "https://")):
        return {"kind": "sitemap", "location": location}
    for ending, kind in SEED_ENDINGS.items():
        if location.endswith(ending):
            return {"kind": kind, "location": location}
    raise TerrariumError(
        f"The seeds {location} are of no kind that their name tells ({', '.join(SEED_ENDINGS)}); name kind and location in the profile."
    )


def profile_names() -> list[str]:
    """The profiles that are there."""
    return sorted(path.stem for path in PROFILES.glob("*.yaml") if path.stem != "prices")
