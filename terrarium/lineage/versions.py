"""The versions of what makes an artifact: the interpreter and the packages whose behaviour can be seen in the data. Nothing is imported for it."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    "terrarium",
    "dagster",
    "pyarrow",
    "scrapy",
    "trafilatura",
    "mwparserfromhell",
    "datasketch",
    "pymilvus",
    "milvus-lite",
    "sentence-transformers",
    "FlagEmbedding",
    "torch",
    "transformers",
    "trl",
    "vllm",
)


@cache
def versions() -> dict[str, str]:
    """Name -> version; a package that is not installed is left out."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
