"""The facts that makers may use: read once from all pages of a round, with the split, the ambiguity and the article of every name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from urllib.parse import urlsplit

from terrarium.corpus.page import Page
from terrarium.questions.entity import Entity, entity_of, page_name
from terrarium.questions.facts import Fact, facts_of
from terrarium.questions.lexicon import Relation, relations
from terrarium.questions.splits import split_of
from terrarium.questions.values import dates, fold, has_cjk, numbers, same
from terrarium.questions.words import mapping, words

# A name that is the value of so many relations is a word ("Unknown", "Red"), not the name of one thing.
_WORD_RELATIONS = 4


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that is true of one subject, and every page that says so. `split` is that of the pages and the subject."""

    subject: str
    relation: Relation
    value: str
    unit: str
    items: tuple[str, ...]
    as_of: str | None
    split: str
    language: str
    facts: tuple[Fact, ...]

    @property
    def key(self) -> str:
        """Names the fact: subject, relation, and the date where there is one."""
        return " · ".join(part for part in (fold(self.subject), self.relation.name, self.as_of) if part)

    @property
    def shown(self) -> str:
        return replace(self.facts[0], value=self.value, unit=self.unit).shown

    @property
    def amount(self) -> Decimal:
        """The number a value stands for, without its unit; of a date its year. Only for relations of kind number or date."""
        return Decimal(dates(self.value)[0].year) if self.relation.kind == "date" else numbers(self.value)[0].value

    @property
    def full_date(self) -> bool | None:
        """Whether the value is a date to the day (True), a bare year (False), something between or no date (None)."""
        if self.relation.kind != "date" or self.items:
            return None
        when = dates(self.value)[0]
        return True if when.day else (False if when.month is None else None)


@dataclass(slots=True)
class Pool:
    """All facts of a round's pages. `statements` are usable for questions; `everything` also holds the facts of mixed pages."""

    pages: dict[str, Page]
    entities: dict[str, Entity]
    fractions: dict[str, float]
    statements: list[Statement] = field(default_factory=list)
    everything: list[Fact] = field(default_factory=list)
    conflicts: dict[tuple[str, str, str | None], list[Fact]] = field(default_factory=dict)
    unusable: list[tuple[Fact, str]] = field(default_factory=list)
    ambiguous: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    names: dict[str, Entity] = field(default_factory=dict)
    articles: set[str] = field(default_factory=set)
    people: set[str] = field(default_factory=set)

    @property
    def one_site(self) -> bool:
        """Whether all pages come from one site."""
        return len({urlsplit(page.url).netloc for page in self.pages.values()}) == 1

    def in_text(self, name: str) -> str:
        """A name as it stands inside a sentence, with the article its own page gives it."""
        entity = self.names.get(fold(name))
        if entity:
            return entity.in_text
        return f"the {name}" if not has_cjk(name) and (fold(name) in self.articles or _wants_article(name)) else name

    def noun(self, subject: str, facts: Iterable[Statement]) -> str:
        """What kind of thing a subject is, in one word or two."""
        entity = self.names.get(fold(subject))
        if fold(subject) in self.people:
            return "person"
        if entity and entity.noun:
            return entity.noun
        if entity and entity.qualifier.isalpha() and entity.qualifier.islower():
            return entity.qualifier
        found = {statement.relation.name for statement in facts}
        return next((noun for noun, telling in _CLASSES.items() if found & telling), "")

    def may_answer(self, statement: Statement) -> bool:
        """Whether the value may be asked for: a proper name only if it falls into the split of its subject."""
        values = statement.items or (statement.value,)
        return all(not self._is_entity(value, statement) or split_of(value, self.fractions) == statement.split for value in values)

    def _is_entity(self, value: str, statement: Statement) -> bool:
        if fold(value) in self.names:
            return True
        return statement.relation.kind == "name" and fold(value) not in self.words

    def of_split(self, split: str) -> Iterator[Statement]:
        return (statement for statement in self.statements if statement.split == split)


_CLASSES = {noun: frozenset(telling.split()) for noun, telling in mapping("classes").items()}
_ARTICLE_HEADS = frozenset(words("article_heads"))
_ARTICLE_TAILS = frozenset(words("article_tails"))


def _wants_article(name: str) -> bool:
    parts = name.casefold().split()
    return len(parts) > 1 and (parts[0] in _ARTICLE_HEADS or parts[-1] in _ARTICLE_TAILS)


