"""Labelled pairs of a person's own memories, as `calibrate` and the evaluation read them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ...errors import UsageError
from ...models.scorer import PairInput
from ...records import Label, rejection_key
from ..actions import Member


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A pair as the scorer reads it, its cosine left to compute, and what it is."""

    pair: PairInput
    label: Label


def pair_line(a: Member, b: Member, label: Label, *, category: str | None = None) -> str:
    """One labelled pair as a line of JSON."""
    key = rejection_key(a, b)
    record = {
        "id": key[:16],
        "key": key,
        "a": a.text,
        "b": b.text,
        "category": category,
        "a_date": a.stated_at.isoformat() if a.stated_at else None,
        "b_date": b.stated_at.isoformat() if b.stated_at else None,
        "label": str(label),
        "kind": "own",
    }
    return json.dumps(record, ensure_ascii=False) + "\n"


def read_pairs(file: Path) -> tuple[LabelledPair, ...]:
    """Read a file of labelled pairs.

    Raises:
        UsageError: If the file cannot be read, or a line is no labelled pair.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The pairs in {file} cannot be read: {error}.") from None
    return parse_pairs(lines, source=str(file))


def parse_pairs(lines: Iterable[str], *, source: str) -> tuple[LabelledPair, ...]:
    """Labelled pairs by their lines, each key once, the last line first; those labelled unsure are left out.

    Raises:
        UsageError: If a line is no labelled pair.
    """
    pairs: dict[str, LabelledPair] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            pair = PairInput(
                a=str(record["a"]),
                b=str(record["b"]),
                cosine=0.0,
                category=record.get("category"),
                a_date=_moment(record.get("a_date")),
                b_date=_moment(record.get("b_date")),
            )
            pairs[str(record.get("key") or number)] = LabelledPair(pair, Label(record["label"]))
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise UsageError(f"Line {number} of {source} is no labelled pair ({error}).") from None
    return tuple(pair for pair in pairs.values() if pair.label is not Label.UNSURE)


def _moment(text: object) -> datetime | None:
    if not text:
        return None
    moment = datetime.fromisoformat(str(text))
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
