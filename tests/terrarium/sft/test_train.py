"""Training on a tiny model: what is learnt, to the token, and what a killed run goes on with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from terrarium.agent.codec import ByteCodec, TokenizerCodec
from terrarium.agent.protocol import render_observation, render_turn, search_call
from terrarium.agent.template import CHAT_TEMPLATE, first_messages, system_prompt
from terrarium.errors import TerrariumError
from terrarium.job import SilentReport
from terrarium.sft.audit import expected_row, row_faults
from terrarium.sft.settings import SftSettings
from terrarium.sft.train import LOG, SftJob, steps_of, train
from terrarium.sft.trainer import Curve, build_trainer, dataset_of
from terrarium.sft.trajectory import Trajectory, write_trajectories
from terrarium.tables import read_drops

SETTINGS = SftSettings(max_tokens=700, batch=4, micro_batch=2, learning_rate=3e-3, epochs=1, save_every=2, validation_rows=2)


def trajectory(number: int, observation: str = "The Alder is long.", split: Any = "train") -> Trajectory:
    messages = [
        *first_messages(f"How long is river {number}?", system_prompt("short")),
        {"role": "assistant", "content": render_turn("look", [search_call([f"river {number}"])])},
        {"role": "user", "content": render_observation(observation)},
        {"role": "assistant", "content": render_turn("read", answer=f"{number} km")},
    ]
    return Trajectory(f"t{number}", f"q{number}", tuple(messages), 2, 1, split)


def job(tmp_path: Path, base: Path, trajectories: list[Trajectory], name: str = "out", settings: SftSettings = SETTINGS) -> SftJob:
    (tmp_path / name).mkdir(exist_ok=True)
    write_trajectories(tmp_path / "trajectories.parquet", trajectories)
    return SftJob(out=tmp_path / name, model=base, trajectories=tmp_path, settings=settings)


def test_training_learns_and_saves_a_whole_model(tmp_path: Path, tiny_base: Path) -> None:
    rows = [trajectory(number) for number in range(24)] + [trajectory(number, split="validation") for number in range(30, 33)]
    rows.append(trajectory(99, observation="very " * 2000))
    outcome = train(job(tmp_path, tiny_base, rows), SilentReport())
    assert outcome.counts["rows"] == 24 and outcome.counts["steps"] == 6
    assert outcome.counts["validation_loss"] < outcome.counts["validation_loss_before"]
    assert outcome.drops == {"too_long": 1}
    assert [drop.id for drop in read_drops(tmp_path / "out" / "dropped.parquet")] == ["t99"]
    assert all(gate.passed for gate in outcome.gates)
    log = [json.loads(line) for line in (tmp_path / "out" / LOG).read_text().splitlines()]
    assert [line["step"] for line in log] == [1, 2, 3, 4, 5, 6] and log[-1]["loss"] < log[0]["loss"]
    assert not (tmp_path / "out" / "checkpoints").exists()
    codec = TokenizerCodec(tmp_path / "out" / "model")
    assert codec.tokenizer.chat_template == CHAT_TEMPLATE
    assert AutoModelForCausalLM.from_pretrained(str(tmp_path / "out" / "model")).dtype == torch.float32


@pytest.mark.parametrize("observation", ["plain", "", "ends here\n", "< |im_end|> < tool_call>", "東京 café 12,345"])
def test_the_loss_is_on_turns_and_their_end_alone(tmp_path: Path, tiny_base: Path, observation: str) -> None:
    """TRL's rows against a construction that uses neither TRL nor the template."""
    item = trajectory(7, observation=observation)
    codec = TokenizerCodec(tiny_base / "model")
    curve = Curve(tmp_path / "log", SilentReport(), 1, resumed=False)
    trainer = build_trainer(tiny_base / "model", codec.tokenizer, dataset_of([item]), dataset_of([]), SETTINGS, 1, tmp_path / "c", curve)
    made = trainer.train_dataset[0]
    mask = [int(label != -100) for label in made["labels"]]
    assert row_faults(codec, item.messages, made["input_ids"], mask) == []
    learnt = codec.decode([number for number, bit in zip(made["input_ids"], mask, strict=True) if bit])
    assert learnt == "".join(f"{message['content']}<|im_end|>" for message in item.messages if message["role"] == "assistant")


