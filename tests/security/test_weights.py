"""Weights are data: a model folder with a pickle in it, or with code of its own, is refused and nothing of it is run."""

from __future__ import annotations

import ast
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from terrarium.errors import TerrariumError

ROOT = Path(__file__).parents[2]
PACKAGES = ("terrarium", "assets", "resources", "pipelines", "littleweb")
MAP = {"AutoConfig": "code.Config", "AutoModelForCausalLM": "code.Model"}
READS_PICKLES = {"pickle", "cPickle", "dill", "joblib", "shelve", "cloudpickle"}


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, sprung: Path) -> None:
        self.sprung = sprung

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.sprung,))


@pytest.fixture
def trap(tmp_path: Path) -> tuple[Path, Path]:
    """A model folder whose weights are a pickle that acts, whose configuration names code that acts, and what tells that one did."""
    folder, sprung = tmp_path / "model", tmp_path / "sprung"
    folder.mkdir()
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 1}
    config |= {
        "num_hidden_layers": 1,
        "num_key_value_heads": 1,
        "vocab_size": 16,
        "auto_map": {"AutoConfig": "code.Config", "AutoModelForCausalLM": "code.Model"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "code.py").write_text(f"from pathlib import Path\nPath({str(sprung)!r}).touch()\nclass Config: pass\nclass Model: pass\n")
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Trap(sprung)))
    return folder, sprung


def _as_base_model(folder: Path) -> None:
    from terrarium.job import SilentReport
    from terrarium.sft.base_model import BaseModelJob, ModelSource, prepare

    out = folder.parent / "out"
    out.mkdir()
    prepare(BaseModelJob(out=out, source=ModelSource(kind="folder", folder=folder)), SilentReport())


def _as_policy(folder: Path) -> None:
    from terrarium.agent.policies.in_process import _load

    _load(folder, "float32")


def _as_parent(folder: Path) -> None:
    from terrarium.rl.parent import load_parent

    load_parent(folder, 8)


def _as_encoder(folder: Path) -> None:
    from terrarium.world.embed import EmbedderSettings, open_embedder

    open_embedder(EmbedderSettings(folder=folder)).embed(["a text"])


@pytest.mark.parametrize("load", [_as_base_model, _as_policy, _as_parent, _as_encoder])
def test_a_pickle_in_the_place_of_weights_is_refused(trap: tuple[Path, Path], load: Callable[[Path], None]) -> None:
    folder, sprung = trap
    with pytest.raises(TerrariumError):
        load(folder)
    assert not sprung.exists()


def test_the_trap_acts_where_it_is_let(trap: tuple[Path, Path]) -> None:
    folder, sprung = trap
    pickle.loads((folder / "pytorch_model.bin").read_bytes())
    assert sprung.exists()


def test_no_module_reads_pickles() -> None:
    """`torch.load` stands nowhere without `weights_only`; libraries that resume our own optimiser states read them with it."""
    files = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    assert not [found for file in files for found in unsafe(file.read_text(encoding="utf-8"), str(file))]


@pytest.mark.parametrize(
    "line", ["import pickle", "from joblib import load", "torch.load(file)", "np.load(file, allow_pickle=True)", "f(x, trust_remote_code=True)"]
)
def test_the_look_sees_them(line: str) -> None:
    assert unsafe(line, "a.py")


def unsafe(source: str, name: str) -> list[str]:
    """Where a module reads pickles, or lets a model folder run code."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        if READS_PICKLES & {one.partition(".")[0] for one in names}:
            found.append(f"{name}:{node.lineno} imports {names}")  # type: ignore[attr-defined]
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        given = {word.arg: ast.unparse(word.value) for word in node.keywords}
        if called == "torch.load" and given.get("weights_only") != "True" or called.endswith(".read_pickle"):
            found.append(f"{name}:{node.lineno} calls {called}")
        if "True" in (given.get("trust_remote_code"), given.get("allow_pickle")) or given.get("weights_only") == "False":
            found.append(f"{name}:{node.lineno} {given}")
    return found
