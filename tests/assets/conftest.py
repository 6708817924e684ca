from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from assets.lineage import Lineage
from resources.artifacts import ArtifactStore
from tests.assets.small import CALLS, small


@pytest.fixture
def calls() -> list[str]:
    CALLS.clear()
    return CALLS


@pytest.fixture
def lineage() -> Callable[..., Lineage]:
    profile = SimpleNamespace(name="small", seed=0, recipes=("x", "yy"), stages=1, recipe=lambda name: SimpleNamespace(name=name))
    return lambda **options: Lineage(profile, small(**options))  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(root=str(tmp_path / "state"))
