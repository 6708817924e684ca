"""Where the state lies: one folder that an environment variable names."""

from __future__ import annotations

import os
from pathlib import Path

STATE_VARIABLE = "TERRARIUM_STATE"


def state_folder(root: str | None = None) -> Path:
    """The absolute state folder: `root`, else $TERRARIUM_STATE, else `.terrarium` beside dagster.yaml (DAGSTER_HOME), else in the current folder."""
    named = root or os.environ.get(STATE_VARIABLE)
    if named:
        return Path(named).expanduser().absolute()
    return Path(os.environ.get("DAGSTER_HOME") or ".").expanduser().absolute() / ".terrarium"
