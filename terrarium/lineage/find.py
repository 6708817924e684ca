"""What a person means: an artifact by path, fingerprint or asset name, or a question, page or rollout by its id or address."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from terrarium.errors import TerrariumError
from terrarium.lineage.archive import Archive, Record
from terrarium.lineage.artifact import explain_artifact
from terrarium.lineage.attempt import explain_rollout
from terrarium.lineage.explanation import Explanation
from terrarium.lineage.page import explain_page
from terrarium.lineage.question import explain_question
from terrarium.lineage.rows import column, rows

_QUESTIONS = ("extracted_questions", "screened_questions", "answerable_questions")
_PAGES = ("candidate_pages", "seed_pages", "crawled_pages")
_ROLLOUTS = ("teacher_trajectories", "policy_rollouts", "checkpoint", "evaluation")


def explain(archive: Archive, subject: str, verify: bool = False) -> Explanation:
    """The explanation of what `subject` names.

    Raises:
        TerrariumError: nothing of that name is there; says what comes nearest.
    """
    subject = subject.strip()
    record = _artifact(archive, subject)
    if record is not None:
        return explain_artifact(archive, record, verify)
    if _holds(archive, _QUESTIONS, "questions.parquet", "question_id", subject) or _dropped(archive, subject):
        return explain_question(archive, subject, verify)
    if page_id := _page(archive, subject):
        return explain_page(archive, page_id, verify)
    if _holds(archive, _ROLLOUTS, "rollouts.parquet", "rollout_id", subject):
        return explain_rollout(archive, subject, verify)
    near = _nearest(archive, subject)
    raise TerrariumError(
        f"There is no artifact, question, page or rollout {subject} in {archive.folder}"
        + (f"; the nearest are {', '.join(near)}." if near else "; name one by its id, its path, or an asset and partition.")
    )


def _artifact(archive: Archive, subject: str) -> Record | None:
    path = Path(subject)
    for base in (Path.cwd(), archive.folder):
        place = (base / path).absolute()
        for folder in (place, *place.parents):
            if folder.is_relative_to(archive.folder / "artifacts"):
                record = archive.record(folder.relative_to(archive.folder).as_posix())
                if record is not None:
                    return record
    asset, _, partition = subject.partition(" ")
    partition = partition.strip()
    current = [pointer for pointer in archive.pointers if pointer.asset == asset and partition in ("", pointer.partition)]
    if len({pointer.path for pointer in current}) > 1:
        known = ", ".join(sorted(str(pointer.partition) for pointer in current))
        raise TerrariumError(f"{asset} has several partitions: name one of {known} after it.")
    if current:
        record = archive.record(current[0].path)
        if record is None:
            raise TerrariumError(f"{subject} should lie in {archive.folder / current[0].path}, which is gone or damaged: materialise it again.")
        return record
    return next((one for one in archive.all() if subject in (one.manifest.fingerprint, one.manifest.data_version)), None)


def _holds(archive: Archive, assets: Iterable[str], file: str, name: str, value: str) -> bool:
    return any(rows(record, file, name, [value], [name]) for record in archive.of(*assets))


def _dropped(archive: Archive, subject: str) -> bool:
    return any(rows(record, "dropped.parquet", "id", [subject], ["id"]) for record in archive.of(*_QUESTIONS))


def _page(archive: Archive, subject: str) -> str | None:
    for record in archive.of(*_PAGES):
        for name in ("page_id", "url", "aliases"):
            if found := rows(record, "pages.parquet", name, [subject], ["page_id"]):
                return str(found[0]["page_id"])
    return None


def _nearest(archive: Archive, subject: str) -> list[str]:
    known = {f"{p.asset} {p.partition}" if p.partition else p.asset for p in archive.pointers}
    for assets, file, names in ((_QUESTIONS, "questions.parquet", ["question_id"]), (_PAGES, "pages.parquet", ["page_id", "url"])):
        for record in archive.of(*assets):
            known.update(value for name in names for value in column(record, file, name))
    for record in archive.of(*_ROLLOUTS):
        known.update(column(record, "rollouts.parquet", "rollout_id"))
    # Comparing letter by letter with all of a large corpus takes minutes; what is near shares its beginning or is an asset's name.
    likely = [name for name in known if name[:4] == subject[:4] or "/" in name[:10] or "_" in name]
    return difflib.get_close_matches(subject, sorted(likely), n=3, cutoff=0.5)
