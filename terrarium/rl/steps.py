"""Step by step through a stage: what each step tells the log and whoever watches, and what must hold before weights change."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from terrarium.checkpoints import mark_complete
from terrarium.job import Report
from terrarium.rl.source import RolloutSource
from terrarium.rl.trainer import not_finite
from terrarium.rl.validation import Validation, plateau
from terrarium.tables import write_whole


@dataclass(slots=True)
class StepLog:
    """One line a finished step. A line of a step after the checkpoint that the stage goes on from is dropped: the step is done again."""

    path: Path
    done: int
    rows: list[dict[str, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.path.exists():
            lines = self.path.read_text(encoding="utf-8").splitlines()
            rows = [json.loads(line) for line in lines if line.endswith("}")]
            self.rows = [row for row in rows if row["step"] <= self.done]
        write_whole(self.path, "".join(json.dumps(row) + "\n" for row in self.rows))

    def add(self, row: dict[str, float]) -> None:
        """Append a step."""
        self.rows.append(row)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def watch(trainer: Any, log: StepLog, source: RolloutSource, validation: Validation | None, report: Report) -> Any:
    """The callback that checks gradients, marks checkpoints, and tells how each step went."""
    from transformers import TrainerCallback

    class Watch(TrainerCallback):  # type: ignore[misc]
        began = 0.0

        def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.began = time.monotonic()

        def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
            if not all(bool(p.grad.isfinite().all()) for p in model.parameters() if p.grad is not None):
                raise not_finite("gradient", trainer)

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            seconds = time.monotonic() - self.began
            training = max(seconds - source.figures["sampling_seconds"], 1e-9)
            sums = trainer.ours.sums.figures()
            times = {"seconds": seconds, "training_seconds": training, "trained_tokens_a_second": sums["trained_tokens"] / training}
            row = source.figures | sums | times
            if validation is not None:
                row |= validation.look(state.global_step)
            log.add({"step": state.global_step, **row})
            report.metrics(state.global_step, row)
            if plateau(log.rows, source.stage.patience):
                report.say(f"Stage {source.stage.number} stops after step {state.global_step}: validation has not become better.")
                control.should_training_stop = True
            report.progress(state.global_step, source.stage.steps, f"updates of stage {source.stage.number}")

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            mark_complete(Path(args.output_dir), state.global_step)

    return Watch()
