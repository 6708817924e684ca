"""Which pages enter the world, and under which addresses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from terrarium.corpus.page import Page
from terrarium.errors import TerrariumError
from terrarium.world.loading import Plan, plan, read_removals
from tests.terrarium.world.conftest import COPY, GONE, PAGES, REPRINT, SOURCE, TOWN, page, write_inputs


def planned(
    root: Path, pages: Sequence[Page] = PAGES, mode: str = "corpus", removed: Sequence[Page] = (SOURCE,), question_id: str | None = "q1"
) -> Plan:
    inputs = write_inputs(root, pages, mode, removed, question_id)
    return plan(inputs.pages / "pages.parquet", read_removals(inputs.removed))


def test_a_copy_lends_its_address_to_the_page_that_stays(tmp_path: Path) -> None:
    made = planned(tmp_path)
    assert made.pages[TOWN.page_id] == tuple(sorted({TOWN.url, "https://encyclopedia.example/wiki/Velmora_(town)", REPRINT.url}))
    assert made.stays == {REPRINT.page_id: TOWN.page_id}
    assert GONE.page_id not in made.pages


def test_a_removed_page_goes_with_its_copies_whichever_was_named(tmp_path: Path) -> None:
    for i, named in enumerate((SOURCE, COPY)):
        made = planned(tmp_path / str(i), removed=[named])
        assert made.removed == {SOURCE.page_id, COPY.page_id}
        assert not {SOURCE.page_id, COPY.page_id} & set(made.pages)


def test_no_page_that_stays_answers_to_an_address_of_a_removed_one(tmp_path: Path) -> None:
    greedy = page("https://other.example/p", "Other", "Other text.", aliases=(SOURCE.url, "https://encyclopedia.example/wiki/Lighthouse_of_Brennick"))
    made = planned(tmp_path, [SOURCE, TOWN])
    assert made.pages == {TOWN.page_id: tuple(sorted((TOWN.url, *TOWN.aliases)))}
    # A page known under a removed page's address is that page, whatever its own address says.
    assert greedy.page_id not in planned(tmp_path / "2", [SOURCE, TOWN, greedy]).pages


def test_another_name_of_a_removed_page_leads_nowhere(tmp_path: Path) -> None:
    shared = page("https://other.example/p", "Other", "Other text.", aliases=SOURCE.aliases)
    assert planned(tmp_path, [SOURCE, shared]).pages == {shared.page_id: (shared.url,)}


def test_own_addresses_go_before_other_names(tmp_path: Path) -> None:
    greedy = page("https://a.example/p", "A", "Text of a.", aliases=(TOWN.url, "https://shared.example/x"))
    other = page("https://b.example/p", "B", "Text of b.", aliases=("https://shared.example/x",))
    made = planned(tmp_path, [greedy, other, TOWN])
    assert TOWN.url in made.pages[TOWN.page_id]
    assert TOWN.url not in made.pages[greedy.page_id]
    owners = [page_id for page_id, addresses in made.pages.items() if "https://shared.example/x" in addresses]
    assert owners == [min(greedy.page_id, other.page_id)]


def test_a_copy_steps_in_for_a_page_that_vanished_or_is_not_there(tmp_path: Path) -> None:
    gone = page("https://a.example/original", "A", "Same.", vanished_at="2026-01-01")
    copies = [page(f"https://{name}.example/copy", "A", "Same.", duplicate_of=gone.page_id) for name in ("b", "c")]
    for i, pages in enumerate(([gone, *copies], copies)):
        made = planned(tmp_path / str(i), pages, removed=())
        first = min(copies, key=lambda copy: copy.page_id)
        assert set(made.pages) == {first.page_id}
        assert set(made.pages[first.page_id]) == {copy.url for copy in copies}


def test_a_ring_of_copies_keeps_one(tmp_path: Path) -> None:
    first, second = page("https://a.example/1", "A", "x"), page("https://a.example/2", "A", "x")
    ring = [page(first.url, "A", "x", duplicate_of=second.page_id), page(second.url, "A", "x", duplicate_of=first.page_id)]
    for i in range(20):
        tail = page(f"https://tail.example/{i}", "A", "x", duplicate_of=first.page_id)
        assert len(planned(tmp_path / str(i), [*ring, tail], removed=()).pages) == 1


@pytest.mark.parametrize(
    ("mode", "question_id", "stays"),
    [("corpus", "q1", False), ("question", "q1", True), ("none", "q1", True), ("question", None, False), ("none", None, False)],
)
def test_modes(tmp_path: Path, mode: str, question_id: str | None, stays: bool) -> None:
    assert (SOURCE.page_id in planned(tmp_path, mode=mode, question_id=question_id).pages) is stays


def test_an_unreadable_removal_list_is_said_to_be_one(tmp_path: Path) -> None:
    inputs = write_inputs(tmp_path, mode="sometimes")
    with pytest.raises(TerrariumError, match="unknown mode 'sometimes'"):
        read_removals(inputs.removed)
    (inputs.removed / "removal.json").write_text("{")
    with pytest.raises(TerrariumError, match=r"no readable removal\.json"):
        read_removals(inputs.removed)
