"""Wikipedia's templates as text: what carries a fact (a number, a date, a name, a list) is printed, what decorates or cites is not.

A template is known by its name in lower case. What is not known here is left out of running text; inside a box of facts or a table,
where leaving it out would empty the cell, its first argument stands for it.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable

Arguments = dict[str, str]

# The unit as the template spells it = as it is printed.
_UNIT_TABLE = """
km2=km², sqkm=km², m2=m², sqmi=sq mi, mi2=sq mi, sqft=sq ft, ft2=sq ft, m3=m³, km3=km³, ft3=cu ft, cuft=cu ft, cumi=cu mi,
c=°C, f=°F, k=K, °c=°C, °f=°F, acre=acres, mile=miles, kn=knots, nmi=nautical miles, ton=tons, t=tonnes, bbl=barrels,
/km2=/km², /sqmi=/sq mi, kg/m3=kg/m³, g/cm3=g/cm³, m3/s=m³/s, cuft/s=cu ft/s, usgal=US gallons, impgal=imp gallons
"""
_UNITS: dict[str, str] = dict(re.findall(r"([^=,\s]+)=([^,\n]+)", _UNIT_TABLE))
_RANGE = {"to": " to ", "-": "–", "–": "–", "and": " and ", "by": " by ", "x": " × ", "×": " × ", "*": " × ", "to(-)": "–", "or": " or "}
_RANGE |= {"+/-": " ± ", "±": " ± "}
_CURRENCIES = {"us$": "US$", "usd": "US$", "£": "£", "gbp": "£", "€": "€", "eur": "€", "euro": "€", "inr": "₹", "rs": "₹", "a$": "A$", "aud": "A$"}
_CURRENCIES |= {"c$": "C$", "cad": "C$", "¥": "¥", "jpy": "¥"}
_SILENT = re.compile(
    r"^(?:cite\b|citation|sfn|harv|efn|refn|ref\b|reflist|refbegin|refend|r$|rp$|notelist|note\b|main|see also|seealso|further|"
    r"about|other uses|for\b|distinguish|redirect|hatnote|"
    r"use \w+ dates|pp-|short description|good article|featured|authority control|portal|commons|wiki|sister|navbox|defaultsort|"
    r"coord missing|dmoz|official|imdb|"
    r"clear|toc|div col|col-|colbegin|colend|multicol|page needed|dead link|who|when|where|which|clarify|by whom|according to|"
    r"dubious|fact|cn$|better source|"
    r"update|expand|refimprove|unreferenced|more |original research|pov|disputed|multiple issues|cleanup|copy ?edit|tone|image|"
    r"multiple image|double image|wide image|gallery|"
    r"flagicon|increase|decrease|steady|gain|loss|ipa[-c]|respell|pron|audio|listen|anchor|inflation|disambig|stub|r from|r to|"
    r"webarchive|wayback|isbn|issn|doi|oclc|"
    r"s-|start box|end box|succession|legend|clade|chart|ahnentafel|family tree|graph|location map|osm|maplink|infobox mapframe|"
    r"px$|color|bgcolor|party|ntsh|sort ?key|hs$|sronly|"
    r"verify|sisterlinks|subject bar|italic title|lowercase|engvarb|british english|american english|featured article|automatic taxobox$|taxonomy)",
)  # fmt: skip
_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name} | {
    name.lower(): number for number, name in enumerate(calendar.month_abbr) if name
}


def template_text(name: str, arguments: Arguments, in_cell: bool = False) -> str:
    """The text of one template.

    Args:
        name: in lower case, spaces for underscores.
        arguments: rendered values by name; positions are "1", "2", ...
        in_cell: the template stands in a box of facts or a table.
    """
    head, colon, rest = name.partition(":")
    if colon and head in _FUNCTIONS:
        return _FUNCTIONS[head](rest.strip())
    if name in _RENDERERS:
        return _RENDERERS[name](arguments)
    if name.startswith("lang-"):
        return arguments.get("1", "")
    if name.startswith(("birth", "death", "start", "end", "film date")) and "date" in name:
        return _date(arguments)
    if name in _CURRENCIES and arguments.get("1"):
        return _CURRENCIES[name] + arguments["1"]
    if _SILENT.match(name) or name.startswith("#"):
        return ""
    return arguments.get("1", "") if in_cell else ""


def positional(arguments: Arguments) -> list[str]:
    """The unnamed arguments in order."""
    found: list[str] = []
    while str(len(found) + 1) in arguments:
        found.append(arguments[str(len(found) + 1)].strip())
    return found


def _convert(arguments: Arguments) -> str:
    """`{{convert|3|to|5|km}}` -> "3 to 5 km"; what it is converted to is the reader's affair."""
    parts = positional(arguments)
    pieces: list[str] = []
    index = 0
    while index < len(parts):
        part = parts[index]
        following = parts[index + 1] if index + 1 < len(parts) else ""
        if re.match(r"^[-+−–]?[\d.,/+⁄ ]+(?:e[+-]?\d+)?$", part.strip()) and part.strip():
            pieces.append(grouped(part))
            if following.lower() in _RANGE:
                pieces.append(_RANGE[following.lower()])
                index += 2
                continue
            unit = _UNITS.get(following.lower(), following.replace("2", "²").replace("3", "³") if re.match(r"^[a-z]+[23]$", following) else following)
            pieces.append(("" if unit.startswith(("/", "°", "%")) else " ") + unit if unit else "")
            index += 2
            # feet and inches, pounds and ounces
            if (
                index + 1 < len(parts)
                and re.match(r"^[\d.]+$", parts[index])
                and following.lower() in ("ft", "lb", "st", "yd", "mi")
                and not pieces[0].startswith("/")
            ):
                pieces.append(" ")
                continue
            break
        index += 1
    return "".join(pieces).strip()


