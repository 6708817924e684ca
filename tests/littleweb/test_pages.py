"""What the pages are: how many, always the same, and what they state."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from typing import Any

import pytest
import trafilatura

from littleweb.saying import joined, with_unit, written_date
from littleweb.truth import truth_rows
from littleweb.web import Web
from tests.littleweb.starting import ROOT

DIGEST = """
import hashlib, sys
from littleweb.web import Web
web = Web(int(sys.argv[1]), sys.argv[2])
digest = hashlib.sha256()
for page in web.plan.pages:
    digest.update(page.url.encode() + web.html(page.url).encode())
digest.update(repr([listing.link for listing in web.warm().search("Which town lies on the river?", 50)]).encode())
print(digest.hexdigest())
"""


def test_at_least_eight_hundred_pages_on_ten_sites(country: Web) -> None:
    assert len(country.plan.pages) >= 800
    assert len({page.site.host for page in country.plan.pages}) >= 10
    assert len({page.url for page in country.plan.pages}) == len(country.plan.pages)
    assert {page.site.role for page in country.plan.pages} == {"seed", "copy", "independent"}
    assert len(country.country.entities) >= 300


@pytest.mark.parametrize("flavour", ["country", "tiny"])
def test_every_process_makes_the_same_pages(flavour: str) -> None:
    digests = []
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run([sys.executable, "-c", DIGEST, "7", flavour], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        digests.append(done.stdout)
    assert digests[0] == digests[1]


def test_another_seed_is_another_country(country: Web) -> None:
    def digest(web: Web) -> str:
        return hashlib.sha256("".join(page.url for page in web.plan.pages).encode()).hexdigest()

    assert digest(country) != digest(Web(8))


def test_pages_are_the_same_in_any_order_of_reading(country: Web) -> None:
    one, other = Web(7), Web(7)
    urls = [page.url for page in country.plan.pages[::37]]
    forwards = [one.html(url) for url in urls]
    backwards = [other.html(url) for url in reversed(urls)]
    assert forwards == backwards[::-1]


@pytest.mark.parametrize(("seed", "flavour", "templates"), [(7, "country", 1), (23, "country", 2), (7, "tiny", 1), (5, "tiny", 2)])
def test_what_the_seeds_state_two_independent_sites_state_too(seed: int, flavour: str, templates: int) -> None:
    rows = list(truth_rows(Web(seed, flavour, templates)))
    stated = [row for row in rows if any(page["role"] == "seed" for page in row["pages"])]
    assert len(stated) >= (100 if flavour == "tiny" else 3000)
    for row in stated:
        sites = {page["site"] for page in row["pages"] if page["role"] == "independent"}
        assert len(sites) >= 2, row
        if row["current"]:
            up_to_date = {page["site"] for page in row["pages"] if page["role"] == "independent" and not page["stale"]}
            assert len(up_to_date) >= 2, row


def test_the_seeds_leave_out_what_is_kept_for_the_benchmark(country_truth: list[dict[str, Any]]) -> None:
    kept = [row for row in country_truth if not row["on_seeds"]]
    assert len(kept) > 300
    for row in kept:
        assert {page["role"] for page in row["pages"]} == {"independent"}, row


def _shown(row: dict[str, Any]) -> set[str]:
    """The forms in which a value may stand on a page."""
    if row["type"] == "date":
        return {written_date(row["value"], form) for form in range(3)}
    if row["items"]:
        return {joined(tuple(row["items"])), ", ".join(row["items"])}
    return {row["value"], row["value"].replace(",", ""), with_unit(row["value"], row["unit"], True)}


@pytest.mark.parametrize("flavour", ["country", "tiny"])
def test_pages_of_other_sites_name_subject_and_value_in_one_line(flavour: str, request: pytest.FixtureRequest) -> None:
    web: Web = request.getfixturevalue(flavour)
    checked = 0
    for row in request.getfixturevalue(f"{flavour}_truth")[:: 1 if flavour == "tiny" else 9]:
        for page in row["pages"]:
            if page["role"] != "independent":
                continue
            text = web.document(web.pages[page["url"]]).text()
            lines = re.split(r"\n|(?<=[.。])\s*(?=[A-Z]|\d{4}年)", text)
            assert any(row["subject"] in line and any(form in line for form in _shown(row)) for line in lines), (row, page, text)
            checked += 1
    assert checked > 200


def test_answers_stand_outside_the_opening_of_extracted_pages(country: Web, country_truth: list[dict[str, Any]]) -> None:
    hidden = shown = 0
    for row in country_truth[::23]:
        for page in row["pages"]:
            if page["role"] != "independent" or page["site"] == "huabao.example":
                continue
            text = trafilatura.extract(country.html(page["url"]), include_tables=True) or ""
            opening = " ".join(text.split()[:100])
            given_away = any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", opening.replace(row["subject"], "")) for form in _shown(row))
            hidden += not given_away
            shown += given_away
    assert hidden + shown > 150
    assert shown / (hidden + shown) < 0.1


def _newer(row: dict[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [other for other in rows if other["current"] and (other["subject"], other["relation"]) == (row["subject"], row["relation"])]


def test_some_statements_are_out_of_date_and_dated(country_truth: list[dict[str, Any]]) -> None:
    stale = [(row, page) for row in country_truth for page in row["pages"] if page["stale"]]
    only_there = {
        page["site"] for row, page in stale if not any(other["site"] == page["site"] for new in _newer(row, country_truth) for other in new["pages"])
    }
    assert {"encyclopedia.example", "almanac.example"} <= only_there
    assert len(stale) > 100
    assert all(row["as_of"] and not row["current"] for row, _ in stale)


def test_an_outdated_encyclopedia_article_has_a_newer_report_in_the_other_seed(country: Web, country_truth: list[dict[str, Any]]) -> None:
    outdated = {
        (row["subject"], row["relation"])
        for row in country_truth
        for page in row["pages"]
        if page["stale"] and page["site"] == "encyclopedia.example"
    }
    newer = {
        (row["subject"], row["relation"]) for row in country_truth if row["current"] for page in row["pages"] if page["site"] == "courier.example"
    }
    assert outdated and outdated <= newer


def test_copies_repeat_their_original_and_near_copies_almost(country: Web) -> None:
    copies = [page for page in country.plan.pages if page.original]
    assert {page.kind for page in copies} == {"exact_copy", "near_copy"}
    for page in copies:
        assert page.original
        ours, theirs = country.document(page).text(), country.document(page.original).text()
        assert (ours == theirs) == (page.kind == "exact_copy")
        assert len(set(theirs.split()) - set(ours.split())) == 0


def test_independent_pages_are_no_near_copies_of_seeds(country: Web) -> None:
    def shingles(url: str) -> set[tuple[str, ...]]:
        words = country.document(country.pages[url]).text().split()
        return {tuple(words[start : start + 5]) for start in range(len(words) - 4)}

    by_entity: dict[str, list[set[tuple[str, ...]]]] = {}
    for page in country.plan.pages:
        if page.kind == "entity":
            by_entity.setdefault(page.entities[0].key, []).append(shingles(page.url))
    for pages in list(by_entity.values())[::5]:
        for place, left in enumerate(pages):
            for right in pages[place + 1 :]:
                assert len(left & right) / max(1, len(left | right)) < 0.4


def test_similar_names_are_there_to_be_confused(country: Web) -> None:
    names = [entity.name for entity in country.country.of_kind("town")]
    assert sum(any(other != name and name in other for other in names) for name in names) >= 6


def test_second_templates_word_the_same_facts_otherwise(country: Web) -> None:
    second = Web(7, templates=2)
    assert [page.url for page in second.plan.pages] == [page.url for page in country.plan.pages]
    url = "http://encyclopedia.example/wiki/" + country.country.of_kind("river")[0].name.replace(" ", "_")
    first_page, second_page = country.html(url), second.html(url)
    assert "Basin size" in first_page and "Basin size" not in second_page and "Catchment" in second_page
    assert 'class="infobox vcard"' in second_page


def test_every_answer_of_the_tiny_world_is_one_of_four_words(tiny: Web, tiny_truth: list[dict[str, Any]]) -> None:
    assert {row["value"] for row in tiny_truth} == {"Oak", "Heron", "Bell", "Mill"}
    assert len(tiny_truth) >= 120
    assert 60 <= len(tiny.plan.pages) <= 120
    words = {word for page in tiny.plan.pages for word in re.findall(r"[a-z]+", tiny.document(page).text().lower())}
    assert len(words) < 300


def test_two_facts_name_one_entity_of_the_tiny_world(tiny: Web) -> None:
    for kind in {entity.kind for entity in tiny.country.entities}:
        pairs = [(entity.facts[0].value, entity.facts[1].value) for entity in tiny.country.of_kind(kind)]
        assert len(set(pairs)) == len(pairs)


def test_openings_of_the_tiny_world_hold_no_answer(tiny: Web) -> None:
    for page in tiny.plan.pages:
        if page.site.role == "independent" and page.kind == "entity":
            lead = " ".join(tiny.document(page).text().split("\n", 1)[1].split()[:100])
            if not any(said.lead for said in tiny.document(page).statements):
                assert not re.search(r"\b(Oak|Heron|Bell|Mill)\b", lead), page.url
