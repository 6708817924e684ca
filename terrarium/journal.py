"""A journal: the finished rows of one step, a JSON line each, from which a killed step goes on. It is gone when the step is done.

For work whose rows do not depend on each other. Batches (rollouts) and streams (crawls) keep journals of their own forms.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any


class Journal:
    """Rows by key. `take` gives what an earlier attempt finished, `add` notes what this one did; a half-written last line is cut off."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._kept: dict[str, str] = {}
        self._mend()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")

    @property
    def kept(self) -> int:
        """How many rows of an earlier attempt were not taken yet."""
        return len(self._kept)

    def take(self, key: str) -> Any:
        """The row of a key, as plain JSON, or None where it is still to be made. A row is given once."""
        line = self._kept.pop(key, None)
        return None if line is None else json.loads(line)["row"]

    def add(self, key: str, row: Any) -> None:
        """Note a finished row; it survives the end of this process from now on."""
        self._file.write(json.dumps({"key": key, "row": row}, ensure_ascii=True) + "\n")
        self._file.flush()

    def forget(self) -> None:
        """The step is done: nothing is to be continued."""
        self._file.close()
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def _mend(self) -> None:
        if not self.path.exists():
            return
        whole = 0
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                text = line.decode("ascii")
                self._kept[json.loads(text)["key"]] = text
        with self.path.open("rb+") as file:
            file.truncate(whole)
