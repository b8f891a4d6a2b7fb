"""Thresholds fitted on a person's own labelled pairs, for a stated precision.

The scorer stays as it is; only where its probabilities become decisions moves. Too few pairs fit
nothing: a threshold that was right five times may be wrong the sixth.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...models.scorer import CONTRADICTION, DUPLICATE, Thresholds
from ...records import Label

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AUTO_PRECISION = 0.98
"""Share of automatic merges that must be right on the labelled pairs."""
CONTRADICTION_PRECISION = 0.90
"""Share of reported conflicts that must be right on the labelled pairs."""
MIN_PREDICTED = 20
"""Fewest pairs above a threshold for its precision to mean anything."""
_STRICTEST = 0.999
"""Where a threshold goes that cannot reach its precision: practically nothing passes."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What a threshold gives on the labelled pairs.

    Attributes:
        precision: Share of the pairs above it that are right; 1 if there are none.
        recall: Share of the right pairs that are above it.
        predicted: Number of pairs above it.
    """

    threshold: float
    precision: float
    recall: float
    predicted: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted thresholds and what they reach."""

    thresholds: Thresholds
    auto: Reached
    contradiction: Reached


def calibrate(
    probabilities: NDArray[np.float32],
    vetoed: Sequence[bool],
    labels: Sequence[Label],
    *,
    base: Thresholds,
    auto_precision: float = AUTO_PRECISION,
) -> Calibration:
    """Fit the thresholds that reach the stated precisions with the most recall.

    Args:
        probabilities: float32 [n, 3] of the scorer for the labelled pairs.
        vetoed: For each pair, whether a guard forbids an automatic merge.
        labels: What each pair is.
        base: The scorer's own thresholds; `duplicate`, where doubt begins, is kept from them.
        auto_precision: Wanted share of right automatic merges.

    Raises:
        UsageError: If there are too few labelled duplicates to fit anything.
    """
    import numpy as np

    duplicates = np.array([label is Label.DUPLICATE for label in labels], dtype=bool)
    opposed = np.array([label is Label.CONTRADICTION for label in labels], dtype=bool)
    if duplicates.sum() < MIN_PREDICTED:
        raise UsageError(
            f"Calibration needs at least {MIN_PREDICTED} pairs labelled duplicate and the file has "
            f"{int(duplicates.sum())}; answer more of the pairs that a pass asks about."
        )
    free = ~np.asarray(vetoed, dtype=bool)
    auto = fit_threshold(np.where(free, probabilities[:, DUPLICATE], 0.0), duplicates, auto_precision)
    contradiction = fit_threshold(probabilities[:, CONTRADICTION], opposed, CONTRADICTION_PRECISION)
    fitted = Thresholds(
        auto=auto.threshold,
        duplicate=min(base.duplicate, auto.threshold),
        contradiction=contradiction.threshold,
    )
    return Calibration(fitted, auto, contradiction)


def fit_threshold(scores: NDArray[np.float32], right: NDArray[np.bool_], precision: float) -> Reached:
    """The lowest threshold above which the wanted share of pairs is right.

    Args:
        scores: float32 [n].
        right: bool [n].
        precision: Wanted share.

    Returns:
        Halfway between the last score that counts and the next lower one. If no threshold with
        enough pairs reaches the precision, one that practically nothing passes.
    """
    import numpy as np

    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(right[order])
    share = hits / np.arange(1, len(order) + 1)
    sorted_scores = scores[order]
    ends = np.append(sorted_scores[1:] < sorted_scores[:-1], True) if len(order) else np.array([], dtype=bool)
    reached = np.flatnonzero((share >= precision) & ends & (np.arange(1, len(order) + 1) >= MIN_PREDICTED))
    if not len(reached):
        return Reached(_STRICTEST, 1.0, 0.0, 0)
    last = int(reached[-1])
    below = float(sorted_scores[last + 1]) if last + 1 < len(order) else 0.0
    threshold = (float(sorted_scores[last]) + below) / 2
    return Reached(threshold, float(share[last]), float(hits[last]) / max(1, int(right.sum())), last + 1)


def save_thresholds(directory: Path, scorer: str, thresholds: Thresholds | None) -> None:
    """Keep the thresholds of one scorer in the state directory; None forgets them."""
    held = _held(directory)
    if thresholds is None:
        held.pop(scorer, None)
    else:
        held[scorer] = asdict(thresholds)
    partial = _file(directory).with_suffix(".part")
    partial.write_text(json.dumps(held, indent=2, sort_keys=True), encoding="utf-8")
    partial.replace(_file(directory))


def load_thresholds(directory: Path, scorer: str) -> Thresholds | None:
    """The thresholds a person calibrated for exactly this scorer, if any."""
    limits = _held(directory).get(scorer)
    return None if limits is None else Thresholds(**limits)


def _file(directory: Path) -> Path:
    return directory / "thresholds.json"


def _held(directory: Path) -> dict[str, dict[str, float]]:
    try:
        held: dict[str, dict[str, float]] = json.loads(_file(directory).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise UsageError(
            f"{_file(directory)} is damaged; remove it and run `mem0-dream calibrate` again."
        ) from error
    return held
