"""People see plain numbers, short samples and where things lie; web text cannot blow up the event log."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq

from assets.checks import disagreement
from assets.show import CHARACTERS, ROWS, metadata_of, sample
from resources.artifacts import ArtifactStore
from terrarium.job import Gate, Outcome


def test_metadata_of_an_artifact(tmp_path: Path) -> None:
    store = ArtifactStore(root=str(tmp_path))

    def work(out: Path) -> Outcome:
        pq.write_table(pa.table({"id": [1, 2]}), out / "pages.parquet")
        (out / "report.html").write_text("<p>")
        return Outcome(counts={"pages": 2, "share": 0.5}, drops={"empty": 3, "copy": 4}, notes={"mode": "corpus"}, costs={"searches": 7})

    shown = metadata_of(store.make("seed_pages", "round_001", [], {}, "1", work), samples=("pages.parquet", "absent.parquet"))
    assert (shown["pages"], shown["share"], shown["dropped"], shown["cost/searches"]) == (2, 0.5, 7, 7)
    assert [record.data for record in shown["drops"].records] == [{"reason": "copy", "rows": 4}, {"reason": "empty", "rows": 3}]
    assert isinstance(shown["sample/pages"], dg.TableMetadataValue)
    assert "sample/absent" not in shown
    assert shown["report"].path.endswith("report.html")
    assert "`seed_pages`" in shown["descent"].value
    assert shown["descent_cost/searches"] == 7.0 and isinstance(shown["descent_cost/searches"], float)


def test_what_passes_through_shows_no_number_of_its_parent(tmp_path: Path) -> None:
    store = ArtifactStore(root=str(tmp_path))

    def work(out: Path) -> Outcome:
        (out / "model").mkdir()
        return Outcome(counts={"steps": 200}, costs={"tokens": 7})

    parent = store.make("sft_checkpoint", None, [], {}, "1", work)
    passed = store.pass_through("stage_1/checkpoint", "grpo-s1", parent, "too few questions")
    shown = metadata_of(passed)
    assert set(shown) == {"passed_through", "artifact", "fingerprint"}
    assert "too few questions" in shown["passed_through"].text


def test_what_is_missing_in_a_row_is_an_empty_cell(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    table = pa.table({"name": ["a", None], "share": [None, 0.5], "rank": pa.array([None, 3], pa.int64()), "odd": [float("nan"), 1.0]})
    pq.write_table(table, file)
    shown = sample(file)
    assert isinstance(shown, dg.TableMetadataValue)
    assert [record.data for record in shown.records] == [
        {"name": "a", "share": "", "rank": "", "odd": ""},
        {"name": "", "share": 0.5, "rank": 3, "odd": 1.0},
    ]


def test_a_sample_is_short_whatever_the_rows_hold(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    rows = {"text": ["x" * 10_000] * 50, "many": [[{"a": None}] * 99] * 50, "none": [None] * 50, "flag": [True] * 50}
    pq.write_table(pa.table(rows), file)
    shown = sample(file)
    assert isinstance(shown, dg.TableMetadataValue)
    assert len(shown.records) == ROWS
    assert all(len(str(value)) <= CHARACTERS for record in shown.records for value in record.data.values())


def test_an_empty_table_is_said_to_be_empty(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"id": pa.array([], pa.int64())}), file)
    assert isinstance(sample(file), dg.TextMetadataValue)


def test_gates_of_work_and_asset_must_agree() -> None:
    outcome = Outcome(gates=[Gate(name="a", passed=True), Gate(name="w", passed=False, severity="warn")])
    assert disagreement(outcome, ("a",), ("w", "v")) is None
    assert disagreement(outcome, ("a", "b"), ("w",)) == "leaves out b"
    assert disagreement(outcome, ("a",), ()) == "computes w, which is not declared"
