"""The identity of a sealed world: what a snapshot's id is made of, and the file that says how to open it.

Two worlds with one id give the same bytes for the same call. Whatever can change a result is part of the id; places, times and
counts are not.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from terrarium.errors import TerrariumError
from terrarium.tables import read_rows, stable_id
from terrarium.world.embed import EmbedderSettings
from terrarium.world.index import IndexSettings
from terrarium.world.tools import RANKER, SNIPPET_RULE, SUMMARISER, ToolSettings

WORLD = "world.json"
PLACES = "places.json"
HIDDEN = "hidden.parquet"


class WorldFile(BaseModel):
    """world.json: what the snapshot is made of. No path stands in it, so that equal worlds have equal files."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    snapshot: str
    mode: Literal["corpus", "question", "none"]
    pages: int
    removed: int
    build: str
    store_digest: str
    index_digest: str
    removal_digest: str
    embedder_fingerprint: str
    lexical: bool
    embedder: EmbedderSettings
    index_settings: IndexSettings
    tools: ToolSettings
    store_url: str | None = None


class Places(BaseModel):
    """places.json: where store and index lie, absolute and as seen from the world's folder (for a state folder that was moved)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    store: Path
    index: Path
    store_from_here: Path
    index_from_here: Path

    @staticmethod
    def of(store: Path, index: Path, world: Path) -> Places:
        """The places of two folders as seen from a third."""
        store, index, world = store.resolve(), index.resolve(), world.resolve()
        return Places(
            store=store, index=index, store_from_here=Path(os.path.relpath(store, world)), index_from_here=Path(os.path.relpath(index, world))
        )

    def found(self, world: Path) -> tuple[Path, Path]:
        """The folders that exist, store then index.

        Raises:
            TerrariumError: one is nowhere.
        """
        folders = []
        for asset, absolute, relative in (("page_store", self.store, self.store_from_here), ("search_index", self.index, self.index_from_here)):
            place = next((place for place in (absolute, world.resolve() / relative) if place.is_dir()), None)
            if place is None:
                raise TerrariumError(f"The world {world} needs {absolute}, which is gone; materialise {asset} and world again.")
            folders.append(place)
        return folders[0], folders[1]


def snapshot_id(
    store_digest: str,
    index_digest: str,
    removal_digest: str,
    embedder_fingerprint: str,
    index_settings: IndexSettings,
    tools: ToolSettings,
) -> str:
    """The id over pages, removals, embedder, index parameters, snippet rule, ranker and summariser."""
    sizes = json.dumps({**tools.model_dump(mode="json", exclude={"cached_results"})}, sort_keys=True)
    index = json.dumps(index_settings.identity(), sort_keys=True)
    return stable_id("world", store_digest, index_digest, removal_digest, embedder_fingerprint, index, sizes, SNIPPET_RULE, RANKER, SUMMARISER)


def read_json(path: Path, model: type[Any], what: str) -> Any:
    """A file of one of the models above.

    Raises:
        TerrariumError: it is missing or damaged.
    """
    try:
        return model.model_validate_json(path.read_text())
    except FileNotFoundError:
        raise TerrariumError(f"The {what} {path} does not exist; materialise world first.") from None
    except (OSError, ValueError) as error:
        raise TerrariumError(f"The {what} {path} cannot be read ({str(error).splitlines()[0][:150]}); materialise world again.") from error


def write_json(path: Path, value: BaseModel) -> None:
    """Write by rename, keys sorted."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps(value.model_dump(mode="json"), indent=1, sort_keys=True))
    partial.replace(path)


def read_hidden(folder: Path) -> dict[str, frozenset[str]]:
    """question id -> ids of the pages hidden from it (mode "question")."""
    found: dict[str, set[str]] = {}
    for row in read_rows(folder / HIDDEN):
        found.setdefault(row["question_id"], set()).add(row["page_id"])
    return {question: frozenset(pages) for question, pages in found.items()}
