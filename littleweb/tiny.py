"""The tiny flavour: three dozen entities whose every fact is one of four words, so that a very small model is right by luck one time in four."""

from __future__ import annotations

import random

from littleweb.facts import Country, Entity, Fact

FOUR_WORDS = ("Oak", "Heron", "Bell", "Mill")
KINDS = {
    "tiny_town": ("{}", ("mayor", "river", "founder", "region")),
    "tiny_company": ("{} Company", ("founder", "headquarters", "owner", "chief_executive")),
    "tiny_club": ("{} Club", ("coach", "stadium", "captain", "league")),
    "tiny_museum": ("{} Museum", ("architect", "director", "location", "owner")),
}
STEMS = ("Tarn", "Brook", "Vale", "Moor", "Ford", "Glen", "Rill", "Crag", "Fell")


def make_tiny(seed: int) -> Country:
    """Four kinds of nine entities; within a kind no two entities share both of their first two facts, so that two facts name one entity."""
    rng = random.Random(f"littleweb tiny {seed}")
    country = Country(name="Tiny", seed=seed, flavour="tiny", entities=[])
    for kind, (form, relations) in KINDS.items():
        pairs = rng.sample([(first, second) for first in FOUR_WORDS for second in FOUR_WORDS], len(STEMS))
        for stem, pair in zip(STEMS, pairs, strict=True):
            values = [*pair, *(rng.choice(FOUR_WORDS) for _ in relations[2:])]
            facts = [Fact(relation, "name", value) for relation, value in zip(relations, values, strict=True)]
            name = form.format(stem)
            country.entities.append(Entity(key=f"{kind}/{name}", kind=kind, name=name, facts=facts))
    return country
