"""Labelled pairs of a person's own memories: which to ask about, and how they are kept.

The most informative pairs are those nearest to a decision, and of those no two about the same
memory until all memories had their turn.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ...models.scorer import CONTRADICTION, DUPLICATE, PairInput, Thresholds
from ...records import Label, Memory, Verdict, rejection_key

LABELS = {"d": Label.DUPLICATE, "c": Label.CONTRADICTION, "n": Label.DISTINCT, "u": Label.UNSURE}
"""The keys a person presses."""


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One line of a file of labelled pairs.

    Attributes:
        pair: What the scorer reads; its cosine is computed when it is used.
        label: What the pair is.
    """

    pair: PairInput
    label: Label


def most_informative(
    verdicts: Iterable[Verdict],
    *,
    thresholds: Thresholds,
    done: frozenset[str],
    memories: Mapping[str, Memory],
) -> list[Verdict]:
    """Order pairs by how near they are to a decision, spreading them over the memories.

    Args:
        verdicts: The scorer's verdicts.
        thresholds: Those they were made with.
        done: Keys of the pairs that are labelled already.
        memories: By id.
    """
    open_pairs = [v for v in verdicts if not v.pair.exact and _key(v, memories) not in done]
    nearest = sorted(open_pairs, key=lambda v: (_margin(v, thresholds), v.pair.a, v.pair.b))
    asked: Counter[str] = Counter()
    turns: list[tuple[int, int, Verdict]] = []
    for place, verdict in enumerate(nearest):
        turn = max(asked[verdict.pair.a], asked[verdict.pair.b])
        asked.update((verdict.pair.a, verdict.pair.b))
        turns.append((turn, place, verdict))
    return [verdict for _, _, verdict in sorted(turns, key=lambda item: item[:2])]


def _margin(verdict: Verdict, thresholds: Thresholds) -> float:
    duplicate, contradiction = verdict.probabilities[DUPLICATE], verdict.probabilities[CONTRADICTION]
    return min(
        abs(duplicate - thresholds.auto),
        abs(duplicate - thresholds.duplicate),
        abs(contradiction - thresholds.contradiction),
    )


def _key(verdict: Verdict, memories: Mapping[str, Memory]) -> str:
    return rejection_key(memories[verdict.pair.a], memories[verdict.pair.b])


def pair_line(a: Memory, b: Memory, label: Label) -> str:
    """One labelled pair as a line of JSON, in the form `calibrate` and the evaluation read."""
    record = {
        "id": rejection_key(a, b)[:16],
        "key": rejection_key(a, b),
        "a": a.text,
        "b": b.text,
        "category": a.category,
        "a_date": a.stated_at.isoformat() if a.stated_at else None,
        "b_date": b.stated_at.isoformat() if b.stated_at else None,
        "label": str(label),
        "kind": "own",
    }
    return json.dumps(record, ensure_ascii=False) + "\n"


def labelled_keys(file: Path) -> frozenset[str]:
    """Keys of the pairs that a file holds already; an absent file holds none."""
    if not file.exists():
        return frozenset()
    return frozenset(str(record.get("key")) for record in _records(file))


def read_pairs(file: Path) -> tuple[LabelledPair, ...]:
    """Read labelled pairs; those labelled unsure are left out.

    Raises:
        UsageError: If the file cannot be read, or a line is no labelled pair.
    """
    pairs = []
    for number, record in enumerate(_records(file), 1):
        try:
            label = Label(record["label"])
            pair = PairInput(
                a=str(record["a"]),
                b=str(record["b"]),
                cosine=0.0,
                category=record.get("category"),
                a_date=_moment(record.get("a_date")),
                b_date=_moment(record.get("b_date")),
            )
        except (KeyError, ValueError) as error:
            raise UsageError(f"Pair {number} of {file} is no labelled pair ({error}).") from None
        if label is not Label.UNSURE:
            pairs.append(LabelledPair(pair, label))
    return tuple(pairs)


def _records(file: Path) -> Sequence[dict[str, Any]]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The pairs in {file} cannot be read: {error}.") from None
    records = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise UsageError(f"Line {number} of {file} is no JSON ({error.msg}).") from None
        if not isinstance(record, dict):
            raise UsageError(f"Line {number} of {file} is no JSON object.")
        records.append(record)
    return records


def _moment(text: object) -> datetime | None:
    if not text:
        return None
    moment = datetime.fromisoformat(str(text))
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
