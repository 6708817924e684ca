"""How the cold start is trained. The numbers stand in curricula/sft/, each with its source."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class SftSettings(BaseModel):
    """Settings of one supervised fine-tuning; one file of curricula/sft/ holds them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_tokens: int = Field(ge=32, description="longer trajectories are left out, never cut")
    batch: int = Field(ge=1, description="rows an update, over all processes")
    micro_batch: int = Field(ge=1, description="rows a forward pass, on one process")
    learning_rate: float = Field(gt=0)
    schedule: Literal["constant", "cosine"] = "constant"
    warmup: float = Field(default=0.0, ge=0.0, lt=1.0, description="share of the updates in which the learning rate rises")
    epochs: float = Field(default=1.0, gt=0, description="passes over the rows")
    max_steps: int | None = Field(default=None, ge=1, description="updates at most, whatever `epochs` says")
    weight_decay: float = Field(default=0.0, ge=0)
    beta1: float = Field(default=0.9, ge=0, lt=1)
    beta2: float = Field(default=0.999, ge=0, lt=1)
    clip: float = Field(default=1.0, gt=0, description="largest norm of the gradient")
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        default="auto", description="of the arithmetic; the weights stay float32. auto: bfloat16 on a GPU or with AMX"
    )
    gradient_checkpointing: bool = False
    save_every: int = Field(default=20, ge=1, description="updates between checkpoints a killed step goes on from")
    validation_rows: int = Field(default=24, ge=0, description="validation trajectories whose loss is measured, before and after")
    seed: int = 0
