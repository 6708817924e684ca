"""The scripted teacher: it answers what it has seen, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from terrarium.agent.attempt import ANSWER_NOW
from terrarium.agent.protocol import parse_turn
from terrarium.agent.rollout import Rollout, Termination, read_rollouts
from terrarium.agent.settings import AgentSettings
from terrarium.errors import Outage
from terrarium.job import SilentReport
from terrarium.questions.question import Operand, Question
from terrarium.sft.reading import find_value, find_words, quote
from terrarium.sft.script import Script, names_subject
from terrarium.sft.teacher import TeachJob, choose, teach_in
from terrarium.world.tools import Hit, SearchResult, Status, VisitResult

PAGES = {
    "https://a.example/alder": ("Notes on Alder", "The Alder is a river. The Alder measures 120 km."),
    "https://b.example/alder": ("Alder in figures", "Alder | length | 120 km"),
    "https://a.example/birch": ("Notes on Birch", "The Birch flows for 80 km. Its towns are Oak, Elm and Ash."),
    "https://a.example/alder-works": ("Alder Works", "Alder Works was founded in 1901."),
}


class Pages:
    """Finds pages by words of their titles."""

    snapshot = "pages"

    def __init__(self, outage: bool = False) -> None:
        self.outage = outage

    def for_question(self, question: Question) -> Pages:
        return self

    def search(self, queries: list[str], k: int | None = None) -> list[SearchResult]:
        if self.outage:
            raise Outage("gone")
        results = []
        for query in queries:
            found = [(url, title) for url, (title, _) in PAGES.items() if set(query.casefold().split()) & set(title.casefold().split())]
            hits = tuple(Hit(url, url, title, title, 1.0) for url, title in found[:k])
            results.append(SearchResult(query, Status.FOUND if hits else Status.NOTHING_FOUND, hits))
        return results

    def visit(self, urls: list[str], goal: str) -> list[VisitResult]:
        return [VisitResult(url, Status.FOUND, url, PAGES[url][0], PAGES[url][1]) for url in urls]


def question(name: str, text: str, answers: tuple[str, ...], operands: list[tuple[str, str, str]], **more: Any) -> Question:
    settings = {"answer_kind": "number", "capability": "direct", "hops": 1, **more}
    return Question(
        name,
        text,
        answers,
        source_page_ids=(),
        evidence=(),
        operands=tuple(Operand(*item) for item in operands),
        split="train",
        share="sft",
        **settings,
    )


LENGTH = question("q1", "How long is the Alder?", ("120 km", "120"), [("Alder", "length", "120 km")])
WRONG = question("q2", "How long is the Alder?!", ("7 km",), [("Alder", "length", "7 km")])
SUM = question(
    "q3",
    "What do the lengths of Alder and Birch add up to?",
    ("200 km",),
    [("Alder", "length", "120 km"), ("Birch", "length", "80 km")],
    capability="statistics",
)
LIST = question(
    "q4",
    "Which towns are on the Birch?",
    ("Oak", "Elm", "Ash"),
    [("Birch", "towns", town) for town in ("Oak", "Elm", "Ash")],
    answer_kind="list",
    capability="enumeration",
)
AGREE = replace(LENGTH, question_id="q5", question="On what do independent accounts agree: how long is the Alder?", capability="cross_verification")
DESCRIBED = question(
    "q6", "Which works was founded in 1901?", ("Alder Works",), [("Alder Works", "founded", "1901")], answer_kind="single", capability="aggregation"
)


def teach(tmp_path: Path, *questions: Question, hurried: int = 0, world: Pages | None = None, **settings: Any) -> list[Rollout]:
    agent = AgentSettings(**{"context_tokens": 2000, "turns": 8, "tokens_a_turn": 200, **settings})
    job = TeachJob(out=tmp_path, questions=tmp_path, world=tmp_path, agent=agent, limit=10, seed=1, hurried=hurried)
    teach_in(job, questions, world or Pages(), SilentReport())  # type: ignore[arg-type]
    return read_rollouts(tmp_path / "rollouts.parquet")


@pytest.mark.parametrize(
    ("asked", "answer"), [(LENGTH, "120 km"), (SUM, "200 km"), (LIST, "Oak, Elm, Ash"), (AGREE, "120 km"), (DESCRIBED, "Alder Works")]
)
def test_it_answers_what_it_read(tmp_path: Path, asked: Question, answer: str) -> None:
    [rollout] = teach(tmp_path, asked)
    assert (rollout.termination, rollout.answer, rollout.correct) == (Termination.ANSWERED, answer, True)
    assert rollout.searches >= 1 and rollout.visits >= 1
    assert not any(turn.malformed for turn in rollout.turns)


def test_it_reads_two_sources_where_accounts_are_to_agree(tmp_path: Path) -> None:
    assert teach(tmp_path, AGREE)[0].visits == 2
    assert teach(tmp_path, LENGTH)[0].visits == 1


def test_it_never_answers_what_it_did_not_see(tmp_path: Path) -> None:
    [rollout] = teach(tmp_path, WRONG)
    assert (rollout.answer, rollout.correct) == ("unknown", False)


def test_the_hurried_answer_when_they_are_asked_to(tmp_path: Path) -> None:
    [rollout] = teach(tmp_path, LENGTH, hurried=1)
    assert (rollout.termination, rollout.correct) == (Termination.ANSWERED_WHEN_FORCED, True)


def test_a_slip_is_repaired() -> None:
    slips = [script for script in (Script(LENGTH, seed) for seed in range(60)) if script._slips]
    assert 1 <= len(slips) <= 20
    script = slips[0]
    assert parse_turn(script.turn()).calls[0].arguments == {"query": ["length"]}
    script.saw_hits([])
    script.saw_text("No search results.")
    again = parse_turn(script.turn())
    assert again.calls[0].arguments == {"query": ["long Alder"]}


def test_asked_for_the_answer_it_gives_it_or_says_that_it_does_not_know() -> None:
    script = Script(LENGTH, 1)
    script.saw_text(f"nothing\n{ANSWER_NOW}")
    assert parse_turn(script.turn()).answer == "unknown"


def test_the_same_seed_gives_the_same_rollouts(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    assert teach(one, LENGTH, SUM, LIST) == teach(two, LENGTH, SUM, LIST)


def test_an_outage_of_the_world_is_an_outage(tmp_path: Path) -> None:
    with pytest.raises(Outage, match="gone"):
        teach(tmp_path, LENGTH, world=Pages(outage=True))


def test_questions_are_drawn_evenly_and_from_the_sft_share_alone() -> None:
    pool = [replace(item, question_id=f"{item.question_id}-{number}") for item in (LENGTH, SUM, LIST) for number in range(20)]
    pool += [replace(LENGTH, question_id="rl", share="rl"), replace(LENGTH, question_id="test", split="test", share=None)]
    chosen = choose(pool, 9, seed=3)
    assert sorted(item.capability for item in chosen) == ["direct"] * 3 + ["enumeration"] * 3 + ["statistics"] * 3
    assert {item.share for item in choose(pool, 1000, seed=3)} == {"sft"} and len(choose(pool, 1000, seed=3)) == 60
    assert choose(pool, 9, seed=4) != chosen


@pytest.mark.parametrize(
    ("value", "text", "found"),
    [
        ("9,502", "It had 9502 members", "9502"),
        ("9,502", "It had 19,502 members", None),
        ("57.2 km²", "covers 57.2 km² in all", "57.2 km²"),
        ("1 July 2003", "since July 1, 2003.", "July 1, 2003"),
        ("1 July 2003", "since July 2, 2003.", None),
        ("1933", "set up in 1933.", "1933"),
        ("Great Oak", "near great  oak.", "great  oak"),
        ("one", "by phone", None),
        ("", "anything", None),
    ],
)
def test_values_are_found_as_they_are_spelled(value: str, text: str, found: str | None) -> None:
    assert find_value(value, text) == found


def test_words_are_whole() -> None:
    assert find_words("Alder", "Alderton") is None


@pytest.mark.parametrize(
    ("title", "own"),
    [("Notes on Alder", True), ("Alder in figures", True), ("Alder Works", False), ("Old Alder", False), ("Gate: Alder", True), ("River", False)],
)
def test_a_title_that_holds_a_longer_name_is_another_subjects(title: str, own: bool) -> None:
    assert names_subject(title, "Alder") is own


@pytest.mark.parametrize(
    ("value", "text", "quoted"),
    [
        ("120 km", "The Alder is a river. The Alder measures 120 km.", "The Alder measures 120 km."),
        ("80 km", "Notes\n- The Birch flows for 80 km.\n- Its towns are Oak and Ash.", "The Birch flows for 80 km."),
        ("Ash", " ".join(["word"] * 30) + " Ash " + " ".join(["word"] * 30), " ".join(["word"] * 9 + ["Ash"] + ["word"] * 8)),
        ("7 km", "The Alder measures 120 km.", None),
    ],
)
def test_a_value_is_quoted_with_its_sentence(value: str, text: str, quoted: str | None) -> None:
    assert quote(value, text) == quoted


def test_thoughts_say_what_was_read_and_what_was_not() -> None:
    script = Script(replace(LENGTH, question_id="q9"), seed=1)
    script._slips = False
    hits = [Hit(url, url, title, title, 1.0) for url, (title, _) in PAGES.items() if "Alder" in title]
    script.turn()
    script.saw_hits(hits)
    script.saw_text("hits")
    script.turn()
    script.saw_text("Notes on Alder\nThe Alder is a river.")
    assert parse_turn(script.turn()).thought == "Nothing on length. Next page."
    script.saw_text("Alder in figures\nThe Alder measures 120 km.")
    answer = parse_turn(script.turn())
    assert (answer.thought, answer.answer) == ("It says: The Alder measures 120 km.", "120 km")


def test_a_teacher_of_a_very_small_model_does_not_quote() -> None:
    script = Script(replace(LENGTH, question_id="q9"), seed=1, quotes=False)
    script._slips = False
    script.turn()
    script.saw_hits([Hit(url, url, title, title, 1.0) for url, (title, _) in PAGES.items() if "Alder" in title])
    script.saw_text("hits")
    script.turn()
    script.saw_text("Alder in figures\nThe Alder measures 120 km.")
    assert parse_turn(script.turn()).thought == "The page says it."


def read_on(asked: Question, pages: list[tuple[str, str]]) -> list[str]:
    """Thoughts of a script that reads these pages one after the other, then its answer."""
    script = Script(replace(asked, question_id="q9"), seed=1)
    script._slips = False
    script.turn()
    script.saw_hits([Hit(title, f"https://x.example/{place}", title, title, 1.0) for place, (title, _) in enumerate(pages)])
    script.saw_text("hits")
    thoughts = []
    for _, text in pages:
        thoughts.append(str(parse_turn(script.turn()).thought))
        script.saw_text(text)
    last = parse_turn(script.turn())
    return [*thoughts, str(last.thought), str(last.answer)]


def test_what_is_counted_is_numbered() -> None:
    towns = question(
        "q", "How many towns lie on the Birch?", ("3",), [("Birch", "towns", name) for name in ("Oak", "Elm", "Ash")], capability="enumeration"
    )
    assert read_on(towns, [("Notes on Birch", PAGES["https://a.example/birch"][1])]) == ["I read the first.", "1 Oak, 2 Elm, 3 Ash: 3.", "3"]
    names = replace(towns, answers=("Oak", "Elm", "Ash"), answer_kind="list")
    assert read_on(names, [("Birch", PAGES["https://a.example/birch"][1])])[1:] == ["1 Oak, 2 Elm, 3 Ash.", "Oak, Elm, Ash"]


def test_what_is_described_is_named_and_hits_are_read_in_their_order() -> None:
    described = question(
        "q",
        "Which river flows for 80 km and passes Oak?",
        ("Birch",),
        [("Birch", "length", "80 km"), ("Birch", "towns", "Oak")],
        answer_kind="single",
        capability="aggregation",
    )
    thoughts = read_on(described, [("Notes on Alder", "The Alder measures 120 km."), ("Notes on Birch", PAGES["https://a.example/birch"][1])])
    assert thoughts == ["I read the first.", "I read the second.", "Its name is Birch.", "Birch"]


def test_search_and_goal_are_in_the_questions_words() -> None:
    asked = replace(LENGTH, question="Where accounts differ, go by the newest. As of 2024, how long is the Alder?", capability="cross_verification")
    script = Script(asked, seed=1)
    script._slips = False
    assert parse_turn(script.turn()).calls[0].arguments == {"query": ["2024 long Alder"]}
    script.saw_hits([Hit("a", "https://a.example/alder", "Notes on Alder", "", 1.0)])
    script.saw_text("hits")
    assert parse_turn(script.turn()).calls[0].arguments["goal"] == "As of 2024, how long is the Alder"


def test_only_the_capabilities_of_the_profile_are_taught() -> None:
    mine = [replace(LENGTH, question_id="a"), replace(SUM, question_id="b", capability="statistics")]
    assert [item.question_id for item in choose(mine, 9, seed=0, capabilities=("direct",))] == ["a"]
    assert len(choose(mine, 9, seed=0)) == 2
