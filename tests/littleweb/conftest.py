"""One country and one tiny world for all tests, and a proxy that really listens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from littleweb.truth import truth_rows
from littleweb.web import Web
from tests.littleweb.starting import start_server


@pytest.fixture(scope="session")
def country() -> Web:
    return Web(7)


@pytest.fixture(scope="session")
def tiny() -> Web:
    return Web(7, "tiny")


@pytest.fixture(scope="session")
def country_truth(country: Web) -> list[dict[str, Any]]:
    return list(truth_rows(country))


@pytest.fixture(scope="session")
def tiny_truth(tiny: Web) -> list[dict[str, Any]]:
    return list(truth_rows(tiny))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, float]]:
    process, port, seconds = start_server(tmp_path_factory.mktemp("littleweb"))
    yield port, seconds
    process.terminate()
    assert process.wait(timeout=10) == 0


@pytest.fixture(scope="session")
def client(server: tuple[int, float]) -> Iterator[httpx.Client]:
    with httpx.Client(proxy=f"http://127.0.0.1:{server[0]}", trust_env=False, timeout=20) as client:
        yield client
