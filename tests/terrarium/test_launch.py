"""The child process of a step: what it takes, what it writes, and how it says what went wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from terrarium.errors import TerrariumError
from terrarium.job import Outcome
from terrarium.launch import EXIT_CRASH, EXIT_DONE, EXIT_ERROR, EXIT_OUTAGE, ErrorNote, FileReport, launch, read_job, resolve
from tests.process.children import SmallJob, well

CHILDREN = "tests.process.children"


def _job(folder: Path, **fields: object) -> Path:
    path = folder / "job.json"
    path.write_text(json.dumps({"out": str(folder / "out"), **fields}))
    return path


def _error(folder: Path) -> ErrorNote:
    return ErrorNote.model_validate_json((folder / "error.json").read_text())


def test_a_job_that_ends_well_leaves_its_outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert launch(f"{CHILDREN}:well", _job(tmp_path, number=3)) == EXIT_DONE
    outcome = Outcome.model_validate_json((tmp_path / "result.json").read_text())
    assert outcome.counts == {"numbers": 3}
    assert outcome.costs["work_seconds"] >= 0 and outcome.costs["cpu_seconds"] > 0 and outcome.costs["peak_memory_bytes"] > 1e6
    assert (tmp_path / "out" / "number.txt").read_text() == "3"
    assert json.loads((tmp_path / "progress.json").read_text())["done"] == 3
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [0, 1, 2] and rows[1]["values"] == {"loss": 0.5}


@pytest.mark.parametrize(
    ("function", "code", "kind", "sentence"),
    [
        ("person", EXIT_ERROR, "terrarium", "The thing is broken: mend the thing."),
        ("outage", EXIT_OUTAGE, "outage", "The search service did not answer for 60 s: start it."),
        ("crash", EXIT_CRASH, "crash", f"{CHILDREN}:crash failed: ValueError: a fault"),
        (
            "full",
            EXIT_ERROR,
            "terrarium",
            f"No space is left on the disk while {CHILDREN}:full wrote table.parquet; free some and start again.",
        ),
        (
            "full_elsewhere",
            EXIT_ERROR,
            "terrarium",
            f"No space is left on the disk while {CHILDREN}:full_elsewhere wrote its files; free some and start again.",
        ),
    ],
)
def test_an_error_is_written_down_by_kind(tmp_path: Path, function: str, code: int, kind: str, sentence: str) -> None:
    (tmp_path / "result.json").write_text("{}")
    assert launch(f"{CHILDREN}:{function}", _job(tmp_path)) == code
    note = _error(tmp_path)
    assert (note.kind, note.sentence) == (kind, sentence)
    assert function in note.traceback
    assert not (tmp_path / "result.json").exists()


@pytest.mark.parametrize(
    ("fields", "says"),
    [({"number": "many"}, "number: Input should be a valid integer"), ({"colour": "red"}, "colour: Extra inputs are not permitted")],
)
def test_a_job_that_does_not_fit_names_the_field(tmp_path: Path, fields: dict[str, object], says: str) -> None:
    assert launch(f"{CHILDREN}:well", _job(tmp_path, **fields)) == EXIT_ERROR
    assert says in _error(tmp_path).sentence and "SmallJob" in _error(tmp_path).sentence


@pytest.mark.parametrize("name", [f"{CHILDREN}:nothing", "no.such.module:work", "no_colon", f"{CHILDREN}:unannotated", f"{CHILDREN}:SLEEPER"])
def test_what_cannot_be_launched_is_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(TerrariumError) as caught:
        resolve(name)
    assert name in str(caught.value) and "\n" not in str(caught.value)


def test_postponed_annotations_are_resolved(tmp_path: Path) -> None:
    assert resolve(f"{CHILDREN}:well") == (well, SmallJob)
    assert read_job(_job(tmp_path, number=2), SmallJob) == SmallJob(out=tmp_path / "out", number=2)
    with pytest.raises(TerrariumError, match="does not exist"):
        read_job(tmp_path / "none.json", SmallJob)


def test_progress_is_thinned_out_but_never_loses_the_end(tmp_path: Path) -> None:
    report = FileReport(tmp_path, every_seconds=60.0)
    report.progress(1, 3, "pages")
    report.progress(2, 3, "pages")
    assert json.loads((tmp_path / "progress.json").read_text())["done"] == 1
    report.progress(3, 3, "pages")
    assert json.loads((tmp_path / "progress.json").read_text())["done"] == 3
    report.progress(1, None, "questions")
    note = json.loads((tmp_path / "progress.json").read_text())
    assert (note["done"], note["total"], note["what"]) == (1, None, "questions")


def test_the_command_line_runs_a_job(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "terrarium.launch", f"{CHILDREN}:well", str(_job(tmp_path, number=1))]
    env = {key: value for key, value in os.environ.items() if key != "HF_HUB_OFFLINE"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=Path(__file__).parents[2])
    assert done.returncode == EXIT_DONE, done.stderr
    assert "all well" in done.stdout
    assert Outcome.model_validate_json((tmp_path / "result.json").read_text()).notes["offline"] == "1"
    assert subprocess.run([sys.executable, "-m", "terrarium.launch"], capture_output=True, cwd=Path(__file__).parents[2]).returncode == 2


@pytest.mark.process
@pytest.mark.parametrize("watch", ["heartbeat", "pid"])
def test_it_ends_when_who_started_it_is_gone(tmp_path: Path, watch: str) -> None:
    """A starter that is killed: the child notices by the pipe, or by the pid it was told to watch."""
    job = _job(tmp_path, pids=str(tmp_path / "pids"))
    starter = f"""
import os, subprocess, sys, time
heard, told = os.pipe()
env = dict(os.environ, TERRARIUM_CHILD="mark-{tmp_path.name}")
if {watch!r} == "heartbeat":
    env["TERRARIUM_HEARTBEAT"] = str(heard)
else:
    from terrarium.watchdog import identity
    env["TERRARIUM_WATCHED"] = identity(os.getpid())
command = [sys.executable, "-m", "terrarium.launch", "{CHILDREN}:stubborn", {str(job)!r}]
subprocess.Popen(command, env=env, pass_fds=(heard,), start_new_session=True)
time.sleep(60)
"""
    parent = subprocess.Popen([sys.executable, "-c", starter], cwd=Path(__file__).parents[2], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while not (tmp_path / "pids").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    finally:
        parent.kill()
        parent.wait()
    from terrarium.watchdog import lives

    while any(lives(f"{pid}:") for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = [pid for pid in pids if lives(f"{pid}:")]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left
