"""The command behind `make run`: grow an agent, from seed pages to a report, on the persistent instance, so that the UI shows all of it.

    python -m pipelines.run --profile laptop [--recipes grpo-s1,...] [--from stage_2 [--fresh]] [--until world] [--seeds PATH] [--plan]

What is up to date is decided from fingerprints before anything is launched; the rest runs in order, one run of Dagster for each
segment of equal partitions. Killed and started again, it goes on from what was finished. Exit code 0: everything is made; 1: a sentence says
what failed and where to look; 2: the command was wrong; 130: stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from resources.locks import FileLock
from resources.state import STATE_VARIABLE, state_folder
from terrarium.errors import TerrariumError

if TYPE_CHECKING:
    import dagster as dg

    from assets.lineage import Lineage
    from assets.step import Step
    from pipelines.plan import Segment
    from resources.artifacts import ArtifactStore
    from resources.profiles import Profile

ROOT = Path(__file__).resolve().parents[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code."""
    options = _options(arguments)
    os.environ.setdefault("DAGSTER_HOME", str(ROOT))
    os.environ[STATE_VARIABLE] = str(state_folder())
    os.environ["TERRARIUM_PROFILE"] = options.profile
    state = state_folder()
    log = state / "logs" / f"run-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch()
    except OSError as error:
        print(f"The state folder {state} cannot be written ({error.strerror}); name another with {STATE_VARIABLE}.", file=sys.stderr)
        return 1
    with _quiet(log) as console:
        try:
            with _alone(state):
                return _run(options, console, state)
        except KeyboardInterrupt:
            console.print("\nStopped. What was finished is kept: the same command goes on from there.")
            return 130
        except TerrariumError as error:
            console.print(f"[red]{_escaped(str(error))}[/red]")
            return 1
        except Exception as error:
            import traceback

            traceback.print_exc()
            console.print(f"[red]{type(error).__name__}: {_escaped(str(error).splitlines()[0] if str(error) else '')}[/red] (the log: {log})")
            return 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m pipelines.run", description="Grow an agent: from seed pages to a report.")
    parser.add_argument("--profile", default=os.environ.get("TERRARIUM_PROFILE", "laptop"), help="a file of profiles/, without its ending")
    parser.add_argument("--recipes", default="", help="recipes of the profile, with commas or spaces; 'all'; default: its first")
    parser.add_argument("--from", dest="start", metavar="ASSET_OR_GROUP", help="only this and what is made from it")
    parser.add_argument("--until", metavar="ASSET_OR_GROUP", help="only this and what it is made from")
    parser.add_argument("--fresh", action="store_true", help="with --from: make these anew, also where their inputs are as they were")
    parser.add_argument("--seeds", metavar="PATH", help="the seed corpus, for a profile that asks for ${SEEDS}")
    parser.add_argument("--plan", action="store_true", help="say what would be done, and do nothing")
    options = parser.parse_args(arguments)
    if options.fresh and not options.start:
        parser.error("--fresh needs --from: say from which asset or group on everything is to be made anew")
    return options


@contextmanager
def _quiet(log: Path) -> Iterator[Console]:
    """A console on the terminal, while what Dagster and child processes print goes to a log."""
    sys.stdout.flush()
    sys.stderr.flush()
    terminal, complaints = os.dup(1), os.dup(2)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        with os.fdopen(terminal, "w", closefd=False) as stream:
            yield Console(file=stream, width=None if os.isatty(terminal) else 140)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(terminal, 1)
        os.dup2(complaints, 2)
        for opened in (descriptor, terminal, complaints):
            os.close(opened)


@contextmanager
def _alone(state: Path) -> Iterator[None]:
    """One such command at a time for one state folder."""
    lock = FileLock(state / "run.lock", "python -m pipelines.run")
    if not lock.try_acquire():
        raise TerrariumError(f"Another `make run` works on {state}; wait for it, or name another folder with {STATE_VARIABLE}.")
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _forgotten(progress: Path) -> Iterator[None]:
    """The file of a run's progress is of no use after it, however it ended; nor are those of runs that were killed."""
    shutil.rmtree(progress.parent, ignore_errors=True)
    try:
        yield
    finally:
        progress.unlink(missing_ok=True)


