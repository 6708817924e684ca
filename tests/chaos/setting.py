"""Where chaos happens: one lineage, the command that grows it, and folders of its own for each run of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from assets.lineage import Lineage
from tests.chaos.end_state import EndState, end_state
from tests.chaos.processes import MARK

ROOT = Path(__file__).parents[2]
PROFILE = "chaos"
PORT = "8780"


@dataclass(frozen=True)
class Setting:
    """What is grown: `command` is started and started again; `partitions` are those that it makes."""

    root: Path
    lineage: Lineage
    command: tuple[str, ...]
    partitions: tuple[str, ...]
    extra: dict[str, str] = field(default_factory=dict)


@dataclass
class Place:
    """The folders of one run: Dagster's home, the state, and what was printed."""

    setting: Setting
    folder: Path
    mark: str

    @classmethod
    def fresh(cls, setting: Setting, name: str) -> Place:
        """An empty place."""
        folder = setting.root / name
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "state").mkdir(parents=True)
        (folder / "home").mkdir()
        (folder / "home" / "dagster.yaml").write_text(instance_yaml())
        return cls(setting, folder, f"{name}-{os.getpid()}")

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def log(self) -> Path:
        return self.folder / "output.txt"

    def environment(self) -> dict[str, str]:
        """What its processes see: its folders, its mark, and no terminal."""
        named = {"DAGSTER_HOME": str(self.home), "TERRARIUM_STATE": str(self.state), "TERRARIUM_PROFILE": PROFILE, MARK: self.mark}
        ours = {"PYTHONPATH": str(ROOT), "WEB_PORT": os.environ.get("WEB_PORT", PORT), "PYTHONUNBUFFERED": "1"}
        return {**os.environ, **ours, **self.setting.extra, **named}

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a command of this round; its output goes to the log."""
        with self.log.open("ab") as log:
            log.write(f"\n$ {' '.join(command)}\n".encode())
            log.flush()
            return subprocess.Popen(
                command, cwd=ROOT, env=self.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def grow(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start the command that grows the lineage."""
        return self.start(*self.setting.command, *arguments)

    def end_state(self) -> EndState:
        """What it holds now."""
        return end_state(self.state, self.home, self.setting.lineage, self.setting.partitions)

    def tail(self, lines: int = 15) -> str:
        """The end of what was printed."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def instance_yaml() -> str:
    """The instance as it is shipped, but for two waits: rounds are short, and look sooner after runs and slots."""
    shipped = yaml.safe_load((ROOT / "dagster.yaml").read_text(encoding="utf-8"))
    shipped["run_monitoring"] |= {"poll_interval_seconds": 2, "free_slots_after_run_end_seconds": 4}
    return yaml.safe_dump(shipped)


def tiny_setting(root: Path) -> Setting:
    """The tiny graph with stages 2 and 3 passed through."""
    from assets.graph import graph
    from resources.profiles import load_profile

    os.environ.setdefault("WEB_PORT", PORT)
    profile = load_profile(PROFILE)
    command = (sys.executable, "-m", "pipelines.run", "--profile", PROFILE)
    return Setting(root, graph(profile), command, ("round_001", profile.recipes[0]))
