"""Opening prose: what a page says before it says anything. Search snippets are cut from here, so it gives no fact away."""

from __future__ import annotations

import random

from littleweb.phrases import openings

LEAD_WORDS = 112


def opening(rng: random.Random, voice: str, subject: str, kind: str, country: str, words: int = LEAD_WORDS) -> list[str]:
    """One or more paragraphs of at least `words` words about `subject` that state no fact; deterministic in `rng`."""
    pool = openings()
    slots = pool["slots"]
    sentences: list[str] = []
    total = 0
    names_subject = [line for line in pool[voice] if "{s}" in line]
    order = [rng.choice(names_subject)] if names_subject else []
    rest = [line for line in pool[voice] if line not in order]
    order += rng.sample(rest, len(rest))
    for line in order:
        if total >= words:
            break
        chosen = {name: rng.choice(options) for name, options in slots.items()}
        sentence = sentence_case(line.format(s=subject, k=kind, country=country, **chosen))
        sentences.append(sentence)
        total += len(sentence.split())
    half = len(sentences) // 2
    return [" ".join(sentences[:half]), " ".join(sentences[half:])]


def sentence_case(text: str) -> str:
    """The text with its first letter as a capital."""
    return text[:1].upper() + text[1:]
