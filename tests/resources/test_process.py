"""What Dagster sees of a child process: outcome, observations, failures with one sentence, a lease held meanwhile."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from resources.lease import lease, visible_gpus
from resources.process import ChildProcess
from terrarium.job import Outcome
from tests.process.children import SmallJob

CHILDREN = "tests.process.children"


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ChildProcess:
    monkeypatch.setenv("TERRARIUM_LEASES", str(tmp_path / "leases"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    return ChildProcess(root=str(tmp_path), patience_seconds=1.0, echo=False)


def _asset(function: str, job: SmallJob, seen: list[Outcome]):  # type: ignore[no-untyped-def]
    def trained(context, process: ChildProcess) -> dg.MaterializeResult:  # type: ignore[no-untyped-def, type-arg]
        seen.append(process.run(context, f"{CHILDREN}:{function}", job))
        return dg.MaterializeResult(metadata={"rows": 1})

    trained.__annotations__ = {"process": ChildProcess, "return": dg.MaterializeResult}
    return dg.asset(trained)


def _materialise(process: ChildProcess, function: str, job: SmallJob) -> tuple[dg.ExecuteInProcessResult, list[Outcome]]:
    seen: list[Outcome] = []
    with dg.instance_for_test() as instance:
        result = dg.materialize([_asset(function, job, seen)], resources={"process": process}, instance=instance, raise_on_error=False)
    return result, seen


def test_an_outcome_comes_back_and_the_log_is_linked(process: ChildProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    result, seen = _materialise(process, "well", SmallJob(out=tmp_path / "out", number=3))
    assert result.success and seen[0].counts == {"numbers": 3}
    assert seen[0].notes == {"offline": "1", "hash_seed": "0"}
    metadata = result.asset_materializations_for_node("trained")[0].metadata
    assert "all well" in Path(str(metadata["log"].value)).read_text()
    assert metadata["rows"].value == 1


def _observations(result: dg.ExecuteInProcessResult) -> list[dict[str, Any]]:
    events = (event.event_specific_data for event in result.all_events if event.event_type_value == "ASSET_OBSERVATION")
    return [{name: value.value for name, value in event.asset_observation.metadata.items()} for event in events]  # type: ignore[union-attr]


def test_a_training_curve_becomes_observations_but_not_too_many(tmp_path: Path, process: ChildProcess) -> None:
    often = process.model_copy(update={"observe_every_seconds": 0.5})
    rows = _observations(_materialise(often, "curve", SmallJob(out=tmp_path / "out", number=12))[0])
    assert rows[-1]["step"] == 11 and 2 <= len(rows) <= 5
    seldom = _observations(_materialise(process, "curve", SmallJob(out=tmp_path / "out", number=12))[0])
    assert len(seldom) == 2 and seldom[-1] == {"step": 11, "loss": pytest.approx(1 / 12)}


@pytest.mark.parametrize(
    ("function", "sentence", "again"),
    [
        ("person", "The thing is broken: mend the thing.", False),
        ("outage", "The search service did not answer for 60 s: start it.", True),
        ("crash", "ValueError: a fault", False),
        ("killed", "was killed by signal 9, which is what the system does when memory runs out", True),
    ],
)
def test_a_failure_is_one_sentence_with_the_end_of_the_log(tmp_path: Path, process: ChildProcess, function: str, sentence: str, again: bool) -> None:
    with pytest.raises(dg.Failure) as caught:
        process.run(None, f"{CHILDREN}:{function}", SmallJob(out=tmp_path / "out"))
    failure = caught.value
    assert sentence in str(failure.description) and "\n" not in str(failure.description)
    assert failure.allow_retries is again
    assert Path(str(failure.metadata["log"].value)).exists()
    if function != "killed":
        assert "Traceback" in str(failure.metadata["last lines"].value)


def test_only_forty_lines_of_a_long_log_stand_in_the_failure(tmp_path: Path) -> None:
    from resources.child import last_lines

    (tmp_path / "log.txt").write_text("".join(f"line {number}\n" for number in range(1000)))
    assert last_lines(tmp_path / "log.txt").splitlines() == [f"line {number}" for number in range(960, 1000)]


def test_a_process_that_does_not_end_when_its_work_is_done_is_ended(tmp_path: Path, process: ChildProcess) -> None:
    began = time.monotonic()
    assert process.run(None, f"{CHILDREN}:lingering", SmallJob(out=tmp_path / "out")).counts == {"done": 1}
    assert time.monotonic() - began < 20


def test_progress_is_passed_on(tmp_path: Path, process: ChildProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERRARIUM_PROGRESS", str(tmp_path / "progress.jsonl"))
    heard: list[dict[str, Any]] = []
    process.run(None, f"{CHILDREN}:well", SmallJob(out=tmp_path / "out", number=4), on_progress=heard.append)
    assert heard[-1]["done"] == 4 and heard[-1]["what"] == "numbers"
    lines = [json.loads(line) for line in (tmp_path / "progress.jsonl").read_text().splitlines()]
    assert [line["state"] for line in lines][:2] == ["waiting", "running"] and lines[-1]["state"] == "done"
    assert any(line.get("done") == 4 and line["asset"] == f"{CHILDREN}:well" for line in lines)


def test_a_failed_child_is_shown_as_failed(tmp_path: Path, process: ChildProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERRARIUM_PROGRESS", str(tmp_path / "progress.jsonl"))
    with pytest.raises(dg.Failure):
        process.run(None, f"{CHILDREN}:person", SmallJob(out=tmp_path / "out"))
    assert json.loads((tmp_path / "progress.jsonl").read_text().splitlines()[-1])["state"] == "failed"


def test_two_children_take_turns_and_the_second_says_whom_it_waits_for(tmp_path: Path, process: ChildProcess) -> None:
    first = threading.Thread(target=process.run, args=(None, f"{CHILDREN}:curve", SmallJob(out=tmp_path / "one", number=15), "gpu"))
    first.start()
    deadline = time.monotonic() + 20
    while not list(tmp_path.glob("processes/*/metrics.jsonl")) and time.monotonic() < deadline:
        time.sleep(0.02)
    said: list[str] = []
    began = time.monotonic()
    with lease(tmp_path, "gpu", "the second", waiting=said.append) as held:
        waited = time.monotonic() - began
        assert held.devices == ("cpu-0",)
    first.join()
    assert waited > 0.5
    assert len(said) == 1 and said[0].startswith(f"Waiting for the CPU, which {CHILDREN}:curve (process ")


def test_slots_let_several_compute(tmp_path: Path, process: ChildProcess) -> None:
    with lease(tmp_path, "cpu", "one", cpu_slots=2) as one, lease(tmp_path, "cpu", "two", cpu_slots=2) as two:
        assert {one.devices, two.devices} == {("cpu-0",), ("cpu-1",)}


def test_gpus_are_paid_for_as_long_as_they_are_held(tmp_path: Path, process: ChildProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    on_cpu = process.run(None, f"{CHILDREN}:well", SmallJob(out=tmp_path / "cpu", number=1), "gpu")
    assert "gpu_seconds" not in on_cpu.costs
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    started = time.monotonic()
    on_two = process.run(None, f"{CHILDREN}:well", SmallJob(out=tmp_path / "gpu", number=1), "gpu")
    assert 1.5 < on_two.costs["gpu_seconds"] / (time.monotonic() - started) <= 2


def test_a_lease_names_the_gpus_that_the_child_sees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERRARIUM_LEASES", str(tmp_path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,0")
    assert visible_gpus() == ["1", "0"]
    with lease(tmp_path, "gpu", "the trainer") as held:
        assert held.devices == ("gpu-1", "gpu-0") and held.env == {"CUDA_VISIBLE_DEVICES": "1,0"}
        assert sorted(path.name for path in tmp_path.glob("gpu-*.lock")) == ["gpu-0.lock", "gpu-1.lock"]
        # Work that needs no GPU does not wait for one, and does not see any.
        with lease(tmp_path, "cpu", "the reader") as other:
            assert other.devices == ("cpu-0",) and other.env == {"CUDA_VISIBLE_DEVICES": ""}
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    assert visible_gpus() == []
