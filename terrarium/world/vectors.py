"""Vectors kept by what they were made from, so that a page that did not change is never embedded twice, in this world or the next."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from terrarium.tables import stable_id
from terrarium.world.embed import Embedder, Vectors

if TYPE_CHECKING:
    import numpy as np


class VectorCache:
    """A SQLite file of vectors by (embedder, text); several processes may use it. `path` None keeps nothing."""

    def __init__(self, path: Path | None, embedder: Embedder) -> None:
        self._embedder = embedder
        self._connection: sqlite3.Connection | None = None
        self.embedded = 0
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=60.0)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("CREATE TABLE IF NOT EXISTS vectors (name TEXT PRIMARY KEY, dense BLOB NOT NULL, lexical TEXT)")

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts, in their order; equal texts are embedded once."""
        import numpy as np

        names = [stable_id(self._embedder.fingerprint, text, length=40) for text in texts]
        known = self._read(names)
        missing = {name: text for name, text in zip(names, texts, strict=True) if name not in known}
        if missing:
            made = self._embedder.embed(list(missing.values()))
            self.embedded += len(missing)
            for i, name in enumerate(missing):
                known[name] = (made.dense[i], dict(made.lexical[i]) if made.lexical is not None else None)
            self._write({name: known[name] for name in missing})
        dense = np.stack([known[name][0] for name in names])
        lexical = tuple(known[name][1] or {} for name in names) if self._embedder.lexical else None
        return Vectors(dense, lexical)

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _read(self, names: Sequence[str]) -> dict[str, tuple[np.ndarray, dict[int, float] | None]]:
        import numpy as np

        if self._connection is None:
            return {}
        found: dict[str, tuple[np.ndarray, dict[int, float] | None]] = {}
        for start in range(0, len(names), 500):
            chunk = names[start : start + 500]
            marks = ",".join("?" * len(chunk))
            for name, dense, lexical in self._connection.execute(f"SELECT name, dense, lexical FROM vectors WHERE name IN ({marks})", chunk):
                weights = {int(token): weight for token, weight in json.loads(lexical).items()} if lexical is not None else None
                found[name] = (np.frombuffer(dense, dtype=np.float32), weights)
        return found

    def _write(self, made: dict[str, tuple[np.ndarray, dict[int, float] | None]]) -> None:
        if self._connection is None:
            return
        rows = [(name, dense.tobytes(), None if lexical is None else json.dumps(lexical)) for name, (dense, lexical) in made.items()]
        with self._connection:
            self._connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)
