"""Imports run one way: pipelines -> assets -> resources -> terrarium; and nothing knows the practice web."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAYERS = ("terrarium", "resources", "assets", "pipelines")


def imported(file: Path) -> set[str]:
    """Top-level names of all imports of a file, also those inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("layer", LAYERS)
def test_no_layer_imports_upwards(layer: str) -> None:
    banned = {"littleweb", *LAYERS[LAYERS.index(layer) + 1 :]} | ({"dagster"} if layer == "terrarium" else set())
    wrong = {str(file.relative_to(ROOT)): imported(file) & banned for file in sorted((ROOT / layer).rglob("*.py")) if imported(file) & banned}
    assert wrong == {}


def test_the_practice_web_imports_nothing_of_ours() -> None:
    wrong = {str(file): imported(file) & set(LAYERS) for file in (ROOT / "littleweb").rglob("*.py")}
    assert not any(wrong.values()), wrong


@pytest.mark.parametrize("layer", ["resources", "assets", "pipelines"])
def test_modules_open_with_what_belongs_in_them(layer: str) -> None:
    for file in (ROOT / layer).rglob("*.py"):
        assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))), f"{file} has no docstring"
