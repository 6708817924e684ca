"""Numbers that can be compared: which facts go together, and how a computed number is written."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal

from terrarium.questions.makers.craft import Craft
from terrarium.questions.pool import Statement
from terrarium.questions.values import dates, fold

_SCALES = {"thousand": Decimal(10**3), "million": Decimal(10**6), "billion": Decimal(10**9), "trillion": Decimal(10**12)}
_SCALE = re.compile(r"\s*\b(thousand|million|billion|trillion)$")


def comparable_groups(craft: Craft, salt: str) -> Iterator[list[Statement]]:
    """Facts with a number that can be compared: one relation, unit, date, split, language and kind of thing; in seeded order.

    Dates count by their year, and only relations that name an act ("founded", "born") take part.
    """
    groups: dict[tuple[str, ...], list[Statement]] = defaultdict(list)
    for statement in craft.pool.statements:
        relation = statement.relation
        if statement.items or statement.language == "zh" or relation.kind not in ("number", "date") or not relation.clause:
            continue
        if relation.kind == "number" and not (relation.noun or relation.more):
            continue
        noun = craft.pool.noun(statement.subject, [statement])
        groups[relation.name, fold(statement.unit), statement.as_of or "", statement.split, noun].append(statement)
    for key in sorted(groups, key=lambda key: (craft.draw("/".join(key), salt), key)):
        group = {fold(statement.subject): statement for statement in groups[key]}
        if len(group) > 1:
            yield [group[name] for name in sorted(group)]


def format_like(number: Decimal, example: str) -> str:
    """A number written as an example is: with thousands separators if it has or would have them, with as many decimals."""
    scale = _SCALE.search(example)
    if scale:
        return f"{format_like(number / _SCALES[scale[1]], example[: scale.start()])} {scale[1]}"
    decimals = len(example.split(".")[1].split()[0]) if "." in example and example.split(".")[1][:1].isdigit() else 0
    if number == number.to_integral_value():
        decimals = 0
    rounded = number.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
    plain_year = bool(dates(example))
    return f"{rounded:.{decimals}f}" if plain_year else f"{rounded:,.{decimals}f}"


def with_unit(number: str, unit: str) -> str:
    """ "34" and "km" -> "34 km"; a currency sign stands before."""
    return f"{unit}{number}" if unit[:1] in {"$", "€", "£", "¥"} else f"{number} {unit}".strip()
