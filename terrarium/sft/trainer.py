"""TRL's SFTTrainer as we use it: settings turned into its arguments, its log into our curve, and a lighter loss where there is no GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from terrarium.checkpoints import mark_complete
from terrarium.job import Report
from terrarium.sft.order import ordered_by_pass
from terrarium.sft.settings import SftSettings
from terrarium.sft.trajectory import Trajectory
from terrarium.tables import write_whole

if TYPE_CHECKING:
    from datasets import Dataset

_NAMES = {"loss": "loss", "grad_norm": "gradient", "learning_rate": "learning_rate", "mean_token_accuracy": "accuracy"}


class Curve:
    """The training curve: one line a step in a file, and told to whoever listens. A resumed run goes on after its checkpoint's step."""

    def __init__(self, path: Path, report: Report, steps: int, resumed: bool) -> None:
        self.path = path
        self.report = report
        self.steps = steps
        self.done = 0
        self.tokens = 0.0
        self.precision = ""
        self.last: dict[str, float] = {}
        if not resumed:
            path.unlink(missing_ok=True)

    def rewind(self, step: int) -> None:
        """Drop lines after `step`: their updates are made again."""
        self.done = step
        if self.path.exists():
            whole = [line for line in self.path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
            write_whole(self.path, "".join(f"{line}\n" for line in whole if json.loads(line)["step"] <= step))

    def add(self, step: int, logs: dict[str, float]) -> None:
        """Note what the trainer logged after `step`."""
        if "loss" not in logs:
            return
        values = {ours: float(logs[theirs]) for theirs, ours in _NAMES.items() if theirs in logs}
        self.tokens = float(logs.get("num_tokens", self.tokens))
        self.last = values
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"step": step, **values}) + "\n")
        self.report.metrics(step, values)
        self.report.progress(step, self.steps, "updates of SFT")


def dataset_of(trajectories: list[Trajectory]) -> Dataset:
    """Conversations as TRL takes them."""
    from datasets import Dataset

    return Dataset.from_list(
        [{"messages": [{"role": message["role"], "content": message["content"]} for message in item.messages]} for item in trajectories]
    )


def build_trainer(
    folder: Path, tokenizer: Any, training: Dataset, validation: Dataset, settings: SftSettings, steps: int, checkpoints: Path, curve: Curve
) -> Any:
    """A trainer for the model in `folder`: float32 weights, rows of like length together.

    Raises:
        TerrariumError: there is no model, or `max_tokens` is more than it takes.
    """
    import torch
    from transformers import AutoModelForCausalLM, PrinterCallback, TrainerCallback
    from trl import SFTConfig

    from terrarium.errors import TerrariumError

    if not (folder / "config.json").exists():
        raise TerrariumError(f"There is no model in {folder}; make the base model first.")
    on_gpu = torch.cuda.is_available()
    bfloat16 = settings.precision == "bfloat16" or (settings.precision == "auto" and (on_gpu or torch.cpu._is_amx_tile_supported()))
    curve.precision = "bfloat16" if bfloat16 else "float32"
    torch.manual_seed(settings.seed)
    model = AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32, local_files_only=True, use_safetensors=True)
    largest = getattr(model.config, "max_position_embeddings", None)
    if largest is not None and settings.max_tokens > largest:
        raise TerrariumError(f"The SFT settings ask for {settings.max_tokens} tokens and the model in {folder} takes {largest}; lower max_tokens.")
    config = SFTConfig(
        output_dir=str(checkpoints),
        assistant_only_loss=True,
        max_length=None,
        shuffle_dataset=False,
        per_device_train_batch_size=settings.micro_batch,
        per_device_eval_batch_size=settings.micro_batch,
        gradient_accumulation_steps=max(1, settings.batch // settings.micro_batch),
        max_steps=steps,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine" if settings.schedule == "cosine" else "constant_with_warmup",
        warmup_steps=round(settings.warmup * steps),
        weight_decay=settings.weight_decay,
        adam_beta1=settings.beta1,
        adam_beta2=settings.beta2,
        max_grad_norm=settings.clip,
        train_sampling_strategy="group_by_length",
        use_cpu=not on_gpu,
        bf16=bfloat16,
        gradient_checkpointing=settings.gradient_checkpointing,
        logging_steps=1,
        logging_first_step=True,
        save_strategy="steps",
        save_steps=settings.save_every,
        # Two: the older one is whole while the newer one is written.
        save_total_limit=2,
        report_to="none",
        disable_tqdm=True,
        seed=settings.seed,
        data_seed=settings.seed,
        dataloader_num_workers=0,
        prediction_loss_only=True,
    )

    class Watch(TrainerCallback):
        """Hands the trainer's log to the curve."""

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            curve.rewind(state.global_step)

        def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **kwargs: Any) -> None:
            curve.add(state.global_step, logs or {})

        def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            mark_complete(Path(args.output_dir), state.global_step)

    trainer = ordered_by_pass(_trainer_class(on_gpu))(
        model=model,
        args=config,
        train_dataset=training,
        eval_dataset=validation if len(validation) else None,
        processing_class=tokenizer,
        callbacks=[Watch()],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def _trainer_class(on_gpu: bool) -> Any:
    from trl import SFTTrainer

    if on_gpu:
        return SFTTrainer

    class LightLossTrainer(SFTTrainer):
        """Logits for learnt positions alone.

        TRL's fused head does that on GPUs only; elsewhere it computes all positions, and each twice, which for a small model with a
        large vocabulary is a quarter of the work.
        """

        def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None) -> Any:
            """Mean negative log-likelihood over learnt tokens, as TRL's."""
            import torch

            mode = "train" if model.training else "eval"
            bare = self.accelerator.unwrap_model(model)
            hidden = bare.base_model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], use_cache=False).last_hidden_state
            labels = inputs["labels"][:, 1:]
            learnt = labels != -100
            logits = bare.get_output_embeddings()(hidden[:, :-1][learnt]).float()
            total = torch.nn.functional.cross_entropy(logits, labels[learnt], reduction="sum")
            loss = total / (learnt.sum() if num_items_in_batch is None else num_items_in_batch)
            self._metrics[mode]["mean_token_accuracy"].append((logits.detach().argmax(-1) == labels[learnt]).float().mean().item())
            if mode == "train":
                self._total_train_tokens += int(inputs["attention_mask"].sum())
            self._metrics[mode]["num_tokens"] = [self._total_train_tokens]
            return loss

    return LightLossTrainer
