"""Draws what `evaluate --plots FOLDER` writes: a precision/recall curve and a reliability diagram, as PNG.

matplotlib is an extra, imported late; everything that is drawn is computed in `curves` and `metrics`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mem0_dream.errors import MissingExtraError, UsageError
from mem0_dream.models.scorer import Thresholds
from mem0_dream.scripts.evaluate.curves import precision_recall, reliability
from mem0_dream.scripts.evaluate.metrics import BINS, Decisions, calibration_error, label_calibration

if TYPE_CHECKING:
    from mem0_dream.scripts.evaluate.metrics import Floats
    from numpy.typing import NDArray

INCHES = (6.4, 5.6)
DOTS_PER_INCH = 150
COLOURS = ("#0072B2", "#D55E00", "#555555")
"""Blue, vermilion and grey of Okabe and Ito, which colour-blind people can tell apart."""

EDGE = 0.02
"""Room around the unit square, so that points at 0 and 1 are seen whole."""

_NAMED = ("duplicate", "contradiction")
_MARKED = (("auto threshold", "merged by itself"), ("threshold", "reported as a conflict"))


def prepare(folder: Path) -> None:
    """Make the folder, and fail before anything is measured if nothing could be drawn afterwards.

    Raises:
        MissingExtraError: If matplotlib is not installed.
        UsageError: If the folder cannot be made.
    """
    _figure()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"Plots cannot be written to {folder}: {error.strerror}.") from error


def write(
    folder: Path, decisions: Decisions, *, scorer: str, name: str, thresholds: Thresholds
) -> list[Path]:
    """Draw both diagrams of one scorer on one set of pairs; the paths of the files.

    Args:
        folder: Exists, see `prepare`.
        decisions: What was decided about the pairs.
        scorer: As it was named, for the title and the file names.
        name: Of the set of pairs.
        thresholds: The scorer's own, marked on its curves.
    """
    title = f"{scorer} on {name}, n = {len(decisions)}{_weight(decisions)}"
    stem = re.sub(r"[^\w.-]+", "-", f"{scorer}-{name}")
    files = [folder / f"{stem}-precision-recall.png", folder / f"{stem}-reliability.png"]
    figures = [_precision_recall(decisions, title, thresholds), _reliability(decisions, title)]
    for file, figure in zip(files, figures, strict=True):
        figure.savefig(file, dpi=DOTS_PER_INCH)
    return files


def _weight(decisions: Decisions) -> str:
    whole = decisions.weight.sum()
    return "" if whole == len(decisions) else f", weighted to {whole:.0f}"


@dataclass(frozen=True, slots=True)
class _Ranking:
    """How one label is ranked, and what became of it.

    Attributes:
        row: Of the label, 0 or 1.
        score: float64 [n], its probability.
        positive: bool [n], pairs that have this label.
        limit: The scorer's threshold.
        decided: bool [n], merged by itself, or reported as a conflict.
        weight: float64 [n].
    """

    row: int
    score: Floats
    positive: NDArray[np.bool_]
    limit: float
    decided: NDArray[np.bool_]
    weight: Floats

    def share(self, rows: NDArray[np.bool_], of: NDArray[np.bool_]) -> float:
        """How much of some pairs has this label, by weight."""
        return float(self.weight[rows & self.positive].sum() / self.weight[of].sum())


def _precision_recall(decisions: Decisions, title: str, thresholds: Thresholds) -> Any:  # noqa: ANN401
    figure = _figure()
    axes = figure.subplots()
    limits = (thresholds.auto, thresholds.contradiction)
    outcomes = (decisions.auto, decisions.decided == 1)
    for row, (limit, decided) in enumerate(zip(limits, outcomes, strict=True)):
        score, positive = decisions.probabilities[:, row], decisions.gold == row
        if len(np.unique(score)) > 1 and positive.any():
            ranking = _Ranking(row, score, positive, limit, decided, decisions.weight)
            _draw_curve(axes, ranking)
            _mark(axes, ranking)
    axes.set(xlabel="Recall", ylabel="Precision", title=title)
    _unit_square(axes)
    figure.legend(loc="outside lower center", fontsize="small", frameon=False)
    return figure


def _draw_curve(axes: Any, ranking: _Ranking) -> None:  # noqa: ANN401
    curve = precision_recall(ranking.score, ranking.positive, ranking.weight)
    name, colour = _NAMED[ranking.row], COLOURS[ranking.row]
    positives = ranking.weight[ranking.positive].sum()
    base = positives / ranking.weight.sum()
    axes.plot(
        np.append(0.0, curve.recall),
        np.append(curve.precision[0], curve.precision),
        drawstyle="steps-pre",
        color=colour,
        label=f"{name}: {positives:.0f} pairs, average precision {curve.average_precision:.3f}",
    )
    axes.axhline(base, color=colour, linestyle=":", linewidth=1, label=f"{name}: share of all, {base:.3f}")


def _mark(axes: Any, ranking: _Ranking) -> None:  # noqa: ANN401
    """The threshold on the curve (hollow), and what comes out after guards and all other rules (filled)."""
    limit, outcome = _MARKED[ranking.row]
    colour = COLOURS[ranking.row]
    marks = (
        (ranking.score >= ranking.limit, f"{limit} {ranking.limit:.3f} alone", "D", 9, "none"),
        (ranking.decided, f"{outcome}, all rules", "o", 7, colour),
    )
    for rows, said, marker, size, fill in marks:
        if rows.any():
            precision, recall = ranking.share(rows, rows), ranking.share(rows, ranking.positive)
            axes.plot(
                recall,
                precision,
                linestyle="none",
                marker=marker,
                markersize=size,
                markerfacecolor=fill,
                markeredgecolor=colour,
                clip_on=False,
                label=f"{_NAMED[ranking.row]}, {said}: precision {precision:.3f}, recall {recall:.3f}",
            )


def _reliability(decisions: Decisions, title: str) -> Any:  # noqa: ANN401
    best = decisions.probabilities.argmax(axis=1)
    duplicate = decisions.probabilities[:, 0]
    same = decisions.gold == 0
    series = (
        ("probability of duplicate", duplicate, same, calibration_error(duplicate, same, decisions.weight)),
        (
            "probability of the most probable label",
            decisions.probabilities.max(axis=1),
            best == decisions.gold,
            label_calibration(decisions),
        ),
    )
    figure = _figure()
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    above.plot((0, 1), (0, 1), color=COLOURS[2], linestyle=":", linewidth=1, label="perfect: stated = true")
    for number, (said, probability, right, error) in enumerate(series):
        bins = reliability(probability, right, decisions.weight)
        style = {"color": COLOURS[number]}
        label = f"{said}, calibration error {error:.3f}"
        above.plot(bins.stated, bins.true, marker="os"[number], markersize=5, label=label, **style)
        middle = (np.minimum(np.floor(bins.stated * BINS), BINS - 1) + 0.5) / BINS
        below.bar(middle + (number - 0.5) * 0.04, bins.share, width=0.04, **style)
    above.set(ylabel="True share", title=title)
    _unit_square(above)
    below.set(xlabel="Stated probability", ylabel="Share of pairs")
    figure.legend(loc="outside lower center", fontsize="small", frameon=False)
    return figure


def _unit_square(axes: Any) -> None:  # noqa: ANN401
    axes.set(xlim=(-EDGE, 1 + EDGE), ylim=(-EDGE, 1 + EDGE))
    axes.grid(visible=True, linewidth=0.4, alpha=0.5)


def _figure() -> Any:  # noqa: ANN401  (a class of a lazily imported package)
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "Plots need matplotlib; install it with: pip install 'mem0-dream[plots]'"
        ) from error
    return Figure(figsize=INCHES, layout="constrained")
