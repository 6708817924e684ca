"""The pictures of a report. Each takes plain numbers and writes one PNG file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

INK, ACCENT, SECOND = "#33415c", "#2a9d8f", "#e76f51"


def _axes(title: str, x: str, y: str) -> tuple[Any, Any]:
    # The object interface keeps no global state, so plots can be drawn in any process without a display.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6, 3.4), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_title(title, color=INK, fontsize=11)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def learning_curve(path: Path, models: Mapping[str, Mapping[str, Any]]) -> None:
    """Held-out accuracy of base, SFT and each stage with 95% intervals. `models` maps a name to scores with `accuracy`."""
    figure, axes = _axes("Held-out accuracy", "checkpoint", "accuracy")
    names = [name for name, scores in models.items() if scores["accuracy"]["value"] is not None]
    values = [models[name]["accuracy"] for name in names]
    centre = [value["value"] for value in values]
    spread = [[value["value"] - value["low"] for value in values], [value["high"] - value["value"] for value in values]]
    axes.errorbar(range(len(names)), centre, yerr=spread, marker="o", color=ACCENT, ecolor=INK, capsize=4)
    axes.set_xticks(range(len(names)), names, rotation=15)
    axes.set_ylim(0, 1)
    figure.savefig(path)


def capabilities(path: Path, models: Mapping[str, Mapping[str, Any]]) -> None:
    """Accuracy of each checkpoint by capability, side by side."""
    figure, axes = _axes("Accuracy by capability", "", "accuracy")
    names = list(models)
    kinds = list(next(iter(models.values()))["by_capability"]) if models else []
    width = 0.8 / max(1, len(names))
    for position, name in enumerate(names):
        heights = [models[name]["by_capability"][kind]["value"] or 0.0 for kind in kinds]
        axes.bar([index + position * width for index in range(len(kinds))], heights, width=width * 0.95, label=name)
    axes.set_xticks([index + 0.4 - width / 2 for index in range(len(kinds))], [kind.replace("_", "\n") for kind in kinds], fontsize=8)
    axes.set_ylim(0, 1)
    if names:
        axes.legend(fontsize=7)
    figure.savefig(path)


def difficulty_histogram(path: Path, histograms: Mapping[str, Mapping[int, int]]) -> None:
    """Questions by number of correct attempts, one series a stage; the middle survives the filter."""
    figure, axes = _axes("Difficulty: questions by correct attempts", "correct attempts", "questions")
    width = 0.8 / max(1, len(histograms))
    for position, (stage, histogram) in enumerate(histograms.items()):
        keys = sorted(histogram)
        axes.bar([key + position * width for key in keys], [histogram[key] for key in keys], width=width * 0.95, label=stage)
    if histograms:
        axes.legend(fontsize=8)
    figure.savefig(path)


def pass_at_k_curve(path: Path, curves: Mapping[str, Mapping[int, float]]) -> None:
    """Mean unbiased pass@k over k, one line a stage's starting policy."""
    figure, axes = _axes("pass@k of each stage's starting policy", "k", "pass@k")
    for stage, curve in curves.items():
        axes.plot(list(curve), list(curve.values()), marker="o", label=stage)
    axes.set_ylim(0, 1)
    if curves:
        axes.legend(fontsize=8)
    figure.savefig(path)


def browse_ratio_by_outcome(path: Path, models: Mapping[str, Mapping[str, Any]]) -> None:
    """Browse ratio (visits over all calls) of correct and of wrong rollouts for each checkpoint."""
    figure, axes = _axes("Browse ratio by outcome", "", "visits / (searches + visits)")
    names = list(models)
    for offset, outcome, colour in ((0.0, "correct", ACCENT), (0.4, "wrong", SECOND)):
        heights = [models[name]["browse_ratio"][outcome] or 0.0 for name in names]
        axes.bar([index + offset for index in range(len(names))], heights, width=0.38, color=colour, label=outcome)
    axes.set_xticks([index + 0.2 for index in range(len(names))], names, rotation=15)
    axes.set_ylim(0, 1)
    axes.legend(fontsize=8)
    figure.savefig(path)


def training_curves(path: Path, logs: Mapping[str, Sequence[Mapping[str, float]]], value: str, title: str) -> None:
    """One logged value over optimiser steps, one line a stage."""
    figure, axes = _axes(title, "optimiser step", value)
    for stage, rows in logs.items():
        points = [(row["step"], row[value]) for row in rows if value in row]
        if points:
            axes.plot([step for step, _ in points], [height for _, height in points], marker=".", label=stage)
    axes.xaxis.get_major_locator().set_params(integer=True)
    if axes.lines:
        axes.legend(fontsize=8)
    figure.savefig(path)
