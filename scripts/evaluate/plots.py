"""Draws what `quality --plots FOLDER` writes: a precision/recall curve and a reliability diagram, as PNG.

matplotlib is an extra, imported late; everything that is drawn is reckoned in `metrics` or by scikit-learn.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from mem0_dream.errors import MissingExtraError, UsageError
from mem0_dream.models.scorer import Thresholds
from mem0_dream.scripts.evaluate.metrics import BINS, Decisions, calibration_error, reliability, share_right

COLOURS = ("#0072B2", "#D55E00", "#555555")
"""Blue, vermilion and grey of Okabe and Ito, which colour-blind people can tell apart."""


def prepare(folder: Path) -> None:
    """Make the folder, and fail before anything is measured if nothing could be drawn afterwards."""
    new_figure()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"Plots cannot be written to {folder}: {error.strerror}.") from error


def write(
    folder: Path, decisions: Decisions, *, scorer: str, name: str, thresholds: Thresholds
) -> list[Path]:
    """Draw both diagrams of one scorer on one set of pairs, its thresholds marked; the paths of the files."""
    whole = decisions.weight.sum()
    weight = "" if whole == len(decisions) else f", weighted to {whole:.0f}"
    title = f"{scorer} on {name}, n = {len(decisions)}{weight}"
    stem = re.sub(r"[^\w.-]+", "-", f"{scorer}-{name}")
    drawn = {
        "precision-recall": _precision_recall(decisions, thresholds),
        "reliability": _reliability(decisions),
    }
    files = []
    for kind, (figure, axes) in drawn.items():
        axes.set(title=title, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))  # room for points at 0 and 1
        axes.grid(visible=True, linewidth=0.4, alpha=0.5)
        figure.legend(loc="outside lower center", fontsize="small", frameon=False)
        files.append(folder / f"{stem}-{kind}.png")
        figure.savefig(files[-1], dpi=150)
    return files


def _precision_recall(decisions: Decisions, thresholds: Thresholds) -> tuple[Any, Any]:
    """A curve for each label, its threshold alone (hollow), and what comes of it after all rules (filled)."""
    from sklearn.metrics import average_precision_score, precision_recall_curve

    figure = new_figure()
    axes, weight = figure.subplots(), decisions.weight
    rows = (
        ("duplicate", "auto threshold", "merged by itself", thresholds.auto, decisions.auto),
        ("contradiction", "threshold", "reported", thresholds.contradiction, decisions.decided == 1),
    )
    for row, (name, limit, outcome, threshold, decided) in enumerate(rows):
        score, positive, colour = decisions.probabilities[:, row], decisions.gold == row, COLOURS[row]
        if len(np.unique(score)) < 2 or not positive.any():
            continue
        precisions, recalls, _ = precision_recall_curve(positive, score, sample_weight=weight)
        average = average_precision_score(positive, score, sample_weight=weight)
        label = f"{name}: {weight[positive].sum():.0f} pairs, average precision {average:.3f}"
        axes.plot(recalls, precisions, drawstyle="steps-post", color=colour, label=label)
        for chosen, said, marker, fill in (
            (score >= threshold, f"{limit} {threshold:.3f} alone", "D", "none"),
            (decided, f"{outcome}, all rules", "o", colour),
        ):
            precision, recall = share_right(chosen.astype(float), positive, weight, 1.0)
            label = f"{name}, {said}: precision {precision:.3f}, recall {recall:.3f}"
            style = {"marker": marker, "markerfacecolor": fill, "markeredgecolor": colour}
            axes.plot(recall, precision, linestyle="none", clip_on=False, label=label, **style)
    axes.set(xlabel="Recall", ylabel="Precision")
    return figure, axes


def _reliability(decisions: Decisions) -> tuple[Any, Any]:
    probabilities, gold, weight = decisions.probabilities, decisions.gold, decisions.weight
    series = (
        ("probability of duplicate", probabilities[:, 0], gold == 0),
        ("probability of the most probable label", probabilities.max(axis=1), decisions.best == gold),
    )
    figure = new_figure()
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    above.plot((0, 1), (0, 1), color=COLOURS[2], linestyle=":", linewidth=1, label="perfect: stated = true")
    for number, (said, probability, right) in enumerate(series):
        bins, style = reliability(probability, right, weight), {"color": COLOURS[number]}
        label = f"{said}, calibration error {calibration_error(probability, right, weight):.3f}"
        above.plot(bins.stated, bins.true, marker="os"[number], markersize=5, label=label, **style)
        middle = (np.minimum(np.floor(bins.stated * BINS), BINS - 1) + 0.5) / BINS
        below.bar(middle + (number - 0.5) * 0.04, bins.share, width=0.04, **style)
    above.set(ylabel="True share")
    below.set(xlabel="Stated probability", ylabel="Share of pairs")
    return figure, above


def new_figure(inches: tuple[float, float] = (6.4, 5.6)) -> Any:  # noqa: ANN401  (a lazily imported package)
    """An empty figure, or a MissingExtraError."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "Plots need matplotlib; install it with: pip install 'mem0-dream[plots]'"
        ) from error
    return Figure(figsize=inches, layout="constrained")
