"""TRL's GRPO trainer, made strictly on-policy and fed by our own rollouts and advantages.

TRL keeps the steps, the optimiser, checkpoints, resuming and several processes. Ours are: where rollouts come from (`rollout_func`,
so that the one agent loop samples and no token is encoded again), the advantages (groups without spread and outages are exactly zero),
micro-batches without padding, and the loss on sampled tokens. What is left out: a KL term and a reference model, an entropy bonus,
several updates on one batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from terrarium.agent.rollout import Rollout
from terrarium.errors import TerrariumError
from terrarium.rl.curve import reward
from terrarium.rl.loss import add_scoring, importance_weights, policy_loss
from terrarium.rl.settings import StageSettings

if TYPE_CHECKING:
    import torch


@dataclass(slots=True)
class Batch:
    """What one step trains on: rollouts in rows, group after group, and an advantage for every turn of each."""

    rollouts: list[Rollout]
    advantages: list[list[float]]


class Source(Protocol):
    """Where the trainer's rollouts come from."""

    def batch(self, step: int, question_ids: Sequence[str]) -> Batch:
        """Rollouts of the current weights on the questions of `step` (from 0), `group` of each, in order."""


@dataclass(slots=True)
class Row:
    """One rollout as the trainer takes it: prompt, then everything up to the last sampled token."""

    prompt: list[int]
    completion: list[int]
    mask: list[int]
    logprobs: list[float]
    advantages: list[float]

    @classmethod
    def of(cls, rollout: Rollout, advantages: Sequence[float], filler: int) -> Row:
        """Cut a rollout at its first and after its last sampled token; without one, `filler` stands in, masked out.

        `advantages` has one value a turn; every sampled token of the turn gets it.
        """
        sampled = [place for place, flag in enumerate(rollout.loss_mask) if flag]
        if not sampled:
            return cls(list(rollout.token_ids), [filler], [0], [0.0], [0.0])
        first, end = sampled[0], sampled[-1] + 1
        per_token = [0.0] * end
        for turn, value in zip(rollout.turns, advantages, strict=True):
            per_token[turn.start : min(turn.end, end)] = [value] * (min(turn.end, end) - turn.start)
        mask = list(rollout.loss_mask[first:end])
        return cls(
            list(rollout.token_ids[:first]),
            list(rollout.token_ids[first:end]),
            mask,
            list(rollout.logprobs[first:end]),
            [value * flag for value, flag in zip(per_token[first:], mask, strict=True)],
        )


@dataclass(slots=True)
class StepSums:
    """What the micro-batches of one step add up to."""

    tokens: int = 0
    trained_tokens: int = 0
    sampled: float = 0.0
    entropy: float = 0.0
    drift: float = 0.0
    worst_drift: float = 0.0
    capped: float = 0.0
    loss: float = 0.0
    mismatches: int = 0

    def figures(self) -> dict[str, float]:
        """Means over the sampled tokens that were trained on. `drift` is |log p of training - log p of sampling|."""
        count = max(self.sampled, 1.0)
        return {
            "loss": self.loss,
            "entropy": self.entropy / count,
            "drift": self.drift / count,
            "worst_drift": self.worst_drift,
            "weights_capped": self.capped / count,
            "trained_tokens": float(self.trained_tokens),
            "token_mismatches": float(self.mismatches),
        }


@dataclass(slots=True)
class Ours:
    """What our rules need beside TRL's own settings."""

    source: Source
    stage: StageSettings
    filler: int
    current: Batch | None = None
    sums: StepSums = field(default_factory=StepSums)