def _run(options: argparse.Namespace, console: Console, state: Path) -> int:
    started = time.monotonic()
    from resources.profiles import load_profile

    if options.seeds:
        os.environ["SEEDS"] = str(Path(options.seeds).expanduser().absolute())
    profile = load_profile(options.profile)
    if options.seeds and all(source.location != os.environ["SEEDS"] for source in profile.seeds):
        raise TerrariumError(f"The profile {profile.name} has seeds of its own; take --seeds away, or name a profile that asks for ${{SEEDS}}.")
    recipes = _recipes(options.recipes, profile.recipes)

    import dagster as dg

    from assets.graph import graph
    from pipelines.board import Board, label
    from pipelines.launching import bury_the_dead, materialise
    from pipelines.memory import PeakMemory
    from pipelines.plan import choose, segments, to_do
    from pipelines.sensors import register_first_round
    from pipelines.summary import show
    from resources.artifacts import ArtifactStore
    from terrarium.corpus.seeds import require_place

    lineage, store = graph(profile), ArtifactStore()
    with dg.DagsterInstance.get() as instance:
        bury_the_dead(instance)
        register_first_round(instance)
        rounds = sorted(instance.get_dynamic_partitions("rounds"))
        chosen = choose(lineage, options.start, options.until)
        todo = segments(lineage, rounds, recipes, chosen)
        fresh = set(chosen) if options.fresh else set()
        if options.plan:
            _tell_plan(console, todo, lineage, store, instance, bool(fresh))
            return 0
        if any(step.name == "seed_pages" for segment in todo for step in to_do(segment, lineage, store, instance, bool(fresh))):
            for source in profile.seeds:
                require_place(source)
        memory = PeakMemory().start()
        progress = state / "progress" / f"{os.getpid()}.jsonl"
        os.environ["TERRARIUM_PROGRESS"] = str(progress)
        worked = 0
        with _forgotten(progress), Board(console, progress) as board:
            job = None
            for number, segment in enumerate(todo):
                waiting = {one: to_do(one, lineage, store, instance, bool(fresh)) for one in todo[number:]}
                steps = waiting[segment]
                board.plan(_expected(waiting, store, profile.name))
                if not steps:
                    continue
                job = job or _job(profile)
                materialise(job, segment, steps, instance, bool(fresh))
                board.done([label(step.title, segment.partition) for step in steps])
                worked += len(steps)
        show(console, lineage, store, rounds, recipes, time.monotonic() - started, memory.stop(), worked)
    return 0


def _recipes(asked: str, known: Sequence[str]) -> list[str]:
    if asked.strip() == "all":
        return list(known)
    names = asked.replace(",", " ").split() or [known[0]]
    for name in names:
        if name not in known:
            raise TerrariumError(f"The profile has no recipe {name}; it lists {', '.join(known)}.")
    return names


def _job(profile: Profile) -> dg.JobDefinition:
    from pipelines.definitions import build_definitions

    return build_definitions(profile).resolve_implicit_global_asset_job_def()


def _tell_plan(console: Console, todo: Sequence[Segment], lineage: Lineage, store: ArtifactStore, instance: dg.DagsterInstance, fresh: bool) -> None:
    from rich.table import Table

    from pipelines.plan import to_do

    table = Table("step", "partition", "state", box=None)
    for segment in todo:
        stale = to_do(segment, lineage, store, instance, fresh)
        for step in segment.steps:
            table.add_row(", ".join(step.names), segment.partition or "", "[yellow]to make[/yellow]" if step in stale else "up to date")
    console.print(table)


def _expected(waiting: dict[Segment, list[Step]], store: ArtifactStore, profile: str) -> dict[str, float | None]:
    """Seconds each step to come should take: what it took last, else what the profile's steps took where they were measured."""
    import yaml

    from pipelines.board import label

    file = Path(__file__).with_name("durations.yaml")
    measured = (yaml.safe_load(file.read_text(encoding="utf-8")) or {}).get(profile, {}) if file.exists() else {}
    expected: dict[str, float | None] = {}
    for segment, steps in waiting.items():
        for step in steps:
            try:
                last = store.current_or_none(step.name, segment.partition)
            except TerrariumError:
                last = None
            took = last.costs.get("wall_seconds") if last and not last.passed_through else None
            expected[label(step.title, segment.partition)] = took if took is not None else measured.get(step.name)
    return expected


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)


if __name__ == "__main__":
    sys.exit(main())
