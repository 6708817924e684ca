"""The cold starts that ship, and the audit command."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from terrarium.agent.template import first_messages, system_prompt
from terrarium.sft.__main__ import main
from terrarium.sft.settings import SftSettings
from terrarium.sft.trajectory import Trajectory, write_trajectories

FILES = sorted(Path("curricula/sft").glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_cold_start_is_valid_and_names_its_sources(path: Path) -> None:
    content = yaml.safe_load(path.read_text())
    settings = SftSettings(**{key: value for key, value in content.items() if key not in ("description", "sources")})
    assert settings.batch % settings.micro_batch == 0
    assert content["sources"]


def test_the_papers_numbers() -> None:
    papers = {path.stem: yaml.safe_load(path.read_text()) for path in FILES}
    venus = papers["dr_venus"]
    assert (venus["max_tokens"], venus["batch"], venus["learning_rate"], venus["schedule"], venus["warmup"], venus["epochs"]) == (
        200000,
        32,
        1e-5,
        "cosine",
        0.1,
        1,
    )
    lite = papers["literesearcher"]
    assert (lite["max_tokens"], lite["batch"], lite["learning_rate"]) == (65536, 128, 2e-5)


def conversation(answer: str) -> tuple[dict[str, str], ...]:
    return (*first_messages("How long?", system_prompt("short")), {"role": "assistant", "content": answer})


def test_the_audit_passes_what_is_right(tmp_path: Path, tiny_base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_trajectories(tmp_path / "t.parquet", [Trajectory("t1", "q1", conversation("<think>a</think>\n<answer>b</answer>"), 1)])
    assert main(["audit", "--model", str(tiny_base / "model"), "--trajectories", str(tmp_path / "t.parquet")]) == 0
    assert "1 trajectories" in capsys.readouterr().out


def test_the_audit_finds_an_end_token_inside_a_turn(tmp_path: Path, tiny_base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_trajectories(tmp_path / "t.parquet", [Trajectory("t1", "q1", conversation("<think>a</think><|im_end|>\n<answer>b</answer>"), 1)])
    assert main(["audit", "--model", str(tiny_base / "model"), "--trajectories", str(tmp_path / "t.parquet")]) == 1
    assert "t1: not every turn" in capsys.readouterr().out


def test_a_missing_file_is_said(tmp_path: Path, tiny_base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--model", str(tiny_base / "model"), "--trajectories", str(tmp_path / "none.parquet")]) == 2
    assert "does not exist" in capsys.readouterr().err
