"""What a person means by a name: an asset, an artifact, a question, a page or a rollout."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

from terrarium.errors import TerrariumError
from terrarium.provenance.account import Account
from terrarium.provenance.artifact import tell_artifact
from terrarium.provenance.page import tell_page
from terrarium.provenance.question import tell_question
from terrarium.provenance.rollout import tell_rollout
from terrarium.provenance.rows import tell_dropped
from terrarium.provenance.state import Record, State


def explain_in(state: State, subject: str, verify: bool = False) -> Account:
    """See `terrarium.provenance.explain`."""
    subject = subject.strip()
    record = _artifact(state, subject)
    if record is not None:
        return tell_artifact(state, record, verify)
    for tell in (tell_question, tell_rollout, tell_page, tell_dropped):
        account = tell(state, subject)
        if account is not None:
            return account
    near = difflib.get_close_matches(subject, list(_names(state)), n=3, cutoff=0.5)
    hint = (
        f"near it are {', '.join(near)}"
        if near
        else "name an asset (and its partition), a folder of artifacts/, or the id of a question, page or rollout"
    )
    raise TerrariumError(f"Nothing in {state.folder} is called {subject!r}; {hint}.")


def _artifact(state: State, subject: str) -> Record | None:
    asset, _, partition = subject.partition(" ")
    held = state.current(asset, partition.strip() or None)
    if len({one.record.path for one in held}) == 1:
        return held[0].record
    if held:
        which = ", ".join(f"'{asset} {one.partition}'" for one in held)
        raise TerrariumError(f"{asset} has several partitions; say which: {which}.")
    if (Path(subject) / "manifest.json").exists():
        return state.record(Path(subject).absolute())
    return next(
        (record for record in state.all_records() if subject in (record.manifest.fingerprint, record.path.relative_to(state.folder).as_posix())), None
    )


def _names(state: State) -> Iterator[str]:
    """Names that a mistyped one may have meant: assets with their partitions, and ids of questions and pages."""
    import pyarrow.parquet as pq

    for held in state.holdings:
        yield f"{held.asset} {held.partition}" if held.partition else held.asset
    for asset, file, column in (("answerable_questions", "questions.parquet", "question_id"), ("candidate_pages", "pages.parquet", "page_id")):
        for held in state.current(asset):
            yield from pq.read_table(held.record.path / file, columns=[column])[column].to_pylist()
