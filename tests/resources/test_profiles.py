"""Profiles and recipes: all that are committed are valid, and whatever is wrong with one is said in one sentence that names file and key."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from resources.profiles import CURRICULA, PROFILES, load_profile, profile_names, seed_of, sft_settings
from terrarium.errors import TerrariumError
from terrarium.sft.settings import SftSettings


@pytest.mark.parametrize("name", profile_names())
def test_every_committed_profile_is_valid(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEEDS", "dump.xml.bz2")
    profile = load_profile(name)
    assert profile.name == name and profile.description
    assert profile.stages == 3
    for recipe in profile.recipes:
        for number, stage in profile.recipe(recipe).stages.items():
            assert stage.number == number
            agent = stage.agent(profile.agent)
            assert agent.context_tokens == stage.context and agent.tokens_a_turn < agent.context_tokens
    contexts = [profile.stage_sizes[k].context for k in sorted(profile.stage_sizes)]
    assert contexts == sorted(contexts), "contexts grow from stage to stage"
    assert profile.evaluation.agent.context_tokens >= contexts[-1]
    assert profile.tools.k >= profile.agent.search_k


def test_the_laptop_has_the_sizes_it_promises() -> None:
    laptop = load_profile("laptop")
    assert [laptop.stage_sizes[k].context for k in (1, 2, 3)] == [544, 768, 1024]
    for sizes in laptop.stage_sizes.values():
        assert (sizes.attempts, sizes.survivors, sizes.candidates, sizes.group) == (4, 16, 64, 4)
        assert sizes.steps >= 10
    assert laptop.evaluation.settings.per_capability == 12 and len(laptop.questions.capabilities) == 5
    assert laptop.recipes == ("grpo-s1", "one_long_stage-s1")
    assert laptop.removal == laptop.answerable.mode == "corpus"


@pytest.mark.parametrize("path", sorted((CURRICULA / "sft").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_cold_start_is_valid_and_names_its_sources(path: Path) -> None:
    assert SftSettings.model_validate(sft_settings(path.stem))
    text = path.read_text()
    assert "sources:" in text and "description:" in text


def test_a_recipe_and_its_seed_are_told_from_its_name() -> None:
    laptop = load_profile("laptop")
    first, second = laptop.recipe("grpo-s1"), laptop.recipe("grpo-s2")
    assert (first.recipe, first.seed, second.seed) == ("grpo", 1, 2)
    assert first.stages == second.stages
    long = laptop.recipe("one_long_stage-s1")
    assert long.stage(1) is None and long.stage(2) is None
    stage = long.stage(3)
    assert stage is not None and stage.steps == sum(sizes.steps for sizes in laptop.stage_sizes.values())


def test_a_wikipedia_run_keeps_sources_and_says_so_to_the_support_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEEDS", "my-dump.xml.bz2")
    profile = load_profile("wikipedia")
    assert profile.seeds[0].location == "my-dump.xml.bz2" and profile.seeds[0].kind == "wikipedia"
    assert profile.search is None and profile.web is None and profile.serve is None
    assert profile.removal == profile.answerable.mode == "none"


def test_a_wikipedia_run_without_a_dump_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEEDS", raising=False)
    with pytest.raises(TerrariumError, match="environment variable SEEDS, which is not set"):
        load_profile("wikipedia")


@pytest.mark.parametrize(
    ("name", "overrides", "says"),
    [
        ("lap_top", {}, "There is no profile lap_top: .*lap_top.yaml does not exist; known profiles are: chaos, cluster, laptop, tiny, wikipedia."),
        ("laptop", {"agent.turns": 0}, r"laptop.yaml is not valid: agent.turns: Input should be greater than or equal to 1 \(it is 0\)"),
        ("laptop", {"agent.turn": 3}, "laptop.yaml is not valid: agent.turn: there is no such key"),
        ("laptop", {"colour": "red"}, "laptop.yaml is not valid: colour: there is no such key"),
        ("laptop", {"stage_sizes.2": {"context": 512}}, "laptop.yaml is not valid: stage_sizes.2.turns: this key is missing"),
        ("laptop", {"recipes": ["dr_x-s1"]}, "There is no recipe dr_x: .*known recipes are: .*grpo"),
        ("laptop", {"recipes": ["grpo"]}, "grpo names no recipe: write the file of curricula/ and a seed, as in grpo-s1"),
        ("laptop", {"recipes": []}, "recipes: "),
        ("laptop", {"sft": "huge"}, "no settings huge for the cold start: .* known ones are: .*laptop"),
        ("laptop", {"removal": "some"}, "removal: "),
        ("laptop", {"web.proxy": "ftp://x"}, "web.proxy: "),
        ("laptop", {"stage_sizes.1.learning_rate": 50}, "stage_sizes.1.learning_rate: Input should be less than 1"),
        ("tiny", {"agent.context_tokens": 9999}, "agent.context_tokens is 9999 tokens and the model reads 1024"),
        ("tiny", {"stage_sizes.2.context": 2048}, "stage_sizes.2.context is 2048 tokens and the model reads 1024"),
    ],
)
def test_what_is_wrong_is_one_sentence(name: str, overrides: dict[str, Any], says: str) -> None:
    with pytest.raises(TerrariumError, match=says) as caught:
        load_profile(name, overrides)
    assert "\n" not in str(caught.value)


def test_all_that_is_wrong_is_told() -> None:
    with pytest.raises(TerrariumError) as caught:
        load_profile("laptop", {"seed": -1, "nonsense": 1, "tools.k": 0})
    assert all(part in str(caught.value) for part in ("seed: ", "nonsense: there is no such key", "tools.k: "))


def test_overrides_reach_the_settings_of_one_stage() -> None:
    stage = load_profile("laptop", {"stage_sizes.2.steps": 3, "evaluation.settings.per_capability": 2}).recipe("grpo-s1").stage(2)
    assert stage is not None and stage.steps == 3


def test_a_profile_of_ones_own_is_a_path(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text((PROFILES / "laptop.yaml").read_text().replace("seed: 7\nmachine", "seed: 9\nmachine").replace("{include: prices.yaml}", "{}"))
    assert (load_profile(str(own)).seed, load_profile(str(own)).name) == (9, "own")


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("dump.xml.bz2", "wikipedia"),
        ("a/b.jsonl", "jsonl"),
        ("c.jsonl.zst", "lite_jsonl_zst"),
        ("news.parquet", "parquet_news"),
        ("http://x.example/map.xml", "sitemap"),
    ],
)
def test_seeds_given_by_place_alone_are_told_by_their_ending(location: str, kind: str) -> None:
    assert load_profile("laptop", {"seeds": location}).seeds[0].kind == kind
    assert seed_of(location)["location"] == location


def test_seeds_of_an_unknown_ending_are_one_sentence() -> None:
    with pytest.raises(TerrariumError, match="The seeds pages.docx are of no kind that their name tells"):
        load_profile("laptop", {"seeds": "pages.docx"})


def test_reading_profiles_loads_nothing_heavy() -> None:
    """Every step of a run imports this anew."""
    heavy = "torch transformers trl scrapy pymilvus sentence_transformers"
    code = f"import sys, resources.profiles; print(sorted(set('{heavy}'.split()) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PROFILES.parent, check=True)
    assert done.stdout.strip() == "[]"
