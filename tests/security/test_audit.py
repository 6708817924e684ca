"""The audit fails on a finding, and never takes a service that did not answer for a clean bill."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).parents[2] / ".ci" / "audit.py"


@pytest.fixture(scope="module")
def audit() -> Any:
    spec = importlib.util.spec_from_file_location("audit", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def report(*packages: dict[str, Any]) -> str:
    return json.dumps({"dependencies": list(packages), "fixes": []})


SOUND = {"name": "a", "version": "1", "vulns": []}
HOLE = {"name": "b", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": ["3"], "aliases": [], "description": ""}]}
SKIPPED = {"name": "c", "skip_reason": "Dependency not found on PyPI and could not be audited: c (1)"}


@pytest.mark.parametrize(
    ("wrong", "output", "required", "code", "words"),
    [
        ([], report(SOUND, SKIPPED), False, 0, "1 packages looked up, 0 known vulnerabilities; not known there: c"),
        ([], report(SOUND, HOLE), False, 1, "vulnerable: b 2: CVE-1, mended in 3"),
        ([], report(SKIPPED, SKIPPED), False, 0, "were NOT looked up"),
        ([], "", False, 0, "were NOT looked up"),
        ([], "", True, 1, "were NOT looked up"),
        (["a 1 requires d"], report(SOUND), False, 1, "does not fit: a 1 requires d"),
    ],
)
def test_the_verdict(audit: Any, wrong: list[str], output: str, required: bool, code: int, words: str) -> None:
    got, said = audit.verdict(wrong, output, "ConnectionError: no route", required)
    assert got == code
    assert words in "\n".join(said)
