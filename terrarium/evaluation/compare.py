"""Recipes and seeds beside each other: one table, one picture, on the same held-out questions."""

from __future__ import annotations

import base64
import json
from html import escape
from pathlib import Path
from typing import Any

from terrarium.errors import TerrariumError
from terrarium.evaluation import plots
from terrarium.job import Job, Outcome, Report


class CompareJob(Job):
    """Which reports stand beside each other: recipe partition -> folder of its report."""

    reports: dict[str, Path]


def compare(job: CompareJob, report: Report) -> Outcome:
    """Write `comparison.json`, `comparison.png` and `comparison.html`.

    Raises:
        TerrariumError: there is no report, or one lacks its scores.
    """
    if not job.reports:
        raise TerrariumError("No recipe has a report yet; materialise an evaluation_report first.")
    rows: list[dict[str, Any]] = []
    models: dict[str, Any] = {}
    for recipe, folder in sorted(job.reports.items()):
        for name, scores in _scores(folder).items():
            # The base model and the cold start are the same for every recipe and stand once.
            label = name if name in ("base", "sft") else f"{recipe} {name}"
            if label in models:
                continue
            models[label] = scores
            rows.append({"checkpoint": label, **scores["accuracy"], "browse_ratio": scores["browse_ratio"]["pooled"]})
    (job.out / "comparison.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    plots.learning_curve(job.out / "comparison.png", models)
    (job.out / "comparison.html").write_text(_html(rows, (job.out / "comparison.png").read_bytes()), encoding="utf-8")
    report.say(f"{len(job.reports)} recipes compared")
    return Outcome(counts={"recipes": len(job.reports), "checkpoints": len(rows)})


def _scores(folder: Path) -> dict[str, Any]:
    try:
        return json.loads((folder / "scores.json").read_text(encoding="utf-8"))["models"]
    except (OSError, ValueError, KeyError) as error:
        raise TerrariumError(f"The report {folder} has no readable scores.json ({error}); make that report again.") from error


def _html(rows: list[dict[str, Any]], picture: bytes) -> str:
    def cell(value: Any) -> str:
        return f"<td>{'–' if value is None else f'{value:.2f}' if isinstance(value, float) else escape(str(value))}</td>"

    head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    body = "".join("<tr>" + "".join(map(cell, row.values())) + "</tr>" for row in rows)
    image = base64.b64encode(picture).decode()
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>Recipes compared · Terrarium</title>"
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">"
        "<style>body{font:15px system-ui;max-width:900px;margin:2rem auto}td,th{padding:.3rem .7rem;text-align:left}img{max-width:100%}</style>"
        f"<h1>Recipes compared</h1><img alt='accuracy of each checkpoint' src='data:image/png;base64,{image}'>"
        f"<table><tr>{head}</tr>{body}</table></html>"
    )