def build(pages: Sequence[Page], fractions: Mapping[str, float], read: Callable[[Page], list[Fact]] = facts_of) -> Pool:
    """Read all pages of a round. Copies are passed over: they follow the page they are copies of. `read` gives the facts of a page."""
    originals = [page for page in pages if page.duplicate_of is None and page.vanished_at is None and page.markdown.strip()]
    pool = Pool({page.page_id: page for page in originals}, {page.page_id: entity_of(page) for page in originals}, dict(fractions))
    _name_entities(pool, originals)
    grouped: dict[tuple[str, str, str | None], list[Fact]] = defaultdict(list)
    uses: dict[str, set[str]] = defaultdict(set)
    for page in originals:
        for fact in read(page):
            fact = _dated_by_page(fact, page)
            pool.everything.append(fact)
            if fact.relation in ("born", "birthplace", "spouse"):
                pool.people.add(fold(fact.subject))
            if fact.article:
                pool.articles.add(fold(fact.value))
            for value in fact.items or (fact.value,):
                if relations()[fact.relation].kind == "name":
                    uses[fold(value)].add(fact.relation)
            reason = _unusable(fact, pool)
            if reason:
                pool.unusable.append((fact, reason))
            else:
                grouped[fold(fact.subject), fact.relation, fact.as_of].append(fact)
    for key in [key for key in grouped if relations()[key[1]].never == "person" and key[0] in pool.people]:
        pool.unusable.extend((fact, "a person has no such thing") for fact in grouped.pop(key))
    pool.words = {value for value, found in uses.items() if len(found) >= _WORD_RELATIONS}
    for key, facts in grouped.items():
        if any(not agree(facts[0], other) for other in facts[1:]):
            pool.conflicts[key] = facts
            pool.unusable.extend((fact, "the pages contradict each other") for fact in facts)
            continue
        pool.statements.append(_statement(facts, pool))
    return pool


def agree(one: Fact, other: Fact) -> bool:
    """Whether two facts of the same subject and relation say the same."""
    if one.items or other.items:
        return {fold(item) for item in one.items} == {fold(item) for item in other.items}
    if one.kind == "date":
        first, second = dates(one.value)[0], dates(other.value)[0]
        return first.year == second.year and (None in (first.month, second.month) or (first.month, first.day) == (second.month, second.day))
    if one.kind == "number":
        return same(one.shown, other.shown, "number") or _converted(one, other)
    return same(one.value, other.value, one.kind)


def _converted(one: Fact, other: Fact) -> bool:
    """Whether two lengths or areas are one in two units: 1,246,700 km² and 481,354 sq mi."""
    first, second = numbers(one.shown)[0], numbers(other.shown)[0]
    return (
        bool(first.dimension)
        and first.dimension == second.dimension
        and first.unit != second.unit
        and abs(first.base - second.base) <= first.base / 100
    )


def _statement(facts: list[Fact], pool: Pool) -> Statement:
    # The fullest form speaks: "12 March 1923" before "1923"; boxes before sentences.
    best = max(facts, key=lambda fact: (len(fact.value) if fact.kind == "date" else 0, fact.source == "box", len(fact.items)))
    page = pool.pages[best.page_id]
    order = [best, *(fact for fact in facts if fact is not best)]
    return Statement(
        best.subject,
        relations()[best.relation],
        best.value,
        best.unit,
        best.items,
        best.as_of,
        split_of(best.subject, pool.fractions),
        page.language,
        tuple(order),
    )


def _name_entities(pool: Pool, pages: list[Page]) -> None:
    seen: dict[tuple[str, str], set[str]] = defaultdict(set)
    for page in pages:
        entity = pool.entities[page.page_id]
        if entity.qualifier.casefold() == "disambiguation":
            continue
        name = fold(entity.name)
        if page_name(page.title)[0] == entity.name and (name not in pool.names or _own_page(page, entity)):
            pool.names[name] = entity
        seen[urlsplit(page.url).netloc, name].add(page.page_id if entity.qualifier else "")
    pool.ambiguous = {name for (_, name), variants in seen.items() if len(variants) > 1}


def _own_page(page: Page, entity: Entity) -> bool:
    return fold(page.title) == fold(entity.name) or bool(entity.qualifier)


def _dated_by_page(fact: Fact, page: Page) -> Fact:
    """A value that changes and carries no date of its own is as old as the page's revision."""
    relation = relations()[fact.relation]
    if fact.as_of and relation.when_dated:
        relation = relations()[relation.when_dated]
        fact = replace(fact, relation=relation.name)
    if not relation.changes:
        return replace(fact, as_of=None)
    if fact.as_of or not page.published_at:
        return fact
    return replace(fact, as_of=page.published_at[:7])


def _unusable(fact: Fact, pool: Pool) -> str:
    subject = fact.subject
    entity = pool.entities[fact.page_id]
    relation = relations()[fact.relation]
    if fold(subject) in pool.ambiguous:
        return "several pages share the subject's name"
    if (
        entity.qualifier.casefold() == "disambiguation"
        or (not subject[:1].isupper() and not has_cjk(subject) and not subject[:1].isdigit())
        or len(subject) < 3
    ):
        return "the subject is no proper name"
    if subject.casefold().startswith(("list of ", "lists of ", "index of ", "outline of ", "comparison of ")):
        return "the subject is no proper name"
    if split_of(subject, pool.fractions) != split_of(entity.name, pool.fractions):
        return "subject and page belong to different splits"
    if relation.changes and not fact.as_of:
        return "the value changes and no date is given"
    return ""
