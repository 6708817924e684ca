"""The pictures of the docs, taken of a state that was grown: `make pictures`, or `python -m tests.end_to_end.pictures --state FOLDER --out FOLDER`.

The graph, an asset's page, a backfill and the report, in a headless Chromium. Nothing is launched on the state: its databases are copied, and the
backfill is that of the tests' small lineage unless the state has one. No path of the machine is in a picture.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipelines.console import Console
from resources.artifacts import ArtifactStore
from tests.browser import browser
from tests.console import ROOT, console

MOST_BYTES = 300_000
COPIED = ("history", "schedules")
LINEAGE = "tests.pipelines.backfill_lineage"

# Paths say where somebody's disk is; the picture says the same without.
_NEUTRAL = """paths => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) for (const path of paths)
    if (walk.currentNode.textContent.includes(path)) walk.currentNode.textContent = walk.currentNode.textContent.replaceAll(path, '.terrarium');
}"""


def take(page: Any, file: Path, places: Sequence[str], clip: dict[str, int] | None = None) -> None:
    """One picture of what a page shows, without the paths of `places`."""
    page.evaluate(_NEUTRAL, [*places])
    text = page.inner_text("body")
    shown = [place for place in (*places, str(Path.home()) + "/", str(ROOT)) if len(place) > 2 and place in text]
    if shown:
        raise AssertionError(f"{file.name} would show {', '.join(shown)}")
    page.screenshot(path=file, clip=clip)
    if file.stat().st_size > MOST_BYTES:
        raise AssertionError(f"{file.name} has {file.stat().st_size:,} bytes, more than {MOST_BYTES:,}; crop it")


def pictures_of_a_state(state: Path, profile: str, out: Path) -> None:
    """graph.png, asset.png and report.png of a state that `make run` grew."""
    with tempfile.TemporaryDirectory(prefix="terrarium-") as scratch:
        copy = Path(scratch) / "state"
        copy.mkdir()
        for name in COPIED:
            shutil.copytree(state / name, copy / name)
        with console(copy, "pipelines.definitions", {"TERRARIUM_PROFILE": profile}, daemon=False) as asked, browser() as page:
            places = [str(state), str(copy), scratch]
            # Wide enough that assets are shown with what is known of them.
            page.set_viewport_size({"width": 2000, "height": 620})
            _graph(page, asked)
            take(page, out / "graph.png", places)
            page.set_viewport_size({"width": 1440, "height": 900})
            page.goto(f"{asked.address}/assets/stage_1/checkpoint?view=overview")
            page.get_by_text("Latest materialization").wait_for()
            settle(page)
            take(page, out / "asset.png", places)
        store = ArtifactStore(root=str(state))
        recipe = store.partitions("evaluation_report")[0]
        with browser(width=1120) as page:
            page.goto(store.current("evaluation_report", recipe).file("report.html").as_uri())
            settle(page)
            take(page, out / "report.png", [str(state)])


def _graph(page: Any, asked: Console) -> None:
    page.goto(f"{asked.address}/asset-groups")
    page.locator(".CodeMirror").first.click()
    page.keyboard.type('group:"stage_1" or group:"stage_2"')
    page.keyboard.press("Enter")
    settle(page)
    # Groups are shown closed; a click opens one.
    page.locator("foreignObject").get_by_text("stage_2", exact=True).first.click()
    page.wait_for_timeout(2_000)
    # A graph that is opened again is laid out to fit.
    page.reload()
    page.get_by_text("Hide navigation").click()
    settle(page)


def picture_of_a_backfill(out: Path) -> None:
    """backfill.png: two stages of two recipes, one of which fails at a step, of the small lineage that the tests use."""
    with tempfile.TemporaryDirectory(prefix="terrarium-") as scratch:
        state = Path(scratch) / "state"
        state.mkdir()
        (state / "fail-stage_3.questions-both-2").touch()
        with console(state, LINEAGE) as asked, browser() as page:
            names = [asset.name for asset in asked.assets()]
            identity = asked.launch(dict.fromkeys(names, ("both-1", "both-2")), "stages 2 and 3 of two recipes")
            deadline = time.monotonic() + 200
            while not asked.backfill(identity).ended and time.monotonic() < deadline:
                time.sleep(1)
            photograph_backfill(page, asked, identity, out, [scratch])


def photograph_backfill(page: Any, asked: Console, identity: str, out: Path, places: Sequence[str]) -> None:
    """backfill.png of one backfill."""
    page.goto(f"{asked.address}/runs/b/{identity}")
    page.get_by_text("Asset name").first.wait_for()
    settle(page)
    take(page, out / "backfill.png", places)


def settle(page: Any) -> None:
    """Wait until a page that asks for more and more has what it shows."""
    page.wait_for_timeout(5_000)


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(prog="python -m tests.end_to_end.pictures", description="Take the pictures of the docs.")
    parser.add_argument("--state", type=Path, default=Path(os.environ.get("TERRARIUM_STATE", ROOT / ".terrarium")))
    parser.add_argument("--profile", default=os.environ.get("TERRARIUM_PROFILE", "laptop"))
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("--only", choices=("state", "backfill"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.only != "backfill":
        pictures_of_a_state(options.state.absolute(), options.profile, options.out)
    if options.only != "state":
        picture_of_a_backfill(options.out)
    for file in sorted(options.out.glob("*.png")):
        print(f"{file.name}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