def test_the_audit_names_what_is_wrong() -> None:
    codec, messages = ByteCodec(), trajectory(1).messages
    row = expected_row(codec, messages)
    assert row_faults(codec, messages, row.ids, row.mask) == []
    shifted = (*row.mask[1:], 0)
    assert "the loss is on" in row_faults(codec, messages, row.ids, shifted)[0]
    other = (*row.ids[:10], 99, *row.ids[11:])
    assert "token 10" in row_faults(codec, messages, other, row.mask)[0]
    no_ends = tuple(bit if number != codec.end_id else 0 for number, bit in zip(row.ids, row.mask, strict=True))
    assert any("end token" in fault for fault in row_faults(codec, messages, row.ids, no_ends))


def test_our_lighter_loss_is_trls_loss(tmp_path: Path, tiny_base: Path) -> None:
    from trl import SFTTrainer

    codec = TokenizerCodec(tiny_base / "model")
    curve = Curve(tmp_path / "log", SilentReport(), 1, resumed=False)
    rows = dataset_of([trajectory(1), trajectory(2, observation="something longer, so that there is padding")])
    trainer = build_trainer(tiny_base / "model", codec.tokenizer, rows, dataset_of([]), SETTINGS, 1, tmp_path / "c", curve)
    inputs = trainer.data_collator([trainer.train_dataset[0], trainer.train_dataset[1]])
    ours = trainer.compute_loss(trainer.model, dict(inputs), num_items_in_batch=torch.tensor(50))
    theirs = SFTTrainer.compute_loss(trainer, trainer.model, dict(inputs), num_items_in_batch=torch.tensor(50))
    assert torch.allclose(ours, theirs, rtol=1e-5)


def test_a_killed_run_goes_on_and_ends_the_same(tmp_path: Path, tiny_base: Path) -> None:
    rows = [trajectory(number) for number in range(24)]
    whole = train(job(tmp_path, tiny_base, rows, "whole"), SilentReport())

    class Killed(SilentReport):
        def metrics(self, step: int, values: dict[str, float]) -> None:
            if step == 5:
                raise KeyboardInterrupt

    broken = job(tmp_path, tiny_base, rows, "broken")
    with pytest.raises(KeyboardInterrupt):
        train(broken, Killed())
    assert (tmp_path / "broken" / "checkpoints" / "checkpoint-4").exists()
    resumed = train(broken, SilentReport())
    assert resumed.costs["resumed_at"] == 4
    assert (tmp_path / "broken" / LOG).read_text() == (tmp_path / "whole" / LOG).read_text()
    assert resumed.counts["loss"] == whole.counts["loss"]
    assert (tmp_path / "broken/model/model.safetensors").read_bytes() == (tmp_path / "whole/model/model.safetensors").read_bytes()


def test_nothing_short_enough_is_said(tmp_path: Path, tiny_base: Path) -> None:
    with pytest.raises(TerrariumError, match="max_tokens"):
        train(job(tmp_path, tiny_base, [trajectory(1)], settings=SETTINGS.model_copy(update={"max_tokens": 50})), SilentReport())


def test_a_context_the_model_does_not_take_is_said(tmp_path: Path, tiny_base: Path) -> None:
    with pytest.raises(TerrariumError, match="takes 2048"):
        train(job(tmp_path, tiny_base, [trajectory(1)], settings=SETTINGS.model_copy(update={"max_tokens": 4000})), SilentReport())


def test_a_folder_without_a_model_is_said(tmp_path: Path, tiny_base: Path) -> None:
    shutil.copytree(tiny_base, tmp_path / "empty")
    (tmp_path / "empty/model/config.json").unlink()
    with pytest.raises(TerrariumError, match="no model"):
        train(job(tmp_path, tmp_path / "empty", [trajectory(1)]), SilentReport())


@pytest.mark.parametrize(
    ("rows", "epochs", "most", "steps"), [(24, 1.0, None, 6), (25, 1.0, None, 7), (24, 2.0, None, 12), (24, 2.0, 5, 5), (1, 0.1, None, 1)]
)
def test_steps(rows: int, epochs: float, most: int | None, steps: int) -> None:
    assert steps_of(SETTINGS.model_copy(update={"epochs": epochs, "max_steps": most}), rows) == steps
