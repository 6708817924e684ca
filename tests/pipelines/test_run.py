"""`python -m pipelines.run` on a small lineage: makes what is missing, does nothing twice, says in one sentence what failed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from assets.lineage import Lineage
from pipelines import run
from resources.artifacts import ArtifactStore
from resources.locks import FileLock
from tests.assets.small import CALLS, definitions, small

Command = Callable[..., tuple[int, str]]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """The command on the small lineage: `command("--plan", first=2)` gives exit code and output."""
    home, state = tmp_path / "home", tmp_path / "state"
    home.mkdir()
    shutil.copy(run.ROOT / "dagster.yaml", home)
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    monkeypatch.setenv("TERRARIUM_STATE", str(state))
    CALLS.clear()

    def call(*arguments: str, **options: Any) -> tuple[int, str]:
        profile = SimpleNamespace(name="small", seed=0, recipes=("x", "yy"), stages=1, recipe=lambda name: SimpleNamespace(name=name))
        lineage = Lineage(profile, small(**options))  # type: ignore[arg-type]
        monkeypatch.setattr("resources.profiles.load_profile", lambda *_: profile)
        monkeypatch.setattr("assets.graph.graph", lambda _: lineage)
        monkeypatch.setattr(run, "_job", lambda _: definitions(lineage, state).resolve_implicit_global_asset_job_def())
        capfd.readouterr()
        code = run.main(["--profile", "small", *arguments])
        return code, capfd.readouterr().out

    return call


def runs() -> list[dg.DagsterRun]:
    with dg.DagsterInstance.get() as instance:
        return list(instance.get_runs())


def test_it_makes_everything_and_then_nothing(command: Command) -> None:
    code, output = command()
    assert code == 0, output
    assert len(CALLS) == 4
    assert len(runs()) == 3
    assert all(one.status is dg.DagsterRunStatus.SUCCESS for one in runs())
    code, output = command()
    assert code == 0
    assert len(CALLS) == 4 and len(runs()) == 3
    assert "nothing had changed" in output


def test_another_recipe_makes_only_what_it_needs(command: Command) -> None:
    command()
    code, _ = command("--recipes", "yy")
    assert code == 0
    assert len(CALLS) == 4 + 2 + 1


def test_changed_inputs_are_followed(command: Command) -> None:
    command()
    assert command(first=5)[0] == 0
    assert len(CALLS) == 8


def test_what_comes_out_as_it_was_ends_the_work(command: Command) -> None:
    """Made anew from the top, `a` comes out equal, and nothing below it is worked on."""
    command()
    assert command("--from", "a", "--until", "a", "--fresh")[0] == 0
    assert len(CALLS) == 5
    assert command()[0] == 0
    assert len(CALLS) == 5


def test_fresh_from_a_group_on(command: Command) -> None:
    command()
    assert command("--from", "two", "--fresh")[0] == 0
    assert len(CALLS) == 4 + 3
    assert ArtifactStore().current("d").manifest.attempt == 1
    assert ArtifactStore().current("a").manifest.attempt == 0


def test_the_plan_does_nothing(command: Command) -> None:
    code, output = command("--plan")
    assert code == 0 and CALLS == [] and runs() == []
    assert output.count("to make") == 4


def test_a_failure_is_one_sentence_and_exit_code_one(command: Command) -> None:
    code, output = command(first=-1)
    assert code == 1
    assert "a failed: The number -1 is negative; give another." in " ".join(output.split())
    assert "Traceback" not in output


def test_it_goes_on_from_what_was_finished(command: Command) -> None:
    command("--until", "a")
    assert len(CALLS) == 1
    assert command()[0] == 0
    assert len(CALLS) == 4


@pytest.mark.parametrize(
    ("arguments", "sentence"), [(["--recipes", "zzz"], "has no recipe zzz"), (["--from", "nowhere"], "There is no asset or group nowhere")]
)
def test_wrong_names_are_one_sentence(command: Command, arguments: list[str], sentence: str) -> None:
    code, output = command(*arguments)
    assert code == 1 and sentence in " ".join(output.split())


def test_fresh_needs_from(command: Command) -> None:
    with pytest.raises(SystemExit) as stopped:
        command("--fresh")
    assert stopped.value.code == 2


def test_seeds_that_are_not_there_are_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    monkeypatch.setenv("TERRARIUM_STATE", str(tmp_path / "state"))
    shutil.copy(run.ROOT / "dagster.yaml", tmp_path)
    assert run.main(["--profile", "wikipedia", "--seeds", str(tmp_path / "no.xml.bz2")]) == 1
    output = capfd.readouterr().out
    assert f"The seeds {tmp_path}/no.xml.bz2 (wikipedia) do not exist" in " ".join(output.split()).replace("/ ", "/")
    assert runs() == [] and not list((tmp_path / "state" / "progress").glob("*"))


def test_two_at_once_are_refused(command: Command, tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "state" / "run.lock", "a test")
    assert lock.try_acquire()
    try:
        code, output = command()
        assert code == 1 and "Another `make run`" in output
    finally:
        lock.release()


def test_a_killed_command_leaves_no_run_and_no_slot_behind(command: Command) -> None:
    command("--until", "a")
    with dg.DagsterInstance.get() as instance:
        dead = instance.add_run(runs()[0]._replace(run_id=dg.DagsterRun(job_name="dead").run_id, status=dg.DagsterRunStatus.STARTED))
        storage = instance.event_log_storage
        storage.initialize_concurrency_limit_to_default("cpu")
        storage.claim_concurrency_slot("cpu", dead.run_id, "a")
    assert command()[0] == 0
    with dg.DagsterInstance.get() as instance:
        found = instance.get_run_by_id(dead.run_id)
        assert found is not None and found.status is dg.DagsterRunStatus.FAILURE


def test_the_slot_of_a_run_that_ended_without_giving_it_back_is_free(command: Command) -> None:
    """As when a run that the UI launched was killed, and no daemon is there to free it."""
    command("--until", "a")
    with dg.DagsterInstance.get() as instance:
        ended = instance.add_run(runs()[0]._replace(run_id=dg.DagsterRun(job_name="ended").run_id, status=dg.DagsterRunStatus.FAILURE, tags={}))
        instance.event_log_storage.initialize_concurrency_limit_to_default("cpu")
        instance.event_log_storage.claim_concurrency_slot("cpu", ended.run_id, "b")
        assert instance.event_log_storage.get_concurrency_info("cpu").active_slot_count == 1
    assert command()[0] == 0
    with dg.DagsterInstance.get() as instance:
        assert instance.event_log_storage.get_concurrency_info("cpu").active_slot_count == 0


def test_an_unwritable_state_folder_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("TERRARIUM_STATE", str(file / "state"))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    assert run.main(["--profile", "tiny", "--plan"]) == 1
    told = capsys.readouterr().err
    assert "cannot be written" in told and "TERRARIUM_STATE" in told and told.count("\n") == 1
