"""Support: which questions the sealed world can still answer, shown by the pages that say so, and not given away by its snippets."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from terrarium.corpus.page import Page, read_pages
from terrarium.errors import Outage, TerrariumError
from terrarium.job import Gate, Job, Outcome, Report, track
from terrarium.journal import Journal
from terrarium.questions.leaks import Shown, gives_away
from terrarium.questions.lexicon import relations
from terrarium.questions.question import Operand, Question, Span, read_questions, write_questions
from terrarium.questions.reading import Library, Said
from terrarium.questions.splits import SPLITS, checked, share_of
from terrarium.questions.values import fold, numbers
from terrarium.tables import Drop, write_drops

if TYPE_CHECKING:
    from terrarium.world import World


class SupportSettings(BaseModel):
    """Shares of training questions; `mode` is how sources were removed (under "none" the source itself is support)."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    shares: dict[str, float] = Field(default={"sft": 0.5, "rl": 0.5})
    mode: Literal["corpus", "question", "none"] = "corpus"
    seed: int = 0
    snippets: int = Field(default=5, ge=1, le=50, description="results of the world's search that must not give the answer away")
    agreeing_sites: int = Field(default=2, ge=1, description="sites that must say so where a question asks for agreement")


class SupportJob(Job):
    """Reads `questions` (each a folder with questions.parquet), `pages`/pages.parquet and the world; writes questions, dropped, undecided."""

    questions: list[Path]
    pages: Path
    world: Path
    settings: SupportSettings = SupportSettings()


@dataclass(frozen=True, slots=True)
class _Verdict:
    question: Question
    reason: str | None
    detail: str = ""


def answerable(job: SupportJob, report: Report) -> Outcome:
    """Keep what other pages of the world support and its snippets do not give away; every row else has a reason, or waits for the world.

    Raises:
        TerrariumError: an input is missing, or the shares do not add up to 1.
        Outage: the world could not be opened.
    """
    from terrarium.world import open_world

    checked(job.settings.shares, ("sft", "rl"))
    questions = _unique(question for folder in job.questions for question in read_questions(folder / "questions.parquet"))
    pages = read_pages(job.pages / "pages.parquet")
    with open_world(job.world) as world:
        judge = Judge(questions, pages, world, job.settings, report)
        with Journal(job.out / "verdicts.jsonl") as journal:
            kept, drops, undecided = judge.judge_all(journal)
    kept, crossing = _one_split(kept, pages)
    drops += crossing
    write_questions(job.out / "questions.parquet", kept)
    write_questions(job.out / "undecided.parquet", undecided)
    write_drops(job.out / "dropped.parquet", drops)
    journal.forget()
    return _outcome(kept, drops, undecided, pages)


def _unique(questions: object) -> list[Question]:
    return list({question.question_id: question for question in cast("list[Question]", questions)}.values())