class OnPolicy:
    """The rules of this project, laid over `trl.GRPOTrainer` by `build_trainer`. `self.ours` is set there."""

    ours: Ours

    def _prepare_inputs(self: Any, generation_batch: Any) -> dict[str, torch.Tensor]:
        """One micro-batch. At the first of a step the whole batch is sampled, ordered by length, and cut up.

        Rollouts that teach nothing come last, so that micro-batches of them alone are passed over.
        """
        count = self.args.steps_per_generation
        if self._step % count == 0 or self._buffered_inputs is None:
            self.ours.sums = StepSums()
            rows = self._generate_and_score_completions(generation_batch)
            lengths = (rows["prompt_mask"].sum(1) + rows["completion_mask"].sum(1)).tolist()
            teaches = rows["advantages"].abs().sum(1).ne(0).tolist()
            order = sorted(range(len(lengths)), key=lambda place: (not teaches[place], -lengths[place], place))
            size = len(order) // count
            cuts = [order[start : start + size] for start in range(0, len(order), size)]
            self._buffered_inputs = [{name: value[cut] if value.dim() else value for name, value in rows.items()} for cut in cuts]
        return self._buffered_inputs[self._step % count]

    def _generate_and_score_completions(self: Any, inputs: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """TRL's tensors of the batch, with our advantages: (B, T), the turn's on every token it sampled."""
        import torch
        from trl.trainer.utils import pad

        out = super()._generate_and_score_completions(inputs)  # type: ignore[misc]
        batch = self.ours.current
        rows = [Row.of(rollout, advantage, self.ours.filler) for rollout, advantage in zip(batch.rollouts, batch.advantages, strict=True)]
        self.ours.sums.mismatches = _mismatches(out, rows)
        device = out["completion_ids"].device
        out["advantages"] = pad([torch.tensor(row.advantages) for row in rows], padding_value=0).to(device)
        out["valid"] = torch.tensor(float(sum(reward(rollout) is not None for rollout in batch.rollouts)), device=device)
        return out

    def _compute_loss(self: Any, model: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        """The loss of one micro-batch, on exactly its own width; nothing is computed where no advantage is."""
        import torch

        ours, sums = self.ours, self.ours.sums
        if self.accelerator.num_processes == 1 and not inputs["advantages"].any():
            return torch.zeros((), device=inputs["advantages"].device, requires_grad=True)
        inputs = _trim(inputs)
        ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], 1)
        attention = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], 1)
        mask = inputs["completion_mask"] * inputs["tool_mask"]
        scored = torch.cat([torch.zeros_like(inputs["prompt_ids"]), mask], 1)
        with self.accelerator.autocast():
            logprobs, entropies = model(input_ids=ids, attention_mask=None if attention.all() else attention, scored=scored)
        width = mask.size(1)
        logprobs, entropies = logprobs[:, -width:], entropies[:, -width:]
        sampled = inputs["sampling_per_token_logps"]
        stage = ours.stage
        rollouts = max(1.0, float(inputs["valid"]))
        loss = policy_loss(logprobs, sampled, mask, inputs["advantages"], rollouts, stage.clip_low, stage.clip_high, stage.importance_cap)
        if not torch.isfinite(loss):
            raise not_finite("loss", self)
        with torch.no_grad():
            drift = ((logprobs - sampled) * mask).abs()
            sums.tokens += int(attention.sum())
            sums.trained_tokens += int(attention.sum())
            sums.sampled += float(mask.sum())
            sums.entropy += float((entropies * mask).sum())
            sums.drift += float(drift.sum())
            sums.worst_drift = max(sums.worst_drift, float(drift.max()))
            sums.capped += float((importance_weights(logprobs, sampled, mask) > stage.importance_cap).sum())
            sums.loss += float(loss)
        return loss


def not_finite(what: str, trainer: Any) -> TerrariumError:
    """The error that ends a stage whose numbers went astray."""
    step = trainer.state.global_step
    return TerrariumError(
        f"The {what} became NaN or infinite in step {step + 1} of the stage; the last good checkpoint is kept in {trainer.args.output_dir}, "
        "lower the stage's learning_rate and run it again."
    )


