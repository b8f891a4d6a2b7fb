"""Training examples of the bundled scorer, and the general NLI pairs of the first stage.

An example carries, for each head, the set of answers that its label allows: a three-way label allows one
answer,
"not entailment" allows two, an unknown answer allows all three and so costs nothing.
"""

from __future__ import annotations

import csv
import gzip
import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

Allowed = tuple[int, int, int]

ANY: Allowed = (1, 1, 1)
ENTAILS: Allowed = (1, 0, 0)
NEUTRAL: Allowed = (0, 1, 0)
CONTRADICTS: Allowed = (0, 0, 1)
NOT_ENTAILED: Allowed = (0, 1, 1)
NOT_CONTRADICTED: Allowed = (1, 1, 0)

DUPLICATE: Allowed = (1, 0, 0)
CONTRADICTION: Allowed = (0, 1, 0)
DISTINCT: Allowed = (0, 0, 1)

NLI_ALLOWED: dict[str, Allowed] = {
    "e": ENTAILS, "n": NEUTRAL, "c": CONTRADICTS, "ne": NOT_ENTAILED, "nc": NOT_CONTRADICTED,
    "dup": ENTAILS, "notdup": NOT_ENTAILED,
}  # fmt: skip

# Captions, template data and noisy sets would drown what resembles memories; at most this many pairs of each.
SOURCE_LIMITS: dict[str, int] = {
    "snli_ni6": 40_000, "wikifactcheck_neg": 3_000, "hans_regen": 3_000, "clcd": 3_000, "help_conj": 3_000,
    "disco_augment": 3_000, "e2e_pairs": 5_000, "wikiresnli": 6_000,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Example:
    """One ordered pair with the answers its label allows; `weight` scales its loss."""

    a: str
    b: str
    entailment: Allowed
    memory: Allowed = ANY
    weight: float = 1.0


def read_nli(path: Path, *, seed: int) -> list[Example]:
    """General NLI pairs from a gzip TSV with the columns kind, label, a, b, source, licence.

    Each source is sampled down to its limit in `SOURCE_LIMITS`. The result is shuffled by `seed`.

    Raises:
        KeyError: a label that is not one of `NLI_ALLOWED`.
    """
    rng = random.Random(seed)  # noqa: S311
    by_source: defaultdict[str, list[Example]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            by_source[row["source"]].append(Example(row["a"], row["b"], NLI_ALLOWED[row["label"]]))
    chosen: list[Example] = []
    for source in sorted(by_source):
        pool = by_source[source]
        rng.shuffle(pool)
        chosen.extend(pool[: SOURCE_LIMITS.get(source, len(pool))])
    rng.shuffle(chosen)
    return chosen


def read_nli_test(path: Path) -> list[Example]:
    """A general NLI test set, gzip TSV with the columns label, a, b; labels e, n and c are kept."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [
            Example(r["a"], r["b"], NLI_ALLOWED[r["label"]]) for r in rows if r["label"] in ("e", "n", "c")
        ]
