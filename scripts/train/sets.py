"""Sets of texts around one fact, one a line of a .tsv file: restatements, near misses, updates, look-alikes.

What the columns of a folder are, and which pairs of them are certain, stands in `training.toml` under `sets`.
One set in `KEPT` stays out of training, by the sum of its first text: the same one in every run.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from zlib import crc32

from .examples import TABLE, Example, both_orders

KEPT = 12
FOLDERS: tuple[str, ...] = tuple(TABLE["sets"])
Texts = dict[str, str]
"""The texts of a set by the names of their columns; `labels` holds letters for the columns that need them."""


def kept_out(fact: str) -> bool:
    """Whether the set that begins with this text is kept for testing."""
    return crc32(fact.encode()) % KEPT == 0


def read_sets(folder: Path) -> tuple[list[Texts], list[Texts]]:
    """The sets of a folder to train on, and those kept; ValueError if a line has other columns."""
    files = (path.read_text(encoding="utf-8").splitlines() for path in sorted(folder.glob("*.tsv")))
    both = list[Texts](), list[Texts]()
    for line in chain.from_iterable(files):
        both[kept_out(line.partition("\t")[0])].append(as_set(line, folder.name))
    return both


def as_set(line: str, folder: str) -> Texts:
    """A line of a file by the names of its columns; ValueError if it has others."""
    return dict(zip(TABLE["sets"][folder]["columns"], line.split("\t"), strict=True))


def relations_of(one: Texts, folder: str) -> Iterator[tuple[str, str, str, str]]:
    """The certain pairs of a set: text, other text, the other's column, and how the first stands to it.

    A relation is a row of `relations` in `training.toml`; `labels` stands for what the letter of the other
    column says: `c` contradicts, `d` may do so or be another fact.
    """
    lettered: Sequence[str] = TABLE["sets"][folder].get("lettered", ())
    said = dict(zip(lettered, one.get("labels", ""), strict=True))
    for lefts, rights, relation in TABLE["sets"][folder]["pairs"]:
        for left, right in ((a, b) for a in lefts.split() for b in rights.split()):
            by_letter = {"c": "contradiction", "d": "other"}.get(said.get(right, ""), relation)
            yield one[left], one[right], right, by_letter if relation == "labels" else relation


def wordings(family: Texts) -> list[str]:
    """The texts of a family that state its fact and no more."""
    return [family[name] for name in ("fact", "same1", "same2", "same3")]


def set_examples(sets: Sequence[Texts], folder: str) -> list[Example]:
    """The certain pairs of the sets in both orders; a pair of equal texts says nothing and is left out."""
    return [
        example
        for one in sets
        for a, b, _, relation in relations_of(one, folder)
        if a != b
        for example in both_orders(a, b, relation)
    ]
