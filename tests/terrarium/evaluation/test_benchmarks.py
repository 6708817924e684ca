import json

import pytest

from terrarium.errors import TerrariumError
from terrarium.evaluation.benchmarks import BenchmarkFile, BenchmarksJob, load, read_benchmarks
from terrarium.job import SilentReport


def _file(tmp_path, *lines):
    path = tmp_path / "b.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return path


def _load(tmp_path, path, **more):
    return load(BenchmarksJob(out=tmp_path, files=[BenchmarkFile(name="small", path=path, **more)]), SilentReport())


def test_one_answer_or_several(tmp_path):
    outcome = _load(tmp_path, _file(tmp_path, {"question": "Q1?", "answer": "1"}, {"question": "Q2?", "answers": ["a", "b"], "capability": "direct"}))
    rows = read_benchmarks(tmp_path)
    assert [row["answers"] for row in rows] == [["1"], ["a", "b"]]
    assert rows[1]["capability"] == "direct"
    assert outcome.counts["questions"] == 2


@pytest.mark.parametrize(("line", "says"), [("{", "Line 2"), ("[1]", "Line 2"), ({"question": "no answer?"}, "Row 2"), ({"answer": "x"}, "Row 2")])
def test_a_bad_row_is_named(tmp_path, line, says):
    with pytest.raises(TerrariumError, match=says):
        _load(tmp_path, _file(tmp_path, {"question": "Q1?", "answer": "1"}, line))


def test_a_missing_file_and_another_version_are_refused(tmp_path):
    with pytest.raises(TerrariumError, match="cannot be read"):
        _load(tmp_path, tmp_path / "absent.jsonl")
    with pytest.raises(TerrariumError, match="checksum"):
        _load(tmp_path, _file(tmp_path, {"question": "Q1?", "answer": "1"}), sha256="0" * 64)


def test_a_question_twice_fails_its_gate(tmp_path):
    row = {"question": "Q1?", "answer": "1"}
    assert not _load(tmp_path, _file(tmp_path, row, row)).gates[0].passed