class Judge:
    """Judges questions against one world. Pages are read once; a question looks only at units that name its subjects."""

    def __init__(self, questions: Sequence[Question], pages: Sequence[Page], world: World, settings: SupportSettings, report: Report) -> None:
        self.questions, self.world, self.settings, self.report = questions, world, settings, report
        remaining = [page for page in pages if page.vanished_at is None and world.page(page.page_id) is not None]
        report.say(f"{len(remaining)} of {len(pages)} pages remain in the world; reading them.")
        self.dates = {page.page_id: page.published_at or "" for page in pages}
        names = {operand.subject for question in questions for operand in question.operands}
        names |= {operand.value for question in questions for operand in question.operands if _is_name(operand)}
        self.library = Library(remaining, sorted(names))
        self.holders: dict[tuple[str, str], set[str]] = defaultdict(set)
        for (subject, relation), facts in self.library.facts.items():
            for fact in facts:
                self.holders[relation, _value_key(fact.shown, relation)].add(subject)

    def judge_all(self, journal: Journal) -> tuple[list[Question], list[Drop], list[Question]]:
        """Kept, dropped, undecided. Verdicts in the journal are not sought again; what was undecided is."""
        kept: list[Question] = []
        drops: list[Drop] = []
        undecided: list[Question] = []
        for question in track(self.questions, self.report, "questions checked for support", len(self.questions)):
            verdict = _verdict_from(question, journal.take(question.question_id))
            if verdict is None:
                try:
                    verdict = self.judge(question)
                except Outage as outage:
                    self.report.say(f"Undecided: {question.question_id}: {outage}")
                    undecided.append(question)
                    continue
                journal.add(question.question_id, _row_of(verdict))
            if verdict.reason:
                drops.append(Drop(question.question_id, question.question, "support", verdict.reason, verdict.detail))
            else:
                kept.append(verdict.question)
        return kept, drops, undecided

    def judge(self, question: Question) -> _Verdict:
        """One question.

        Raises:
            Outage: the world's search failed.
        """
        if not question.operands:
            return _Verdict(question, "no operands to look for")
        view = self.world.for_question(question)
        hidden = view.hidden
        support: list[Span] = []
        year = int(question.as_of[:4]) if question.as_of else None
        for operand in question.operands:
            reason, spans = self._support(question, operand, _year_for(question, operand, year), hidden)
            if reason:
                return _Verdict(question, reason, f"{operand.subject}: {operand.relation} = {operand.value}")
            support += [span for span in spans if span not in support]
        if question.capability == "aggregation" and self._another(question):
            return _Verdict(question, "another entity fits as well")
        found = view.search([question.question], self.settings.snippets)[0]
        if str(found.status) == "failed":
            raise Outage(f"The world's search failed for a question ({found.error}); it is asked again at the next run.")
        if gives_away(question, [Shown(hit.title, hit.snippet) for hit in found.hits]):
            return _Verdict(question, "given away by the world's snippets")
        share = share_of(f"{self.settings.seed}/{question.fact_key}", self.settings.shares) if question.split == "train" else None
        return _Verdict(replace(question, support=tuple(support), share=share), None)

    def _support(self, question: Question, operand: Operand, year: int | None, hidden: frozenset[str]) -> tuple[str | None, list[Span]]:
        said = [place for place in self.library.said(operand, year) if place.page.page_id not in hidden and self._timely(place, operand, year)]
        if not said:
            return "no support in the world", []
        denied = [fact for fact in self.library.denied(operand, year) if fact.page_id not in hidden]
        supporting = {place.page.page_id for place in said}
        denying = {fact.page_id for fact in denied} - supporting
        if len(denying) >= len(supporting):
            return "contradicted by as many pages as support it", []
        # The newer page wins, so a newer contradiction makes the answer doubtful.
        newest = max((self.dates.get(page_id, "") for page_id in supporting | set(question.source_page_ids)), default="")
        if any(self.dates.get(page_id, "") > newest for page_id in denying):
            return "contradicted by a newer page", []
        if question.capability == "cross_verification" and self._sites(said) < self.settings.agreeing_sites:
            return "too few independent pages agree", []
        return None, list(dict.fromkeys(place.span for place in said))

    def _timely(self, place: Said, operand: Operand, year: int | None) -> bool:
        """A changing value without a date of its own is as old as its page."""
        if place.year is not None or year is None or not relations()[operand.relation].changes:
            return True
        published = self.dates.get(place.page.page_id, "")
        return not published or int(published[:4]) >= year

    def _sites(self, said: Sequence[Said]) -> int:
        """How many independent accounts there are: sites; where sources are not removed, pages about different things."""
        if self.settings.mode == "none":
            return len({place.page.page_id for place in said})
        return len({urlsplit(place.page.url).netloc for place in said})

    def _another(self, question: Question) -> bool:
        sets = [self.holders.get((operand.relation, _value_key(operand.value, operand.relation)), set()) for operand in question.operands]
        return bool(set.intersection(*sets) - {fold(question.answers[0])})


def _row_of(verdict: _Verdict) -> dict[str, Any]:
    support = [asdict(span) for span in verdict.question.support]
    return {"reason": verdict.reason, "detail": verdict.detail, "support": support, "share": verdict.question.share}


def _verdict_from(question: Question, row: dict[str, Any] | None) -> _Verdict | None:
    if row is None:
        return None
    support = tuple(Span(**span) for span in row["support"])
    return _Verdict(replace(question, support=support, share=row["share"]), row["reason"], row["detail"])


