"""Copies go, pages of one template with different facts stay."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from terrarium.corpus.dedup import different_facts, near_duplicates, similarity

TOWN = (
    "The town of {name} lies on the river {river} in the north of the country. It has {people} inhabitants and was founded in {year} by settlers "
    "who came over the mountains in search of salt. The market is held every week on the square in front of the hall, and visitors come from far "
    "away to taste the cheese that made the place famous."
)
ALTON = TOWN.format(name="Alton", river="Tarn", people="1,234", year=1650)


def _random_texts(count: int, seed: int = 0) -> list[str]:
    chance = random.Random(seed)
    vocabulary = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9))) for _ in range(5000)]
    return [" ".join(chance.choices(vocabulary, k=110)) for _ in range(count)]


def test_copies_of_every_kind() -> None:
    copies = [
        ALTON,
        ALTON.upper(),
        ALTON.replace("1,234", "1234"),
        ALTON.replace("famous", "known"),
        ALTON + " This copy was made by the mirror service. Retrieved 3 May 2024.",
        " ".join(ALTON.split()).replace(". ", ".\n\n"),
    ]
    assert near_duplicates(copies) == [0] * len(copies)


def test_one_fact_changed_is_another_page() -> None:
    others = [
        ALTON,
        ALTON.replace("1650", "1651"),
        ALTON.replace("Tarn", "Sill"),
        ALTON.replace("1,234", "1,235"),
        TOWN.format(name="Berg", river="Sill", people="5,678", year=1700),
    ]
    assert near_duplicates(others) == list(range(len(others)))
    assert similarity(others[0], others[1])[0] > 0.8


def test_chinese_template_pages() -> None:
    page = "阿尔顿是位于北方的一座城市，建于一六五零年，人口一万二千人，以盐和钟表闻名，"
    page += "城里有两座博物馆和一条铁路，河上有三座古老的石桥，每周在广场上有集市。"
    assert near_duplicates([page, page, page.replace("盐和钟表", "茶和丝绸"), page.replace("阿尔顿", "贝格城")]) == [0, 0, 2, 3]


def test_swapped_figures_are_different_facts() -> None:
    assert different_facts("Alton beat Berg by 3 to 2.", "Alton beat Berg by 2 to 3.")
    assert not different_facts("Alton beat Berg. Last updated 3 May 2024.", "Alton beat Berg. Last updated 7 May 2025.")


def test_every_one_word_edit_is_found_and_nothing_else() -> None:
    texts = _random_texts(300)
    edited = []
    for number, text in enumerate(texts[:100]):
        words = text.split()
        words[number % 110] = "edited"
        edited.append(" ".join(words))
    stays = near_duplicates(texts + edited)
    assert stays[:300] == list(range(300))
    assert stays[300:] == list(range(100))


def test_a_quotation_is_no_copy_and_an_excerpt_is() -> None:
    first, second, third = _random_texts(3)
    assert near_duplicates([first, f"{second} {' '.join(first.split()[:20])} {third}"]) == [0, 1]
    assert near_duplicates([f"{first} {second}", second]) == [0, 0]
    assert near_duplicates([second, f"{first} {second}"]) == [0, 1]
    assert near_duplicates([second, f"{' '.join(first.split()[:40])} {second}"]) == [0, 0]


def test_short_and_empty_texts() -> None:
    assert near_duplicates([]) == []
    assert near_duplicates(["", "one two", "", "one two", "one three"]) == [0, 1, 0, 1, 4]


@settings(max_examples=20, deadline=None)
@given(st.permutations(list(range(12))))
def test_whatever_the_order_the_clusters_are_the_same(order: list[int]) -> None:
    base = _random_texts(4, seed=3)
    texts = [text + tail for text in base for tail in ("", " and more", " and so on")]
    stays = near_duplicates([texts[number] for number in order])
    clusters = {frozenset(order[i] for i in range(12) if stays[i] == stay) for stay in set(stays)}
    assert clusters == {frozenset({0, 1, 2}), frozenset({3, 4, 5}), frozenset({6, 7, 8}), frozenset({9, 10, 11})}
    assert all(stays[stay] == stay and stay <= position for position, stay in enumerate(stays))
