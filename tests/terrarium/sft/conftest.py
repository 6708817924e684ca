from __future__ import annotations

from pathlib import Path

import pytest

from tests.terrarium.agent.conftest import make_model


@pytest.fixture(scope="session")
def tiny_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a base model artifact; the model lies at `<it>/model`."""
    return make_model(tmp_path_factory.mktemp("tiny_base")).parent
