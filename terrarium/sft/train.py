"""The cold start: supervised fine-tuning with TRL. The loss is on each turn and its end token, and on nothing else."""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from terrarium.agent.codec import TokenizerCodec
from terrarium.agent.template import CHAT_TEMPLATE, render_messages
from terrarium.checkpoints import last_checkpoint
from terrarium.errors import TerrariumError
from terrarium.job import Gate, Job, Outcome, Report
from terrarium.sft.audit import row_faults
from terrarium.sft.settings import SftSettings
from terrarium.sft.trainer import Curve, build_trainer, dataset_of
from terrarium.sft.trajectory import Trajectory, read_trajectories
from terrarium.tables import Drop, write_drops, write_whole

LOG = "training_log.jsonl"


class SftJob(Job):
    """`model` is the base model's folder (the model lies at `<it>/model`), `trajectories` that of the curated trajectories."""

    model: Path
    trajectories: Path
    settings: SftSettings


def train(job: SftJob, report: Report) -> Outcome:
    """Train; writes model/, training_log.jsonl and dropped.parquet. Goes on from the last checkpoint in `job.out`.

    Raises:
        TerrariumError: no model, or no trajectory that is short enough.
    """
    codec = TokenizerCodec(job.model / "model")
    trajectories = read_trajectories(job.trajectories / "trajectories.parquet")
    fitting, drops = fit(trajectories, codec, job.settings.max_tokens)
    rows = [item for item in fitting if item.split == "train" for _ in range(item.copies)]
    held_out = [item for item in fitting if item.split == "validation"][: job.settings.validation_rows]
    if not rows:
        reason = f"None of {len(trajectories)} trajectories fits into {job.settings.max_tokens} tokens"
        raise TerrariumError(f"{reason}; raise max_tokens of the SFT settings or make shorter trajectories.")
    write_drops(job.out / "dropped.parquet", drops)
    report.say(f"SFT on {len(rows)} rows of {len({item.question_id for item in rows})} questions; {len(drops)} trajectories are too long")
    return _train(job, codec, rows, held_out, drops, report)


def fit(trajectories: Sequence[Trajectory], codec: TokenizerCodec, max_tokens: int) -> tuple[list[Trajectory], list[Drop]]:
    """Trajectories of at most `max_tokens` tokens, and the others as drops: cut at its end, a trajectory would lose its answer."""
    fitting, drops = [], []
    for item in trajectories:
        length = len(codec.encode(render_messages(list(item.messages))))
        if length <= max_tokens:
            fitting.append(item)
        else:
            drops.append(Drop(item.trajectory_id, str(item.messages[1]["content"]), "sft", "too_long", f"{length} tokens"))
    return fitting, drops


def steps_of(settings: SftSettings, rows: int) -> int:
    """Updates of a training on so many rows."""
    steps = max(1, math.ceil(rows * settings.epochs / settings.batch))
    return min(steps, settings.max_steps or steps)


def _train(job: SftJob, codec: TokenizerCodec, rows: list[Trajectory], held_out: list[Trajectory], drops: list[Drop], report: Report) -> Outcome:
    steps = steps_of(job.settings, len(rows))
    checkpoints = job.out / "checkpoints"
    _, checkpoint = last_checkpoint(checkpoints)
    curve = Curve(job.out / LOG, report, steps, resumed=checkpoint is not None)
    training, validation = dataset_of(rows), dataset_of(held_out)
    trainer = build_trainer(job.model / "model", codec.tokenizer, training, validation, job.settings, steps, checkpoints, curve)
    audit = _audit(trainer.train_dataset, rows, codec)
    before = _loss(trainer, job.out / "loss_before.json", held_out)
    started = time.monotonic()
    report.progress(curve.done, steps, "updates of SFT")
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    seconds = time.monotonic() - started
    after = _loss(trainer, None, held_out)
    _save(trainer, codec, job)
    shutil.rmtree(checkpoints, ignore_errors=True)
    (job.out / "loss_before.json").unlink(missing_ok=True)
    losses = {"validation_loss_before": before, "validation_loss": after} if held_out else {}
    tokens = sum(len(ids) for ids in trainer.train_dataset["input_ids"])
    return Outcome(
        counts={"rows": len(rows), "questions": len({item.question_id for item in rows}), "steps": steps, "row_tokens": tokens, **losses}
        | {name: value for name, value in curve.last.items() if name in ("loss", "accuracy")},
        drops={"too_long": len(drops)} if drops else {},
        gates=[audit, _learnt(before, after, bool(held_out))],
        costs={"training_seconds": seconds, "tokens_trained/sft": curve.tokens, "resumed_at": curve.done},
        notes={"precision": curve.precision},
    )


def _audit(dataset: Any, rows: list[Trajectory], codec: TokenizerCodec) -> Gate:
    """Every row as TRL made it, against ids and mask built without a template."""
    faults = []
    for index, item in enumerate(rows):
        made = dataset[index]
        mask = [int(label != -100) for label in made["labels"]]
        faults += [f"{item.trajectory_id}: {fault}" for fault in row_faults(codec, item.messages, made["input_ids"], mask)]
    detail = faults[0] if faults else f"{len(rows)} rows: ids are those of the text, the loss is on turns and their end tokens alone"
    return Gate(name="token_audit", passed=not faults, detail=detail, figures={"rows": len(rows), "faults": len(faults)})


def _learnt(before: float, after: float, measured: bool) -> Gate:
    detail = f"loss on unseen questions {before:.3f} before, {after:.3f} after" if measured else "no validation trajectories"
    return Gate(name="validation_loss_fell", passed=not measured or after < before, severity="warn", detail=detail)


def _loss(trainer: Any, kept: Path | None, held_out: list[Trajectory]) -> float:
    """Loss on the validation rows; `kept` holds it for a run that goes on."""
    if not held_out:
        return 0.0
    if kept is not None and kept.exists():
        return float(json.loads(kept.read_text())["loss"])
    loss = float(trainer.evaluate()["eval_loss"])
    if kept is not None:
        write_whole(kept, json.dumps({"loss": loss}))
    return loss


def _save(trainer: Any, codec: TokenizerCodec, job: SftJob) -> None:
    """Weights in float32, and tokenizer and template exactly as the base model has them."""
    folder = job.out / "model"
    if folder.exists():
        shutil.rmtree(folder)
    model = trainer.accelerator.unwrap_model(trainer.model)
    model.save_pretrained(str(folder))
    parent = job.model / "model"
    for file in sorted(parent.iterdir()):
        if file.is_file() and ".safetensors" not in file.name and not (folder / file.name).exists():
            shutil.copy2(file, folder / file.name)
    if codec.tokenizer.chat_template != CHAT_TEMPLATE:
        raise TerrariumError(f"The chat template in {parent} is not the one rollouts use; make the base model again.")
