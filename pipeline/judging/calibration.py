"""Labelled pairs of a person's own memories, and thresholds fitted on them for a stated precision."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ...models.scorer import CONTRADICTION, DUPLICATE, PairInput, Thresholds
from ...models.text.reading import from_json
from ...records import Label, as_utc, rejection_key
from ..plan import Member
from ..stores.files import json_text

FILE_NAME = "thresholds.json"
AUTO_PRECISION = 0.98  # of automatic merges, on the labelled pairs
CONTRADICTION_PRECISION = 0.90  # of reported conflicts
MIN_PREDICTED = 20  # fewest pairs above a threshold for its precision to mean anything
_STRICTEST = 0.999  # where a threshold goes that cannot reach its precision: practically nothing passes


@dataclass(frozen=True, slots=True)
class Reached:
    """What a threshold gives: the share of pairs above it that are right, and the reverse."""

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
    """Fit the thresholds that reach the stated precisions with the most recall; `base` are the scorer's own.

    Takes float32 [n, 3] probabilities of the labelled pairs, whether a guard vetoes each, and what each is.
    UsageError if there are too few labelled duplicates to fit anything.
    """
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
    """The lowest threshold above which the wanted share of pairs is right (scores and right: [n]).

    Halfway between the last score that counts and the next lower one; practically nothing passes where none
    with enough pairs reaches the precision.
    """
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
    file = directory / FILE_NAME
    held: dict[str, Any] = {name: limits for name, limits in _held(file).items() if name != scorer}
    if thresholds is not None:
        held[scorer] = asdict(thresholds)
    partial = file.with_suffix(".part")
    partial.write_text(json.dumps(held, indent=2, sort_keys=True), encoding="utf-8")
    partial.replace(file)


def load_thresholds(directory: Path, scorer: str) -> Thresholds | None:
    """The thresholds a person calibrated for exactly this scorer, if any."""
    limits = _held(directory / FILE_NAME).get(scorer)
    return None if limits is None else Thresholds(**limits)


def _held(file: Path) -> dict[str, dict[str, float]]:
    try:
        held: dict[str, dict[str, float]] = from_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise UsageError(f"{file} is damaged; remove it and run `mem0-dream calibrate` again.") from error
    return held


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A pair as the scorer reads it, its cosine left to compute, and what it is."""

    pair: PairInput
    label: Label


def pair_line(a: Member, b: Member, label: Label, *, category: str | None = None) -> str:
    """One labelled pair as a line of JSON."""
    key = rejection_key(a, b)
    a_date, b_date = (each.stated_at.isoformat() if each.stated_at else None for each in (a, b))
    record = {"id": key[:16], "key": key, "a": a.text, "b": b.text, "category": category}
    record |= {"a_date": a_date, "b_date": b_date, "label": str(label), "kind": "own"}
    return json_text(record) + "\n"


def read_pairs(file: Path) -> tuple[LabelledPair, ...]:
    """Read a file of labelled pairs; raises UsageError if that cannot be done."""
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The pairs in {file} cannot be read: {error}.") from None
    return parse_pairs(lines, source=str(file))


def parse_pairs(lines: Iterable[str], *, source: str) -> tuple[LabelledPair, ...]:
    """Labelled pairs by their lines, each key once, without the unsure; UsageError at any other line."""
    pairs: dict[str, LabelledPair] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = from_json(line)
            texts, dates = [str(record[side]) for side in "ab"], [record.get("a_date"), record.get("b_date")]
            a_date, b_date = (as_utc(datetime.fromisoformat(str(day))) if day else None for day in dates)
            pair = PairInput(texts[0], texts[1], 0.0, record.get("category"), a_date, b_date)
            pairs[str(record.get("key") or number)] = LabelledPair(pair, Label(record["label"]))
        except (KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
            raise UsageError(f"Line {number} of {source} is no labelled pair ({error}).") from None
    return tuple(pair for pair in pairs.values() if pair.label is not Label.UNSURE)
