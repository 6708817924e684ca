"""Which number format is fast here: bfloat16 only where a unit for it is (a GPU, or AMX on a CPU); elsewhere float32 is as fast and exact."""

from __future__ import annotations

from typing import Literal

Dtype = Literal["float32", "bfloat16"]


def fast_dtype(wanted: str = "auto") -> Dtype:
    """`wanted`, or where it is "auto" what this machine does best."""
    if wanted == "float32":
        return "float32"
    if wanted == "bfloat16":
        return "bfloat16"
    import torch

    if torch.cuda.is_available() and torch.cuda.is_bf16_supported():
        return "bfloat16"
    return "bfloat16" if _has_amx() else "float32"


def _has_amx() -> bool:
    import torch

    return torch.cpu._is_amx_tile_supported()
