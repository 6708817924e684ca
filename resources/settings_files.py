"""Reading YAML settings: environment variables, a base to start from, files to include, dotted overrides. Knows no profile's content."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from terrarium.errors import TerrariumError

HOME = Path(__file__).parents[1]
# Settings go into fingerprints and manifests. A secret is named in them, never written.
_SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
_PASSWORD = re.compile(r"[a-z][a-z0-9+.-]*://[^/@\s]*:[^/@\s]+@", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")


def read_settings(path: Path, _above: tuple[Path, ...] = (), _over: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A YAML mapping with variables filled in, laid over its `base` where it names one; `{include: file}` is that file's content.

    `base` and `include` are paths beside the file that names them. What is laid over by a file above needs no variable any more.

    Raises:
        TerrariumError: the file is missing or no YAML mapping, a variable is not set, or bases go in a circle.
    """
    if path in _above:
        raise TerrariumError(f"The settings {path} are their own base; take one `base` away.")
    try:
        settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TerrariumError(f"The settings {path} cannot be read ({error.strerror}).") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise TerrariumError(f"The settings {path} are not readable YAML ({' '.join(str(error).split())}); mend that place.") from error
    if not isinstance(settings, dict):
        raise TerrariumError(f"The settings {path} hold no keys; a profile starts with `description:`.")
    base = settings.pop("base", None)
    needed = _without(settings, _over or {})
    filled = {str(key): _fill(value, path, str(key)) for key, value in needed.items()}
    if base is None:
        return filled
    return _merge(read_settings(path.with_name(f"{base}.yaml"), (*_above, path), _merge(filled, _over or {})), filled)


def lay_over(settings: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with dotted keys set; whether they are keys at all is for the model to say."""
    result = _merge({}, settings)
    for dotted, value in overrides.items():
        holder: dict[Any, Any] = result
        *above, last = [int(part) if part.isdigit() else part for part in dotted.split(".")]
        for part in above:
            below = holder.get(part)
            holder[part] = dict(below) if isinstance(below, Mapping) else {}
            holder = holder[part]
        holder[last] = value
    return result


def sentence_of(error: ValidationError, most: int = 5) -> str:
    """A model's complaints in words, each with key, complaint and value; the first `most` of them."""
    errors = error.errors()
    told = "; ".join(_complaint(one) for one in errors[:most])
    return told if len(errors) <= most else f"{told}; and {len(errors) - most} more"


def _complaint(one: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in one["loc"]) or "the whole"
    if one["type"] == "extra_forbidden":
        return f"{place}: there is no such key"
    if one["type"] == "missing":
        return f"{place}: this key is missing"
    value = one.get("input")
    shown = f" (it is {value!r})" if isinstance(value, (str, int, float, bool)) or value is None else ""
    return f"{place}: {one['msg']}{shown}"


def _without(settings: Mapping[Any, Any], over: Mapping[str, Any]) -> dict[Any, Any]:
    """Settings less what `over` replaces."""
    kept: dict[Any, Any] = {}
    for key, value in settings.items():
        upper = over.get(key)
        if isinstance(value, Mapping) and isinstance(upper, Mapping) and set(value) != {"include"}:
            kept[key] = _without(value, upper)
        elif key not in over or isinstance(value, Mapping) and isinstance(upper, Mapping):
            kept[key] = value
    return kept


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        lower = merged.get(key)
        merged[key] = _merge(lower, value) if isinstance(lower, Mapping) and isinstance(value, Mapping) else value
    return merged


def _fill(value: Any, path: Path, place: str) -> Any:
    if isinstance(value, dict):
        if set(value) == {"include"}:
            return read_settings(path.with_name(str(value["include"])).resolve())
        return {key: _fill(item, path, f"{place}.{key}") for key, item in value.items()}
    if isinstance(value, list):
        return [_fill(item, path, f"{place}.{number}") for number, item in enumerate(value)]
    if isinstance(value, str):
        filled = _VARIABLE.sub(lambda match: _variable(match, path, place), value)
        if _PASSWORD.match(filled):
            raise TerrariumError(f"{path.name} has an address with a password in {place}, and settings stand in manifests; take the password out.")
        return filled
    return value


def _variable(match: re.Match[str], path: Path, place: str) -> str:
    if _SECRET.search(match["name"]):
        raise TerrariumError(
            f"{path.name} writes the secret {match['name']} into {place}, and settings stand in manifests; "
            "name the variable where a setting asks for a variable's name (search.key_env, index.token_env, store_url: env:NAME)."
        )
    found = os.environ.get(match["name"]) or match["default"]
    if found is None:
        name = match["name"]
        raise TerrariumError(f"{path.name} takes {place} from the environment variable {name}, which is not set; set it: `{name}=... make run`.")
    return found
