"""From our errors to Dagster's: one sentence for people, and whether trying again can help."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from terrarium.errors import Outage, TerrariumError

DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@contextmanager
def as_failure() -> Iterator[None]:
    """Turn a TerrariumError into a `dagster.Failure` with its sentence: an Outage may be retried, all else needs a person."""
    try:
        yield
    except TerrariumError as error:
        raise dg.Failure(description=str(error), allow_retries=isinstance(error, Outage)) from error


def disk_full(folder: Path, doing: str) -> TerrariumError:
    """The sentence for a full disk."""
    return TerrariumError(
        f"No space is left on the disk that holds {folder} while {doing}; free some space and start again: "
        "what was made before is untouched, and what is half done is continued."
    )
