"""Extraction: five capabilities out of a few pages, of one split each, the same every time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from terrarium.corpus.page import Page, write_pages
from terrarium.errors import TerrariumError
from terrarium.job import SilentReport
from terrarium.questions.extract import ExtractJob, ExtractSettings, extract
from terrarium.questions.gates import GATES
from terrarium.questions.question import CAPABILITIES, Question
from terrarium.questions.splits import split_of

Run = Callable[..., list[Question]]
ALL_TRAIN = {"train": 1.0}


def by_key(questions: list[Question]) -> dict[str, Question]:
    return {f"{question.capability}: {question.fact_key}": question for question in questions}


def test_all_capabilities_are_made_and_pass_the_gates(seeds: list[Page], run_extract: Run) -> None:
    questions = run_extract(seeds, fractions=ALL_TRAIN)
    assert set(Counter(question.capability for question in questions)) == set(CAPABILITIES)
    refused = [(name, gate(question), question.question) for question in questions for name, gate in GATES if gate(question)]
    assert refused == []


def test_answers_are_right(seeds: list[Page], run_extract: Run) -> None:
    questions = by_key(run_extract(seeds, fractions=ALL_TRAIN))
    assert questions["direct: arlow · population · 2021"].answers == ("12,345",)
    assert "2021" in questions["direct: arlow · population · 2021"].question
    assert questions["direct: corvey · area"].answers == ("51.2 km²", "51.2")
    count = next(question for key, question in questions.items() if key.startswith("enumeration: brask · districts"))
    assert count.answers in (("3",), ("Brask Old Town", "Brask Docks", "Brask Heights")) and len(count.operands) == 3
    verified = questions["cross_verification: arlow · mayor · 2024"]
    assert verified.answers == ("Jane Doe",) and len({span.page_id for span in verified.evidence}) == 2
    for question in questions.values():
        if question.capability == "aggregation":
            assert {operand.subject for operand in question.operands} == {question.answers[0]}
            assert question.answers[0] not in question.question


def test_about_a_third_of_the_wordings_is_met_in_test_alone(seeds: list[Page], run_extract: Run, make_page: Callable[..., Page]) -> None:
    rows = "\n".join(f"| Hamlet {number} | {number}.5 km² | {1500 + number} | {number * 7} m |" for number in range(11, 400))
    pages = [
        make_page(f"http://e.test/{place}", f"List {place}", f"| Town | Area | Founded | Elevation |\n|---|---|---|---|\n{rows}\n")
        for place in "ABCDE"
    ]
    questions = run_extract([*seeds, *pages], max_questions=4000)
    used = {split: {question.wording for question in questions if question.split == split} for split in ("train", "test")}
    only = len(used["test"] - used["train"]) / len(used["test"] | used["train"])
    assert 0.2 < only < 0.45


def test_statistics_are_computed(seeds: list[Page], run_extract: Run) -> None:
    people = {"arlow": 12345, "brask": 8102, "corvey": 23900, "dunmar": 4410, "upper arlow": 990, "estery": 15020}
    found = 0
    for question in run_extract(seeds, fractions=ALL_TRAIN, capabilities=("statistics",)):
        _, relation, operation, *_ = question.wording.split("/")
        if relation != "population":
            continue
        values = [people[operand.subject.casefold()] for operand in question.operands]
        expected = {
            "sum": sum(values),
            "difference": max(values) - min(values),
            "mean": sum(values) / len(values),
            "ratio": max(values) / min(values),
        }[operation]
        assert float(question.answers[0].replace(",", "")) == pytest.approx(expected, abs=0.06), question.question
        found += 1
    assert found >= 3


def test_a_newer_account_wins_over_an_older_one(seeds: list[Page], run_extract: Run, make_page: Callable[..., Page]) -> None:
    newer = make_page("http://courier.test/Brask", "Brask: again", "The mayor of Brask is Mara Lund as of 2025.", published_at="2025-02-01")
    questions = run_extract([*seeds, newer], fractions=ALL_TRAIN, capabilities=("cross_verification",))
    question = by_key(questions)["cross_verification: brask · mayor · 2025"]
    assert question.answers == ("Mara Lund",) and "newer" in question.wording and len(question.source_page_ids) == 2


def test_makers_stay_in_one_split(seeds: list[Page], run_extract: Run, make_page: Callable[..., Page]) -> None:
    fractions = {"train": 0.4, "validation": 0.2, "test": 0.4}
    rows = "\n".join(f"| Hamlet {letter} | {number}.5 km² |" for number, letter in enumerate("ABCDEFGHIJKL", start=11))
    page = make_page("http://encyclopedia.test/List", "List of hamlets", f"| Town | Area |\n|---|---|\n{rows}\n")
    questions = run_extract([*seeds, page], fractions=fractions)
    assert len({question.split for question in questions}) > 1
    from_list = [question for question in questions if page.page_id in question.source_page_ids]
    assert from_list and {question.split for question in from_list} == {split_of("List of hamlets", fractions)}
    for question in questions:
        assert {split_of(operand.subject, fractions) for operand in question.operands} == {question.split}
        if question.operands[0].relation in ("mayor", "river") and question.capability in ("direct", "cross_verification"):
            assert split_of(question.answers[0], fractions) == question.split


def test_clues_that_two_entities_share_are_no_aggregation(seeds: list[Page], run_extract: Run, make_page: Callable[..., Page]) -> None:
    twin = make_page("http://encyclopedia.test/Fenwick", "Fenwick", seeds[3].markdown.replace("Dunmar", "Fenwick"), published_at="2024-03-01")
    answers = {question.answers[0] for question in run_extract([*seeds, twin], fractions=ALL_TRAIN, capabilities=("aggregation",))}
    assert "Arlow" in answers and not answers & {"Dunmar", "Fenwick"}


def test_growth_moves_no_question_to_another_split(seeds: list[Page], run_extract: Run) -> None:
    fractions = {"train": 0.5, "test": 0.5}
    few = {question.fact_key: question.split for question in run_extract(seeds[:3], fractions=fractions, capabilities=("direct",))}
    many = {question.fact_key: question.split for question in run_extract(seeds, fractions=fractions, capabilities=("direct",))}
    assert few and all(many.get(key, split) == split for key, split in few.items())


def test_a_name_that_several_pages_share_is_not_asked_about(seeds: list[Page], run_extract: Run, make_page: Callable[..., Page]) -> None:
    namesake = make_page("http://encyclopedia.test/Brask_(ship)", "Brask (ship)", "| Brask | |\n|---|---|\n| Length | 84 m |\n| Built | 1901 |")
    keys = by_key(run_extract([*seeds, namesake], fractions=ALL_TRAIN, capabilities=("direct",)))
    assert not any("brask ·" in key for key in keys) and any("arlow ·" in key for key in keys)


def test_a_value_that_changes_needs_a_date(run_extract: Run, make_page: Callable[..., Page]) -> None:
    box = "| Arlow | |\n|---|---|\n| Mayor | Jane Doe |\n| Area | 34.5 km² |"
    undated = run_extract([make_page("http://e.test/a", "Arlow", box)], fractions=ALL_TRAIN)
    assert {question.operands[0].relation for question in undated} == {"area"}
    dated = run_extract([make_page("http://e.test/a", "Arlow", box, published_at="2024-03-01")], fractions=ALL_TRAIN)
    assert any("March 2024" in question.question and question.answers == ("Jane Doe",) for question in dated)


def test_the_same_pages_and_settings_give_the_same_bytes(seeds: list[Page], tmp_path: Path) -> None:
    contents = []
    for attempt, order in enumerate((seeds, seeds)):
        source, out = tmp_path / f"in{attempt}", tmp_path / f"out{attempt}"
        source.mkdir()
        out.mkdir()
        write_pages(source / "pages.parquet", order)
        extract(ExtractJob(out=out, pages=source, settings=ExtractSettings(seed=3)), SilentReport())
        contents.append((out / "questions.parquet").read_bytes())
    assert contents[0] == contents[1]


def test_copies_are_no_independent_accounts(seeds: list[Page], run_extract: Run, make_page: Callable[..., Page]) -> None:
    copy = make_page("http://mirror.test/Brask", "Brask", seeds[1].markdown, duplicate_of=seeds[1].page_id)
    assert not any(
        "brask" in question.fact_key for question in run_extract([*seeds, copy], fractions=ALL_TRAIN, capabilities=("cross_verification",))
    )


def test_chinese_pages_give_chinese_questions(run_extract: Run, make_page: Callable[..., Page]) -> None:
    text = "卡恩比是一座小镇。2024年，卡恩比的人口为12345人。卡恩比海拔84米。卡恩比建立于1823年。"
    questions = run_extract([make_page("http://zh.test/a", "卡恩比简介", text, language="zh")], fractions=ALL_TRAIN, capabilities=("direct",))
    assert len(questions) == 3 and all(question.question.endswith("？") and question.language == "zh" for question in questions)
    assert any("2024年" in question.question and question.answers[0] == "12345" for question in questions)


def test_caps_hold_and_impossible_fractions_are_refused(seeds: list[Page], run_extract: Run) -> None:
    counts = Counter(question.capability for question in run_extract(seeds, fractions=ALL_TRAIN, max_questions=2))
    assert max(counts.values()) == 2
    with pytest.raises(TerrariumError, match="add up to 1"):
        run_extract(seeds, fractions={"train": 0.5})
