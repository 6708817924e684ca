"""The artifact store: what is found, what is made, what is refused, and that nothing is ever half-replaced."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.artifacts import ArtifactStore
from resources.manifest import Artifact
from terrarium.errors import Outage, TerrariumError
from terrarium.job import Gate, Outcome
from terrarium.lineage.content import data_version_of, fingerprint_of, plain
from terrarium.tables import write_rows


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(root=str(tmp_path / "state"))


def _writes(text: str, **outcome: object):  # type: ignore[no-untyped-def]
    def work(out: Path) -> Outcome:
        (out / "data.txt").write_text(text)
        return Outcome(**outcome)  # type: ignore[arg-type]

    return work


def _never(out: Path) -> Outcome:
    raise AssertionError("the work was done again")


def _make(
    store: ArtifactStore, asset: str = "pages", partition: str | None = None, parents: list[Artifact] | None = None, text: str = "a"
) -> Artifact:
    return store.make(asset, partition, parents or [], {"text": text}, "1", _writes(text))


def test_what_was_made_is_found_again_and_is_current(store: ArtifactStore) -> None:
    made = store.make("pages", "seeds", [], {"size": 3}, "1", _writes("a", counts={"pages": 3}, costs={"searches": 2}, drops={"empty": 1}))
    again = store.make("pages", "seeds", [], {"size": 3}, "1", _never)
    assert not made.reused and again.reused
    assert again.path == made.path == store.current("pages", "seeds").path
    assert made.path.relative_to(store.folder).parts[:2] == ("artifacts", "pages")
    assert made.manifest.counts == {"pages": 3} and made.manifest.drops == {"empty": 1} and made.manifest.config == {"size": 3}
    assert made.costs["searches"] == 2 and "wall_seconds" in made.costs
    making = json.loads(made.file("costs.json").read_text())
    assert making["versions"]["dagster"] and making["volatile"] == []
    # Costs and versions are facts about the making: they change no content hash.
    made.file("costs.json").write_text("{}")
    assert data_version_of(made.path, made.manifest.fingerprint) == made.data_version
    assert not list((store.folder / "staging").iterdir())


def test_equal_inputs_are_shared_between_partitions(store: ArtifactStore) -> None:
    first = _make(store, partition="grpo-s1")
    second = store.make("pages", "igpo-s1", [], {"text": "a"}, "1", _never)
    assert first.path == second.path
    assert store.partitions("pages") == ["grpo-s1", "igpo-s1"]
    assert store.partitions("nothing") == []


@pytest.mark.parametrize("change", [{"config": {"text": "b"}}, {"code_version": "2"}, {"attempt": 1}, {"asset": "other"}])
def test_every_input_is_part_of_the_fingerprint(store: ArtifactStore, change: dict[str, object]) -> None:
    inputs: dict[str, object] = {"asset": "pages", "parents": [], "config": {"text": "a"}, "code_version": "1", "attempt": 0}
    assert store.fingerprint(**inputs) != store.fingerprint(**{**inputs, **change})  # type: ignore[arg-type]


def test_a_parent_counts_by_its_content_not_by_how_it_was_made(store: ArtifactStore) -> None:
    one = store.make("pages", None, [], {"way": 1}, "1", _writes("same"))
    other = store.make("pages", None, [], {"way": 2}, "1", _writes("same"))
    third = store.make("pages", None, [], {"way": 3}, "1", _writes("different"))
    assert one.path != other.path and one.data_version == other.data_version != third.data_version
    assert store.fingerprint("child", [one], {}, "1") == store.fingerprint("child", [other], {}, "1") != store.fingerprint("child", [third], {}, "1")


def test_what_was_never_made_is_one_sentence(store: ArtifactStore) -> None:
    with pytest.raises(TerrariumError, match="^seed_pages of seeds has not been made yet: materialise it first.$"):
        store.current("seed_pages", "seeds")
    assert store.current_or_none("seed_pages", "seeds") is None


def test_a_folder_that_is_gone_is_one_sentence(store: ArtifactStore) -> None:
    shutil.rmtree(_make(store).path)
    with pytest.raises(TerrariumError, match="gone or damaged: materialise it again"):
        store.current("pages")
    assert _make(store).path.exists()


def test_a_failed_gate_publishes_nothing_and_keeps_the_report(store: ArtifactStore) -> None:
    before = _make(store)
    gates = [Gate(name="no_leak", passed=False, detail="2 removed pages reachable"), Gate(name="slow", passed=False, severity="warn")]
    with pytest.raises(dg.Failure, match="no_leak: 2 removed pages reachable") as caught:
        store.make("pages", None, [], {"text": "b"}, "1", _writes("b", gates=gates))
    assert caught.value.allow_retries is False
    assert store.current("pages").path == before.path
    kept = list((store.folder / "refused" / "pages").iterdir())
    assert len(kept) == 1 and (kept[0] / "data.txt").read_text() == "b" and "no_leak" in (kept[0] / "outcome.json").read_text()
    # The next attempt starts anew, and may pass.
    made = store.make("pages", None, [], {"text": "b"}, "1", lambda out: _writes("b")(out) if not list(out.iterdir()) else _never(out))
    assert store.current("pages").path == made.path


def test_a_warning_does_not_hold_anything_up(store: ArtifactStore) -> None:
    gate = Gate(name="no_worse_than_parent", passed=False, severity="warn")
    store.make("checkpoint", None, [], {}, "1", _writes("a", gates=[gate]))
    assert store.current("checkpoint").manifest.gates == [gate]


def test_a_consumer_refuses_a_parent_whose_gate_failed(store: ArtifactStore) -> None:
    made = _make(store)
    failed = made.manifest.model_copy(update={"gates": [Gate(name="no_leak", passed=False, detail="one page")]})
    (made.path / "manifest.json").write_text(failed.model_dump_json())
    with pytest.raises(TerrariumError, match=r"pages did not pass its gate 'no_leak' \(one page\)"):
        store.current("pages")
    assert not store.is_up_to_date("pages", None, [], {"text": "a"}, "1")


def test_what_is_up_to_date_is_told_without_work(store: ArtifactStore) -> None:
    parent = _make(store, "pages")
    child = store.make("questions", None, [parent], {}, "1", _writes("q"))
    assert store.is_up_to_date("questions", None, [parent], {}, "1")
    assert not store.is_up_to_date("questions", None, [parent], {}, "2")
    assert not store.is_up_to_date("questions", "other", [parent], {}, "1")
    changed = _make(store, "pages", text="b")
    assert not store.is_up_to_date("questions", None, [changed], {}, "1")
    # Back to the old page: what was made from it is found, not made.
    assert store.make("questions", None, [_make(store, "pages")], {}, "1", _never).path == child.path


def test_a_fresh_attempt_stays_until_another_is_asked_for(store: ArtifactStore) -> None:
    first = _make(store)
    assert store.attempt("pages", None, [], {"text": "a"}, "1") == 0
    fresh = store.attempt("pages", None, [], {"text": "a"}, "1", fresh=True)
    second = store.make("pages", None, [], {"text": "a"}, "1", _writes("drawn anew"), attempt=fresh)
    assert fresh == 1 and second.path != first.path and second.manifest.attempt == 1
    assert store.attempt("pages", None, [], {"text": "a"}, "1") == 1
    assert store.is_up_to_date("pages", None, [], {"text": "a"}, "1")
    assert store.attempt("pages", None, [], {"text": "changed"}, "1") == 0
    assert store.attempt("pages", None, [], {"text": "a"}, "1", fresh=True) == 2


def test_a_stage_without_work_passes_its_parent_through(store: ArtifactStore) -> None:
    parent = _make(store, "stage_1/checkpoint", "grpo-s1")
    passed = store.pass_through("stage_2/checkpoint", "grpo-s1", parent, "recipe one_long_stage has no stage 2")
    assert passed.path == parent.path and passed.passed_through == store.current("stage_2/checkpoint", "grpo-s1").passed_through
    assert store.is_passed_through("stage_2/checkpoint", "grpo-s1", parent)
    assert not store.is_up_to_date("stage_2/checkpoint", "grpo-s1", [], {"text": "a"}, "1")


def test_the_state_folder_can_be_moved(store: ArtifactStore, tmp_path: Path) -> None:
    parent = _make(store)
    child = store.make("questions", None, [parent], {}, "1", _writes("q"))
    text = (child.path / "manifest.json").read_text()
    assert str(tmp_path) not in text
    moved = ArtifactStore(root=str(tmp_path / "elsewhere"))
    store.folder.rename(moved.folder)
    assert moved.current("questions").path == moved.folder / child.path.relative_to(store.folder)
    assert moved.make("questions", None, [moved.current("pages")], {}, "1", _never).data_version == child.data_version


def test_the_environment_names_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERRARIUM_STATE", str(tmp_path / "state"))
    assert ArtifactStore().folder == tmp_path / "state"
    monkeypatch.delenv("TERRARIUM_STATE")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    assert ArtifactStore().folder == tmp_path / ".terrarium"


def _two(outs: Mapping[str, Path]) -> Outcome:
    for name, out in outs.items():
        (out / "data.txt").write_text(name)
    return Outcome(counts={"rows": 2})


def test_two_assets_of_one_step_are_published_together(store: ArtifactStore) -> None:
    made = store.make_together(["page_store", "search_index"], None, [], {}, "1", _two)
    assert {name: artifact.asset for name, artifact in made.items()} == {"page_store": "page_store", "search_index": "search_index"}
    assert store.current("search_index").file("data.txt").read_text() == "search_index"
    assert store.is_up_to_date(["page_store", "search_index"], None, [], {}, "1")
    shutil.rmtree(made["search_index"].path)
    again = store.make_together(["page_store", "search_index"], None, [], {}, "1", _two)
    assert again["search_index"].path.exists() and not again["search_index"].reused


def test_two_assets_of_one_step_are_refused_together(store: ArtifactStore) -> None:
    def work(outs: Mapping[str, Path]) -> Outcome:
        return _two(outs).model_copy(update={"gates": [Gate(name="same_pages", passed=False)]})

    with pytest.raises(dg.Failure, match="page_store and search_index did not pass a gate"):
        store.make_together(["page_store", "search_index"], None, [], {}, "1", work)
    assert store.current_or_none("page_store") is None and store.current_or_none("search_index") is None


@pytest.mark.parametrize(("error", "again"), [(TerrariumError("Mend the thing."), False), (Outage("The service is down."), True)])
def test_an_error_of_the_work_becomes_a_failure_with_its_sentence(store: ArtifactStore, error: Exception, again: bool) -> None:
    def work(out: Path) -> Outcome:
        raise error

    with pytest.raises(dg.Failure, match=str(error)) as caught:
        store.make("pages", None, [], {}, "1", work)
    assert caught.value.allow_retries is again


def test_a_full_disk_is_one_sentence_and_replaces_nothing(store: ArtifactStore) -> None:
    before = _make(store)

    def work(out: Path) -> Outcome:
        (out / "half.txt").write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(dg.Failure, match="^No space is left on the disk that holds .* while making pages; free some space") as caught:
        store.make("pages", None, [], {"text": "b"}, "1", work)
    assert caught.value.allow_retries is False
    assert store.current("pages").path == before.path
    # What was half done is continued.
    seen = store.make("pages", None, [], {"text": "b"}, "1", lambda out: Outcome(notes={"found": [path.name for path in out.iterdir()]}))
    assert seen.manifest.notes == {"found": ["half.txt"]}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("a small disk cannot be mounted here, so that no disk can really be filled")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


def test_a_disk_that_is_really_full(small_disk: Path) -> None:
    store = ArtifactStore(root=str(small_disk))
    before = _make(store)
    with pytest.raises(dg.Failure, match="No space is left"):
        store.make("pages", None, [], {"text": "b"}, "1", _writes("b" * 1_000_000))
    assert store.current("pages").path == before.path


def test_times_are_no_part_of_the_data(store: ArtifactStore, tmp_path: Path) -> None:
    import pyarrow as pa

    schema = pa.schema([("url", pa.string()), ("fetched_at", pa.string()), ("seconds", pa.float64())])
    versions = []
    for name, moment in (("one", "2026-01-01"), ("two", "2026-02-02")):
        folder = tmp_path / name
        write_rows(folder / "pages.parquet", [{"url": "u", "fetched_at": moment, "seconds": len(versions)}], schema)
        (folder / "costs.json").write_text(moment)
        (folder / "training_log.jsonl").write_text(moment)
        (folder / "index.db").write_text(moment)
        versions.append(data_version_of(folder, "f", volatile=("index.db",)))
    assert versions[0] == versions[1]
    write_rows(tmp_path / "two" / "pages.parquet", [{"url": "v", "fetched_at": "2026-02-02", "seconds": 1.0}], schema)
    assert data_version_of(tmp_path / "two", "f", volatile=("index.db",)) != versions[0]
    assert data_version_of(tmp_path / "one", "f") != versions[0]


def test_a_volatile_folder_is_left_out_and_an_empty_artifact_is_its_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "segment").write_text("1")
    assert data_version_of(tmp_path, "f", volatile=("engine",)) == data_version_of(tmp_path / "engine", "f", volatile=("*",))
    assert data_version_of(tmp_path, "f", volatile=("engine",)) != data_version_of(tmp_path, "g", volatile=("engine",))


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=6), _json, max_size=5))
def test_the_order_of_keys_changes_no_fingerprint(value: dict[str, object]) -> None:
    turned = dict(reversed(list(value.items())))
    assert fingerprint_of(value) == fingerprint_of(turned) == fingerprint_of(plain(value))
