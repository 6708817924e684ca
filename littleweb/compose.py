"""Writes the content of a page from its plan: which facts it tells, in which form, after which opening."""

from __future__ import annotations

import random

from littleweb.blocks import Block, Cell, Document, Infobox, Items, Table, Text
from littleweb.chinese import chinese_document
from littleweb.facts import Entity
from littleweb.openings import opening, sentence_case
from littleweb.plan import OVERVIEWS, PageSpec, Plan, kind_word
from littleweb.saying import Speaker, Told, joined, tell, with_unit
from littleweb.sites import COURIER, PLURALS

LEAK_SHARE = 0.06


class Composer:
    """Turns a PageSpec into a Document; equal specs give equal documents."""

    def __init__(self, plan: Plan, templates: int) -> None:
        self.plan = plan
        self.country = plan.country
        self.templates = templates

    def document(self, page: PageSpec) -> Document:
        """The content of the page."""
        rng = self.plan.stream("page", page.url)
        if page.kind in ("index", "home"):
            return self._index(page, rng)
        if page.kind in ("exact_copy", "near_copy"):
            return self._copy(page, rng)
        if page.kind == "overview":
            return self._overview(page, rng)
        if page.site.style == "wiki":
            return self._wiki(page, rng)
        if page.site.style == "chinese":
            return chinese_document(page.entities[0], page.title)
        return self._account(page, rng)

    def told(self, page: PageSpec, entity: Entity) -> list[Told]:
        """The facts of the entity as this page knows them. What is out of date on one site is told with both years on the full ones."""
        seeds = page.site.role != "independent"
        partial = self.plan.is_partial(page.site, entity.kind)
        chosen = []
        for fact in entity.facts:
            stale_host = self.plan.stale_host(entity, fact)
            if seeds and not fact.on_seeds:
                continue
            if partial and stale_host != page.site.host and self.plan.stream("partial", page.url, fact.relation).random() > 0.6:
                continue
            chosen.append(tell(entity, fact, stale_host == page.site.host))
            if not seeds and not partial and stale_host is not None and fact.type != "series":
                chosen.append(tell(entity, fact, stale=True))
        if page.site.host == COURIER:
            rng = self.plan.stream("courier facts", entity.key)
            newer = [told for told in chosen if self.plan.stale_host(entity, told.fact) is not None and told.fact.type != "list"]
            others = [told for told in chosen if told not in newer and told.fact.type != "list"]
            chosen = newer + rng.sample(others, max(0, min(len(others), 5 - len(newer))))
        return chosen

    def _wiki(self, page: PageSpec, rng: random.Random) -> Document:
        entity = page.entities[0]
        speaker = Speaker(rng, "seed", self.templates)
        told = self.told(page, entity)
        word = kind_word(entity.kind)
        first = sentence_case(f"{entity.in_text} is {'an' if word[0] in 'aeiou' else 'a'} {word} in {self.country.name}.")
        document = Document(page.title, [], description=first, published=self._published(rng))
        rows: list[tuple[str, Cell]] = []
        sections: list[Block] = []
        for one in told:
            if one.fact.type == "list" and rng.random() < 0.5:
                label = speaker.bare_label(entity.kind, one.fact.relation)
                sections += [Text("h2", label), Text("p", speaker.sentence(one)), Items("ul", one.fact.items)]
            else:
                rows.append((speaker.label(one), speaker.cell(one)))
            document.statements += one.statements()
            if one.fact.type == "series" and len(one.points) > 1:
                label = speaker.bare_label(entity.kind, one.fact.relation)
                unit = one.fact.unit
                points: tuple[tuple[Cell, ...], ...] = tuple((str(year), with_unit(value, unit, False)) for year, value in one.points)
                sections += [Text("h2", f"{label} by year"), Table(f"{label} of {entity.in_text}", ("Year", label), points)]
                document.statements += one.series_statements()
        sentences = [speaker.sentence(one) for one in told if one.fact.type != "list" and rng.random() < 0.6]
        half = (len(sentences) + 1) // 2
        background = opening(rng, page.site.voice, entity.in_text, word, self.country.name, 30)
        document.blocks = [Infobox(entity.name, tuple(rows)), Text("p", " ".join([first, *sentences[:half]]))]
        document.blocks += [Text("h2", "Background"), Text("p", " ".join(part for part in [*background, *sentences[half:]] if part)), *sections]
        near = [other.name for other in self.country.of_kind(entity.kind) if other is not entity]
        document.blocks += [Text("h2", "See also"), Items("ul", tuple(rng.sample(near, 3)))]
        return document

    def _account(self, page: PageSpec, rng: random.Random) -> Document:
        """A page of any other site: opening prose first, the facts after it."""
        speaker = Speaker(rng, "seed" if page.site.role == "seed" else "other", self.templates)
        first = page.entities[0]
        word = kind_word(first.kind)
        lead = opening(rng, page.site.voice, joined(tuple(entity.in_text for entity in page.entities)), word, self.country.name)
        document = Document(page.title, [], description=" ".join(lead[0].split()[:28]), published=self._published(rng))
        told = [one for entity in page.entities for one in self.told(page, entity)]
        if rng.random() < LEAK_SHARE:
            leak = rng.choice(told)
            lead[0] = f"{lead[0]} {speaker.sentence(leak)}"
            document.description = speaker.sentence(leak)
            document.statements += leak.statements(lead=True)
        document.blocks = [Text("p", part) for part in lead]
        if page.site.style != "table":
            rng.shuffle(told)
        for one in told:
            document.statements += one.statements()
        getattr(self, f"_as_{page.site.style}")(page, speaker, told, document)
        return document

    def _lines(self, page: PageSpec, speaker: Speaker, told: list[Told], document: Document) -> list[str]:
        lines = []
        for one in told:
            lines.append(speaker.sentence(one))
            if one.fact.type == "series" and not self.plan.is_partial(page.site, one.entity.kind) and page.site.role == "independent":
                lines.append(speaker.series_sentence(one))
                document.statements += one.series_statements()
        return lines

    def _as_prose(self, page: PageSpec, speaker: Speaker, told: list[Told], document: Document) -> None:
        lines = self._lines(page, speaker, told, document)
        third = (len(lines) + 2) // 3
        for start in range(0, len(lines), third):
            document.blocks.append(Text("p", " ".join(lines[start : start + third])))

    _as_article = _as_prose

    def _as_bullets(self, page: PageSpec, speaker: Speaker, told: list[Told], document: Document) -> None:
        document.blocks.append(Items("ul", tuple(self._lines(page, speaker, told, document))))

    def _as_articles_of_law(self, page: PageSpec, speaker: Speaker, told: list[Told], document: Document) -> None:
        document.blocks += [Text("h2", "Particulars"), Items("ol", tuple(self._lines(page, speaker, told, document)))]

    def _as_labels(self, page: PageSpec, speaker: Speaker, told: list[Told], document: Document) -> None:
        lines = []
        for one in told:
            label = speaker.bare_label(one.entity.kind, one.fact.relation)
            cell = speaker.cell(one, date_form=0)
            value = cell if isinstance(cell, str) else joined(cell)
            year = f" as of {one.as_of}" if one.as_of else ""
            lines.append(f"{label} of {one.entity.in_text}{year}: {value}.")
            if one.fact.type == "series":
                lines += [f"{label} of {one.entity.in_text} in {at}: {with_unit(point, one.fact.unit, False)}." for at, point in one.points[:-1]]
                document.statements += one.series_statements()
        document.blocks += [Text("h2", "Particulars"), Items("ul", tuple(lines))]

    def _as_table(self, page: PageSpec, speaker: Speaker, told: list[Told], document: Document) -> None:
        rows: list[tuple[Cell, ...]] = []
        for one in told:
            if one.fact.type == "series" and not self.plan.is_partial(page.site, one.entity.kind):
                label = speaker.bare_label(one.entity.kind, one.fact.relation)
                rows += [(one.entity.name, f"{label} ({year})", with_unit(value, one.fact.unit, False)) for year, value in one.points]
                document.statements += one.series_statements()
            else:
                rows.append((one.entity.name, speaker.label(one), speaker.cell(one, date_form=2)))
        document.blocks.append(
            Table(f"Particulars of {page.entities[0].in_text}" if len(page.entities) == 1 else "Particulars", page.site.headers, tuple(rows))
        )

    def _overview(self, page: PageSpec, rng: random.Random) -> Document:
        """A table with one row an entity; complete for what its title says."""
        seed = page.site.role == "seed"
        speaker = Speaker(rng, "seed" if seed else "other", self.templates)
        relations = OVERVIEWS[page.entity_kind][1]
        lead = opening(rng, page.site.voice, "this list", kind_word(page.entity_kind), self.country.name, 20 if seed else 112)
        title = page.title.removeprefix("List of ")
        document = Document(page.title, [Text("p", part) for part in lead if part], description=f"Table of {title}.", published=self._published(rng))
        headers = (kind_word(page.entity_kind).capitalize(), *(speaker.bare_label(page.entity_kind, relation) for relation in relations))
        rows = []
        for entity in page.entities:
            told = [tell(entity, entity.fact(relation), stale=False) for relation in relations]
            rows.append((entity.name, *(speaker.cell(one, 0 if seed else 2) for one in told)))
            for one in told:
                document.statements += one.statements()
        document.blocks.append(Table(sentence_case(title), headers, tuple(rows)))
        return document

    def _copy(self, page: PageSpec, rng: random.Random) -> Document:
        assert page.original is not None
        document = self.document(page.original)
        document.notice = f"Text taken over from {page.original.site.title.format(country=self.country.name)}."
        if page.kind == "near_copy":
            places = [place for place, block in enumerate(document.blocks) if isinstance(block, Text) and block.tag == "p"]
            place = rng.choice(places)
            old = document.blocks[place]
            assert isinstance(old, Text)
            document.blocks[place] = Text("p", f"{old.text} Copied in {rng.choice(('spring', 'summer', 'autumn', 'winter'))}.")
        return document

    def _index(self, page: PageSpec, rng: random.Random) -> Document:
        words = [f"Welcome to {page.site.title.format(country=self.country.name)}."] if page.kind == "home" else ["Choose a page from the list."]
        kinds = ", ".join(PLURALS[kind] for kind in page.site.kinds)
        document = Document(page.title, [Text("p", f"{words[0]} We write about {kinds}.")], description=words[0])
        document.blocks.append(Items("ul", tuple(title for title, _ in page.links), tuple(path for _, path in page.links)))
        return document

    def _published(self, rng: random.Random) -> str:
        return f"2024-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
