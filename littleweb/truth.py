"""The truth about a country, for tests and benchmarks: every fact, and every page that states it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from littleweb.facts import Entity, Fact
from littleweb.web import Web


def truth_rows(web: Web) -> Iterator[dict[str, Any]]:
    """One row a fact and point in time: kind, subject, relation, type, value or items, unit, as_of, current, on_seeds, pages.

    A page is {url, site, role (seed, copy, independent), lead, stale, kind}; `stale` when a newer value exists.
    """
    pages: dict[tuple[str, str, str, int | None], dict[str, dict[str, Any]]] = {}
    for spec in web.plan.pages:
        for said in web.document(spec).statements:
            place = {"url": spec.url, "site": spec.site.host, "role": spec.site.role, "kind": spec.kind, "lead": said.lead, "stale": said.stale}
            known = pages.setdefault((said.subject, said.relation, said.value, said.as_of), {})
            if spec.url in known:
                place["lead"] = place["lead"] or known[spec.url]["lead"]
                place["stale"] = place["stale"] or known[spec.url]["stale"]
            known[spec.url] = place

    def row(entity: Entity, fact: Fact, value: str, as_of: int | None, current: bool) -> dict[str, Any]:
        keys = [(entity.name, fact.relation, item, as_of) for item in fact.items] or [(entity.name, fact.relation, value, as_of)]
        common = set.intersection(*(set(pages.get(key, {})) for key in keys))
        found = [place for url, place in pages.get(keys[0], {}).items() if url in common]
        return {
            "kind": entity.kind, "subject": entity.name, "relation": fact.relation, "type": fact.type, "value": value, "items": list(fact.items),
            "unit": fact.unit, "as_of": as_of, "current": current, "on_seeds": fact.on_seeds, "pages": found,
        }  # fmt: skip

    for entity in web.country.entities:
        for fact in entity.facts:
            yield row(entity, fact, fact.value, fact.as_of, True)
            older = (
                fact.series[:-1] if fact.series else tuple((year, value) for value, year in [fact.previous] if fact.previous) if fact.previous else ()
            )
            for year, value in older:
                yield row(entity, fact, value, year, False)


def write_truth(web: Web, out: Path) -> int:
    """Write the rows as JSON lines; return how many."""
    rows = [json.dumps(row, ensure_ascii=False) for row in truth_rows(web)]
    out.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return len(rows)
