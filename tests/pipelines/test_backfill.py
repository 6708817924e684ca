"""Backfills of stages over recipes with a real daemon: the order of the graph, one slot for the GPU, a failure stops what depends on it.

Launched through GraphQL as the UI does it, by command, and in the real page with a headless browser.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.backfill import choose, failed_and_missing, main
from pipelines.console import Asset, Backfill, Console
from terrarium.errors import TerrariumError
from tests.browser import browser
from tests.console import ROOT, console

CHAIN = ("stage_2/questions", "stage_2/checkpoint", "stage_3/questions", "stage_3/checkpoint")


def _asset(name: str, made: str = "", failed: str = "", parents: tuple[str, ...] = (), partitions: str = "a b") -> Asset:
    keys = (tuple(text.split()) for text in (partitions, made, failed))
    known, done, broken = keys
    return Asset(name, name.split("/")[0], known, parents, frozenset(done), frozenset(broken), frozenset())


def test_failed_and_missing_takes_what_follows_from_it_too() -> None:
    first, second = _asset("s/q", made="a b", failed="b"), _asset("s/c", made="a b", parents=("s/q",))
    last = _asset("s/e", made="b", parents=("s/c",))
    assert failed_and_missing({first: ("a", "b"), second: ("a", "b"), last: ("a", "b")}) == {first: ("b",), second: ("b",), last: ("a", "b")}


def test_names_that_do_not_exist_are_refused_with_a_sentence() -> None:
    assets = [_asset("stage_2/questions"), _asset("world", partitions="")]
    assert choose(assets, ["stage_2"], "b a") == {assets[0]: ("b", "a")}
    for wanted, recipes, words in (
        (["stage_9"], "a", "no asset or group stage_9"),
        (["world"], "a", "no partitions"),
        (["stage_2"], "c", "has no partition c"),
        (["stage_2"], " , ", "No recipe"),
    ):
        with pytest.raises(TerrariumError, match=words):
            choose(assets, wanted, recipes)


def test_without_a_ui_the_command_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--assets", "stage_2", "--recipes", "a", "--ui", "http://127.0.0.1:9"]) == 1
    assert "start it with `make ui`" in capsys.readouterr().err


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Console, Path]]:
    state = tmp_path_factory.mktemp("backfill") / "state"
    with console(state, "tests.pipelines.backfill_lineage") as asked:
        yield asked, state


def work(state: Path, *recipes: str) -> list[dict[str, Any]]:
    """What was worked on for some recipes, in the order in which it began."""
    file = state / "work.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return sorted((row for row in rows if row["recipe"] in recipes), key=lambda row: row["began"])


def ended(asked: Console, identity: str, seconds: float = 200) -> Backfill:
    deadline = time.monotonic() + seconds
    while not (state := asked.backfill(identity)).ended:
        assert time.monotonic() < deadline, state
        time.sleep(0.5)
    return state


def assert_in_order_one_at_a_time(rows: list[dict[str, Any]], recipes: tuple[str, ...]) -> None:
    for recipe in recipes:
        assert [row["asset"] for row in rows if row["recipe"] == recipe] == list(CHAIN)
    assert all(before["ended"] <= after["began"] for before, after in zip(rows, rows[1:], strict=False)), rows


@pytest.mark.process
@pytest.mark.slow
def test_two_recipes_in_order_and_one_at_a_time(ui: tuple[Console, Path]) -> None:
    asked, state = ui
    # What the page of the UI sends.
    query = "mutation L($b: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $b) { ... on LaunchBackfillSuccess { backfillId } } }"
    names = ["both-1", "both-2"]
    params = {"assetSelection": [{"path": name.split("/")} for name in CHAIN], "partitionNames": names, "fromFailure": False, "tags": []}
    identity = asked.ask(query, {"b": params})["launchPartitionBackfill"]["backfillId"]
    assert ended(asked, identity).status == "COMPLETED_SUCCESS"
    rows = work(state, *names)
    assert_in_order_one_at_a_time(rows, ("both-1", "both-2"))
    assert len({row["pid"] for row in rows}) == len(rows)  # steps of their own, in runs that were there at the same time


def command(asked: Console, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "pipelines.backfill", "--ui", asked.address, *arguments]
    return subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=240)


@pytest.mark.process
@pytest.mark.slow
def test_a_failure_stops_what_depends_on_it_and_only_that_is_made_again(ui: tuple[Console, Path]) -> None:
    asked, state = ui
    told = state / "fail-stage_2.checkpoint-bad-1"
    told.touch()
    done = command(asked, "--assets", "stage_2", "stage_3", "--recipes", "bad-1,bad-2", "--wait")
    assert done.returncode == 1, done.stdout
    assert "stage_2/checkpoint (1 failed)" in done.stderr
    assert [row["asset"] for row in work(state, "bad-1")] == ["stage_2/questions", "stage_2/checkpoint"]
    assert [row["asset"] for row in work(state, "bad-2")] == list(CHAIN)
    told.unlink()
    done = command(asked, "--assets", "stage_2", "stage_3", "--recipes", "bad-1,bad-2", "--only", "failed-and-missing", "--wait")
    assert done.returncode == 0, done.stderr
    assert "3 assets, 3 partitions" in done.stdout
    assert [row["asset"] for row in work(state, "bad-1")][2:] == list(CHAIN[1:])
    assert len(work(state, "bad-2")) == 4
    assert "Nothing failed" in command(asked, "--assets", "stage_2", "stage_3", "--recipes", "bad-1,bad-2", "--only", "failed-and-missing").stdout


@pytest.mark.process
@pytest.mark.slow
def test_from_the_page_of_the_ui(ui: tuple[Console, Path]) -> None:
    asked, state = ui
    recipes = ("seen-1", "seen-2")
    with browser() as page:
        identity = launch_in_the_page(page, asked, ("stage_2", "stage_3"), recipes)
    assert ended(asked, identity).status == "COMPLETED_SUCCESS"
    assert_in_order_one_at_a_time(work(state, *recipes), recipes)


def launch_in_the_page(page: Any, asked: Console, groups: tuple[str, ...], recipes: tuple[str, ...]) -> str:
    """Select groups in the global asset lineage, press Materialize, choose recipes, launch; the id of the backfill."""
    page.goto(f"{asked.address}/asset-groups")
    page.locator(".CodeMirror").first.click()
    page.keyboard.type(" or ".join(f'group:"{group}"' for group in groups))
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Materialize all").click()
    page.get_by_text("Select a partition").click()
    for recipe in recipes:
        page.get_by_text(recipe, exact=True).locator("visible=true").last.click()
    page.keyboard.press("Escape")
    with page.expect_response(lambda response: "LaunchBackfill" in (response.request.post_data or "")) as launched:
        page.get_by_role("button", name="Launch backfill").click()
    return str(next(iter(launched.value.json()["data"].values()))["backfillId"])
