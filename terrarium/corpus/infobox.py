"""Wikipedia's boxes of facts: which templates are such, and what their arguments say in readable labels and values."""

from __future__ import annotations

import re

from terrarium.corpus.templates import Arguments, grouped

_BOXES = re.compile(
    r"infobox|^(?:taxobox|automatic taxobox|speciesbox|chembox|drugbox|geobox|elementbox|planetbox|starbox|mycomorphbox|protein|"
    r"ethnic group|military conflict)\b"
)


def is_box(name: str) -> bool:
    """A template whose arguments are facts of the page's subject."""
    return bool(_BOXES.search(name)) and "mapframe" not in name


def labelled(arguments: Arguments) -> list[tuple[str, str]]:
    """The facts of a box: readable labels and values; pictures, sizes and styles are left out, units in names go to the value."""
    pairs: list[tuple[str, str]] = []
    used: set[str] = set()
    years: dict[str, str] = {}
    place = _place(arguments)
    if place:
        pairs.append(("Coordinates", place))
    for name, value in arguments.items():
        plain = re.sub(r"\s+", " ", value).strip(" ;,")
        if name in used or not plain or name.isdigit() or _UNSHOWN.search(name):
            continue
        label, unit = _label(name, arguments, used)
        if not label:
            continue
        if unit and re.fullmatch(r"[-+−]?[\d.,]+", plain):
            plain = grouped(plain) + unit
        base = re.sub(r"\s+year$", "", label, flags=re.IGNORECASE)
        if base != label and re.fullmatch(r"\d{4}", plain):
            # "Gini year" only dates the value before or after it.
            pairs = [(known, f"{text} ({plain})" if known == base and plain not in text else text) for known, text in pairs]
            years[base] = plain
            continue
        pairs.append((label, f"{plain} ({years[label]})" if label in years and years[label] not in plain else plain))
    return pairs


def _place(arguments: Arguments) -> str:
    """Coordinates given as separate degrees, minutes and hemispheres."""
    parts = []
    for name, letters in (("lat", "NS"), ("long", "EW"), ("lon", "EW")):
        degrees = arguments.get(f"{name}d") or arguments.get(f"{name}_d") or arguments.get(f"{name}_deg")
        if degrees:
            minutes = arguments.get(f"{name}m") or arguments.get(f"{name}_m") or arguments.get(f"{name}_min") or ""
            side = arguments.get(f"{name}{letters}") or arguments.get(f"{name}_{letters}") or ""
            parts.append(f"{degrees}°{minutes + '′' if minutes else ''}{side}")
    return " ".join(parts)


_UNSHOWN = re.compile(
    r"(?:^|_)(?:image|img|photo|picture|logo|flag|coat|seal|shield|map|mapsize|skyline|caption|alt|size|width|height_px|color|colour|style|class|align|footnotes?|ref|refs|note|notes|"
    r"signature|module|child|embed|link|zoom|pushpin|change|magnitude|label_position|bg|background|border|sound|audio|type_ref|rank_ref|symbol|symbol_type|hide|auto|df|iso|regioncode|"
    r"pronunciation|ipa|timezone_link|autocat|nocat|fetchwikidata|onlysourced|mapframe.*)\d*(?:_|$)|^(?:image|map|logo|flag|coa)|^(?:lat|long|lon)(?:d|m|s|ns|ew|_\w{1,3})?$|(?:image|caption|color|size|width|link|alt|ref)\d*$",
    re.IGNORECASE,
)
# The name of a fact stands in one argument, the fact in another.
_NAMED_BY = (
    (r"(.*)_name(\d*)$", ("{0}_title{1}", "{0}_type{1}")),
    (r"(.*)_date(\d*)$", ("{0}_event{1}", "{0}_title{1}")),
    (r"data(\d+)$", ("label{0}",)),
    (r"(.*blank\d*)_info(.*)$", ("{0}_name{1}",)),
    (r"(.*blank\d+)(?:_km2|_sq_mi|_m|_ft)?$", ("{0}_title",)),
    (r"(p)(\d+)$", ("parts_type",)),
    (r"(.*\d)$", ("{0}_title", "{0}_type", "{0}_name", "{0}_label")),
)
_UNIT_SUFFIX = re.compile(r"_(km2|sq_?mi|m|ft|km|mi|ha|kg|lb|acres?|c|f|percent|m3_s|mm|in)$", re.IGNORECASE)
_SUFFIXES = {"km2": " km²", "sq_mi": " sq mi", "sqmi": " sq mi", "percent": "%", "c": " °C", "f": " °F", "m3_s": " m³/s", "acre": " acres"}


def _label(name: str, arguments: Arguments, used: set[str]) -> tuple[str, str]:
    for pattern, keys in _NAMED_BY:
        found = re.match(pattern, name)
        for key in keys if found else ():
            assert found is not None
            title = key.format(*found.groups())
            if title != name and arguments.get(title, "").strip():
                used.add(title)
                return re.sub(r"\s+", " ", arguments[title]).strip(" :;"), ""
    if re.search(r"_(?:title|type|event)\d*$|^label\d+$|_name_sec\d+$|blank\d*_name$", name):
        return "", ""
    unit = ""
    suffix = _UNIT_SUFFIX.search(name)
    if suffix:
        unit = _SUFFIXES.get(suffix[1].lower(), " " + suffix[1].lower())
        if "density" in name:
            unit = "/" + unit.strip()
        name = name[: suffix.start()]
    words = re.sub(r"[_\s]+", " ", re.sub(r"(?<=[a-z])(?=\d+$)", " ", name)).strip()
    return words[:1].upper() + words[1:], unit