def _is_name(operand: Operand) -> bool:
    relation = relations().get(operand.relation)
    return relation is not None and relation.kind == "name" and operand.value[:1].isupper()


def _year_for(question: Question, operand: Operand, year: int | None) -> int | None:
    """The year an operand was read for. A question over time names one for each operand in its fact key."""
    for part in question.fact_key.split(" + "):
        pieces = part.split(" · ")
        if len(pieces) >= 3 and pieces[0] == fold(operand.subject) and pieces[1] == operand.relation and pieces[2][:4].isdigit():
            same_fact = [other for other in question.operands if (other.subject, other.relation) == (operand.subject, operand.relation)]
            if len(same_fact) <= 1:
                return int(pieces[2][:4])
            years = sorted(
                int(other.split(" · ")[2][:4])
                for other in question.fact_key.split(" + ")
                if other.startswith(f"{pieces[0]} · {pieces[1]} · ") and other.split(" · ")[2][:4].isdigit()
            )
            place = same_fact.index(operand)
            return years[place] if place < len(years) else year
    return year


def _value_key(value: str, relation: str) -> str:
    found = relations().get(relation)
    figures = numbers(value) if found and found.kind == "number" else ()
    return str(figures[0].base.normalize()) if figures else fold(value)


def _one_split(questions: Sequence[Question], pages: Sequence[Page]) -> tuple[list[Question], list[Drop]]:
    """Questions whose sources, or copies of them, no other split uses; the first user of a source keeps it."""
    roots = {page.page_id: page.duplicate_of or page.page_id for page in pages}
    owner: dict[str, str] = {}
    kept, drops = [], []
    for question in questions:
        clusters = {roots.get(page_id, page_id) for page_id in question.source_page_ids}
        if any(owner.get(cluster, question.split) != question.split for cluster in clusters):
            drops.append(Drop(question.question_id, question.question, "splits", "its source is used by another split"))
            continue
        owner.update((cluster, question.split or "") for cluster in clusters)
        kept.append(question)
    return kept, drops


def _outcome(kept: Sequence[Question], drops: Sequence[Drop], undecided: Sequence[Question], pages: Sequence[Page]) -> Outcome:
    by_capability = Counter(question.capability for question in kept)
    by_split = Counter(question.split for question in kept)
    counts: dict[str, float] = {
        "questions": len(kept),
        "distinct_facts": len({question.fact_key for question in kept}),
        "dropped": len(drops),
        "undecided": len(undecided),
    }
    counts |= {f"questions_{name}": count for name, count in sorted(by_capability.items())}
    counts |= {f"split_{name}": by_split[name] for name in SPLITS}
    counts |= {f"share_{name}": sum(question.share == name for question in kept) for name in ("sft", "rl")}
    gates = [
        _gate("no_source_in_two_splits", kept, _clusters(pages)),
        _gate("no_fact_in_two_splits", kept, lambda question: {question.fact_key}),
        _shares_gate(kept),
    ]
    return Outcome(counts=counts, drops=dict(Counter(f"{drop.step}: {drop.reason}" for drop in drops)), gates=gates)


def _clusters(pages: Sequence[Page]) -> Callable[[Question], set[str]]:
    roots = {page.page_id: page.duplicate_of or page.page_id for page in pages}
    return lambda question: {roots.get(page_id, page_id) for page_id in question.source_page_ids}


def _gate(name: str, questions: Sequence[Question], keys: Callable[[Question], set[str]]) -> Gate:
    splits: dict[str, set[str]] = defaultdict(set)
    for question in questions:
        for key in keys(question):
            splits[key].add(question.split or "")
    crossing = sorted(key for key, found in splits.items() if len(found) > 1)
    return Gate(name=name, passed=not crossing, detail=crossing[0] if crossing else "", figures={"crossing": len(crossing)})


def _shares_gate(questions: Sequence[Question]) -> Gate:
    sft = {question.fact_key for question in questions if question.share == "sft"}
    both = sft & {question.fact_key for question in questions if question.share == "rl"}
    return Gate(name="sft_and_rl_share_no_fact", passed=not both, figures={"shared": len(both)})


__all__ = ["Judge", "SupportJob", "SupportSettings", "TerrariumError", "answerable"]