def _trim(inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Cut the padding of the whole batch down to what this micro-batch needs: prompts on the left, completions on the right."""
    prompt, completion = (int(inputs[name].sum(1).max()) for name in ("prompt_mask", "completion_mask"))
    start = inputs["prompt_ids"].size(1) - prompt
    trimmed = dict(inputs)
    for name, value in inputs.items():
        if value.dim() == 2:
            trimmed[name] = value[:, start:] if name.startswith("prompt_") else value[:, :completion]
    return trimmed


def _mismatches(out: dict[str, torch.Tensor], rows: Sequence[Row]) -> int:
    """Rows whose tensors hold other tokens, another mask or other log-probabilities than the rollout recorded: the token audit."""
    import torch

    wrong = 0
    for place, row in enumerate(rows):
        prompt = out["prompt_ids"][place][out["prompt_mask"][place].bool()].tolist()
        length = int(out["completion_mask"][place].sum())
        completion = out["completion_ids"][place][:length].tolist()
        mask = out["tool_mask"][place][:length].tolist()
        logprobs = out["sampling_per_token_logps"][place][:length].tolist()
        same = prompt == row.prompt and completion == row.completion and mask == row.mask
        wrong += not (same and logprobs == torch.tensor(row.logprobs).tolist())
    return wrong


def build_trainer(
    model: Any,
    tokenizer: Any,
    source: Source,
    plan: Sequence[Sequence[str]],
    stage: StageSettings,
    folder: Path,
    seed: int,
    callbacks: Sequence[Any] = (),
) -> Any:
    """A trainer that runs `plan` step by step.

    Args:
        model: float32, in memory. folder: where checkpoints go.

    Raises:
        TerrariumError: a step's rollouts do not split into equal micro-batches.
    """
    import os

    import torch

    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    from datasets import Dataset
    from transformers.trainer_callback import PrinterCallback
    from trl import GRPOConfig, GRPOTrainer

    from terrarium.rl.hardware import fast_dtype

    if stage.rollouts_a_step % stage.micro_batch:
        raise TerrariumError(
            f"{stage.rollouts_a_step} rollouts a step do not split into micro-batches of {stage.micro_batch}; let one be a multiple of the other."
        )
    on_gpu = torch.cuda.is_available()
    micro_batches = stage.rollouts_a_step // stage.micro_batch
    config = GRPOConfig(
        output_dir=str(folder),
        seed=seed,
        use_cpu=not on_gpu,
        bf16=fast_dtype(stage.precision) == "bfloat16",
        gradient_checkpointing=on_gpu,
        per_device_train_batch_size=stage.micro_batch,
        gradient_accumulation_steps=micro_batches,
        steps_per_generation=micro_batches,
        num_iterations=1,
        num_generations=stage.group,
        max_steps=stage.steps,
        shuffle_dataset=False,
        beta=0.0,
        epsilon=stage.clip_low,
        epsilon_high=stage.clip_high,
        loss_type="grpo",
        temperature=stage.temperature,
        max_completion_length=stage.context,
        learning_rate=stage.learning_rate,
        lr_scheduler_type="constant",
        warmup_steps=0,
        weight_decay=stage.weight_decay,
        adam_beta1=stage.betas[0],
        adam_beta2=stage.betas[1],
        max_grad_norm=stage.max_grad_norm,
        logging_steps=1,
        save_strategy="steps",
        save_steps=stage.save_every,
        save_total_limit=2,
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
    )
    ours = Ours(source=source, stage=stage, filler=int(tokenizer.eos_token_id))

    def rollout_func(prompts: list[str], trainer: Any) -> dict[str, Any]:
        batch = source.batch(trainer.state.global_step, prompts[:: stage.group])
        ours.current = batch
        rows = [Row.of(rollout, advantage, ours.filler) for rollout, advantage in zip(batch.rollouts, batch.advantages, strict=True)]
        return {
            "prompt_ids": [row.prompt for row in rows],
            "completion_ids": [row.completion for row in rows],
            "logprobs": [row.logprobs for row in rows],
            "env_mask": [row.mask for row in rows],
            "outcome": [reward(rollout) for rollout in batch.rollouts],
        }

    def outcome(outcome: list[float | None], **_: Any) -> list[float | None]:
        return outcome

    trainer_class = type("OnPolicyTrainer", (OnPolicy, GRPOTrainer), {})
    trainer = trainer_class(
        model=model,
        reward_funcs=[outcome],
        args=config,
        train_dataset=Dataset.from_dict({"prompt": [question for step in plan for question in step]}),
        processing_class=tokenizer,
        rollout_func=rollout_func,
        callbacks=list(callbacks),
    )
    trainer.remove_callback(PrinterCallback)
    trainer.ours = ours
    add_scoring(model, stage.temperature)
    return trainer