def grouped(number: str) -> str:
    """Digits in groups of three, as the template prints them."""
    found = re.fullmatch(r"([-+−]?)(\d{5,})(\.\d+)?", number.strip())
    return f"{found[1]}{int(found[2]):,}{found[3] or ''}" if found else number.strip()


def _formatnum(text: str) -> str:
    found = re.fullmatch(r"\s*(-?)(\d+)(\.\d+)?\s*(?:\|.*)?", text)
    return f"{found[1]}{int(found[2]):,}{found[3] or ''}" if found else text.split("|")[0]


def _val(arguments: Arguments) -> str:
    """`{{val|1.2|0.1|e=6|u=km}}` -> "1.2 ± 0.1 × 10⁶ km"."""
    parts = positional(arguments)
    if not parts:
        return ""
    text = grouped(parts[0])
    if len(parts) > 1 and parts[1]:
        text += f" ± {parts[1]}"
    if arguments.get("e"):
        text += " × 10" + arguments["e"].strip().translate(str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻"))
    unit = arguments.get("ul") or arguments.get("u") or ""
    return arguments.get("p", "") + text + ("" if not unit or unit == "%" else " ") + _UNITS.get(unit.lower(), unit) + arguments.get("s", "")


def _fraction(arguments: Arguments) -> str:
    parts = positional(arguments)
    if len(parts) == 3:
        return f"{parts[0]} {parts[1]}/{parts[2]}"
    return "/".join(parts) if len(parts) == 2 else (f"1/{parts[0]}" if parts else "")


def _date(arguments: Arguments) -> str:
    """The first date among the arguments: year, month, day, or a date already written out."""
    parts = [part for part in positional(arguments) if part]
    if not parts:
        return ""
    if not re.fullmatch(r"-?\d{1,4}", parts[0]):
        return parts[0]
    year, month, day = parts[0], _month(parts[1]) if len(parts) > 1 else 0, parts[2] if len(parts) > 2 else ""
    if not month:
        return year
    if not day.isdigit() or not 1 <= int(day) <= 31:
        return f"{calendar.month_name[month]} {year}"
    if arguments.get("mf", "").lower() in ("y", "yes"):
        return f"{calendar.month_name[month]} {int(day)}, {year}"
    return f"{int(day)} {calendar.month_name[month]} {year}"


def _month(text: str) -> int:
    number = int(text) if text.isdigit() else _MONTHS.get(text.lower(), 0)
    return number if 1 <= number <= 12 else 0


def _as_of(arguments: Arguments) -> str:
    return f"{'as of' if arguments.get('lc') else 'As of'} {_date(arguments)}"


def _items(arguments: Arguments) -> str:
    """A list: its arguments, or the bulleted lines of its first one."""
    found: list[str] = []
    for part in positional(arguments):
        lines = [line.strip().lstrip("*# ").strip() for line in part.splitlines()]
        found += [line for line in lines if line]
    return "; ".join(found)


def _first(arguments: Arguments) -> str:
    return arguments.get("1", "")


def _last(arguments: Arguments) -> str:
    return (positional(arguments) or [""])[-1]


def _second(arguments: Arguments) -> str:
    return arguments.get("2", "") or arguments.get("text", "")


def _nihongo(arguments: Arguments) -> str:
    english, *others = [*positional(arguments), "", "", ""][:3]
    extra = ", ".join(part for part in others if part)
    return f"{english} ({extra})" if english and extra else english or extra


def _coord(arguments: Arguments) -> str:
    """Degrees as written, up to the letters of the hemisphere; what is shown beside the title only is left out."""
    if arguments.get("display", "").strip() in ("title", "t"):
        return ""
    marks, pieces, place = "°′″", "", 0
    for part in positional(arguments):
        if part.upper() in ("N", "S", "E", "W"):
            pieces += part.upper() + " "
            place = 0
        elif re.fullmatch(r"-?[\d.]+", part):
            pieces += part + (marks[place] if place < 3 else "")
            place += 1
        else:
            break
    return pieces.strip() if re.search(r"[NSEW]", pieces) else pieces.replace("°", "°, ", 1).replace("′", "°").strip()


def _height(arguments: Arguments) -> str:
    if arguments.get("m") or arguments.get("cm"):
        return f"{arguments['m']} m" if arguments.get("m") else f"{arguments['cm']} cm"
    return " ".join(f"{arguments[unit]} {unit}" for unit in ("ft", "in", "kg", "lb", "st") if arguments.get(unit))


def _marriage(arguments: Arguments) -> str:
    name, *years = positional(arguments)[:3] or [""]
    return f"{name} (m. {'–'.join(year for year in years if year)})" if any(years) else name


def _bar(arguments: Arguments) -> str:
    parts = positional(arguments)
    return f"{parts[0]}: {parts[2]}%" if len(parts) > 2 else (parts[0] if parts else "")


def _percentage(arguments: Arguments) -> str:
    try:
        part, whole = float(arguments["1"].replace(",", "")), float(arguments["2"].replace(",", ""))
        return f"{100 * part / whole:.{int(arguments.get('3', '0') or 0)}f}%"
    except (KeyError, ValueError, ZeroDivisionError):
        return ""


def _constant(text: str) -> Callable[[Arguments], str]:
    return lambda arguments: arguments.get("1") or text


def _joined(arguments: Arguments) -> str:
    return "".join(positional(arguments))


def _quote(arguments: Arguments) -> str:
    text = arguments.get("1") or arguments.get("text") or arguments.get("quote") or ""
    source = arguments.get("2") or arguments.get("author") or arguments.get("sign") or ""
    return f"\n“{text.strip()}”{' — ' + source if source else ''}\n" if text else ""


def _named(renderer: Callable[[Arguments], str], names: str) -> dict[str, Callable[[Arguments], str]]:
    return {name.strip(): renderer for name in names.split(",")}


_FUNCTIONS: dict[str, Callable[[str], str]] = {
    "formatnum": _formatnum,
    "lc": str.lower,
    "uc": str.upper,
    "ucfirst": str.strip,
    "lcfirst": str.strip,
    "nowrap": str.strip,
}

_RENDERERS: dict[str, Callable[[Arguments], str]] = {
    **_named(_convert, "convert, cvt, convinfobox, pop density, convert/2"),
    **_named(lambda arguments: _formatnum(arguments.get("1", "")), "nts, formatnum, number, num, format num, commas"),
    **_named(_val, "val"),
    **_named(_fraction, "frac, fraction, sfrac, frac2"),
    **_named(
        _date,
        "dts, date, dob, bda, dda, year in, release date, launch date, birth-date, death-date, ordinal date, birth year, birth based "
        "on age as of date",
    ),
    **_named(_as_of, "as of, asof"),
    **_named(lambda arguments: "c. " + "–".join(positional(arguments)), "circa, c., ca, approx"),
    **_named(lambda arguments: "r. " + "–".join(positional(arguments)), "reign, r."),
    **_named(lambda arguments: "fl. " + "–".join(positional(arguments)), "floruit, fl."),
    **_named(
        _items,
        "hlist, plainlist, plain list, ubl, unbulleted list, flatlist, flat list, blist, bulleted list, cslist, unordered list, "
        "ordered list, startplainlist",
    ),
    **_named(
        lambda arguments: _items(arguments), "br separated entries, collapsible list, collapsed list, ublist, nobreak list, comma separated entries"
    ),
    **_named(_last, "transl, transliteration, lang, script, unicode, polytonic, iast, rtl-lang, big5, zh-t, zh-s, resize, nastaliq"),
    **_named(_nihongo, "nihongo, nihongo3, nihongo2"),
    **_named(
        _first,
        "small, smaller, nowrap, nobr, big, large, longitem, allow wrap, nwr, sc, smallcaps, abbr, tooltip, vanchor, visible anchor, "
        "flag, flagcountry, flagu, flagteam, "
        "url, ill, interlanguage link, interlanguage link multi, native name, native phrase, em, strong, angbr, angle bracket, "
        "keypress, key press, mono, code, tt, italics, i, b, "
        "ipa, center, left, right, align, font color, highlight, underline, u, nom, sort, sortname, ship, uss, hms, noitalic, no "
        "italic, fb, ru, fbu, cr, lit, literal translation, "
        "gloss, not a typo, sic, linktext, section link, age, math, mvar, var, overline, strike, s, ins, text, p, vr, railgauge, "
        "track gauge, hair space, linear, okina",
    ),
    **_named(_second, "sort, colored, coloured, hover, abbrlink, color box text, background color, font color, nowrap2"),
    **_named(lambda arguments: " ".join(positional(arguments)[:2]), "sortname"),
    **_named(_joined, "chem, chem2, ce, simplenuclide, simplenuclide2, nuclide, sup sub, bartable, ordinal, music"),
    **_named(lambda arguments: "^" + arguments.get("1", ""), "sup, e"),
    **_named(_first, "sub"),
    **_named(_coord, "coord, coor"),
    **_named(_height, "height, weight"),
    **_named(_marriage, "marriage"),
    **_named(_bar, "bar percent, bar pixel"),
    **_named(_percentage, "percentage, pct, percent"),
    **_named(_quote, "quote, blockquote, cquote, quotation, quote box, bquote"),
    **_named(lambda _: " ", "nbsp, spaces, space, thinsp, thin space, pad, gap, sp"),
    **_named(lambda _: " – ", "snd, spnd, spaced ndash, spaced en dash, spndash"),
    **_named(lambda _: "–", "ndash, en dash"),
    **_named(lambda _: "—", "mdash, em dash"),
    **_named(lambda _: " · ", "·, dot, middot, •, bull, bullet"),
    **_named(lambda _: "|", "!, pipe"),
    **_named(lambda _: "=", "="),
    **_named(lambda _: "'", "', apostrophe"),
    **_named(_constant("Yes"), "yes, aye, ya, y, tick, yes2, okay"),
    **_named(_constant("No"), "no, nay, na2, n, cross, no2, x mark"),
    **_named(_constant("Won"), "won"),
    **_named(_constant("Nominated"), "nom, nominated"),
    **_named(_constant("N/A"), "n/a, na"),
    **_named(_constant("Unknown"), "unknown, dunno"),
    **_named(_constant("TBA"), "tba"),
    **_named(lambda arguments: f"{arguments.get('1', '')} {arguments.get('2', '')}".strip(), "winner, loser, sent off"),
}
