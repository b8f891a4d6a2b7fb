"""Training pairs of facts in several constructions, and of the same constructions bound otherwise.

A network that only sees exchanges learns to be careful about other orders, not to tell them. Here a
restatement and an exchange carry the same change of surface: passive, converse, cleft, fronting, synonym.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..evaluate.metamorphic import TABLE
from .edits import EXCHANGES
from .examples import TOLD, Example

_TABLE = TABLE["restatements"]
_SMALL_INSIDE = re.compile(_TABLE["small_inside"])


class Relation(NamedTuple):
    """Constructions of one relation; `exchanged` says what it is when {a} and {b} change places."""

    exchanged: str
    pools: tuple[tuple[str, ...], tuple[str, ...]]
    constructions: tuple[str, ...]


Pattern = tuple[re.Pattern[str], tuple[str, ...]]
"""What a text may look like, and forms of its parts that say the same."""


def read_restatements(path: Path) -> tuple[list[Relation], list[Pattern]]:
    """Relations and patterns of a text file, whose comments say how it is written; else a ValueError."""
    pools: dict[str, tuple[str, ...]] = {"-": ()}
    relations, patterns = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        head, _, rest = line.partition(": ")
        if line.startswith("@"):
            pools[head[1:]] = tuple(rest.split("; "))
        elif line.startswith("/ "):
            pattern, _, forms = line[2:].partition(" => ")
            for short, long in _TABLE["shorthands"].items():
                pattern = pattern.replace(short, long)
            patterns.append((re.compile(pattern), tuple(forms.split(" | "))))
        elif not line.startswith("#"):
            label, *names = head.split()
            if label not in TOLD or len(names) != 2 or not set(names) <= pools.keys():
                raise ValueError(f"not a line of restatements: {line!r}")
            relations.append(Relation(label, (pools[names[0]], pools[names[1]]), tuple(rest.split(" | "))))
    return relations, patterns


def constructed_pairs(relations: Sequence[Relation], *, seed: int, count: int) -> Iterator[Example]:
    """`count` pairs: half say the same in two constructions, most others exchange {a} and {b}.

    One in eight fills the slots otherwise, or says something else of the same two.
    """
    rng = random.Random(seed)  # noqa: S311
    for _ in range(count):
        relation, told = rng.choice(relations), rng.choice(("same",) * 4 + ("exchanged",) * 3 + ("other",))
        filled = _filled(relation, rng)
        first, second = rng.sample(relation.constructions, 2)
        if told == "exchanged":
            second = rng.choice((first, second, second))
            other = filled | {"a": filled["b"], "b": filled["a"]}
        elif told == "other" and rng.random() < 0.5:
            alike = [one for one in relations if one.pools == relation.pools and one is not relation]
            second = rng.choice((rng.choice(alike) if alike else relation).constructions)
            told, other = ("other", filled) if alike else ("same", filled)
        else:
            slot = rng.choice([name for name, value in filled.items() if value])
            pool = relation.pools[slot not in "ab"]
            free = [value for value in pool if value not in filled.values()]
            told = told if free else "same"
            other = filled | ({slot: rng.choice(free)} if told == "other" else {})
        label = relation.exchanged if told == "exchanged" else told
        yield Example(_told(first, filled, rng), _told(second, other, rng), *TOLD[label])


def _filled(relation: Relation, rng: random.Random) -> dict[str, str]:
    filled: dict[str, str] = {}
    for pool, slots in zip(relation.pools, ("ab", "xy"), strict=True):
        for slot in slots:
            free = [value for value in pool if value not in filled.values()]
            filled[slot] = rng.choice(free) if free else ""
    return filled


def _told(construction: str, filled: dict[str, str], rng: random.Random) -> str:
    """The construction filled and framed; "user" takes its article except where it opens the text."""
    text = construction.format(**filled)
    text = re.sub(r"(?<!^)\buser\b", "the user", text)
    if text.startswith("user") and rng.random() < 0.3:
        text = "the " + text
    first = text[0].upper() + text[1:]
    end = rng.choice((".", ".", ""))
    lowered = text if not text.startswith("user") else "the " + text
    return str(rng.choice(_TABLE["frames"])).format(first + end, lowered + end)


def restated(text: str, patterns: Sequence[Pattern], rng: random.Random) -> str | None:
    """The text in another construction that says the same, None where no pattern fits."""
    found = [(match, forms) for fits, forms in patterns if (match := fits.match(text))]
    if not found or "respectively" in text:
        return None
    match, forms = rng.choice(found)
    parts = match.groupdict()
    parts["bare"] = re.sub(r"^an? ", "", parts.get("what") or "")
    for name, value in list(parts.items()):
        parts[name[0].upper() + name[1:]] = value[:1].upper() + value[1:]
        parts["l" + name] = _lowered(value)
    return rng.choice(forms).format(**parts)


def _lowered(text: str) -> str:
    """The text inside a sentence: "the user" for an opening User, small initials of what is no name."""
    if text.startswith(("User ", "User's")) or text == "User":
        return "the user" + text[4:]
    return text[0].lower() + text[1:] if _SMALL_INSIDE.match(text) else text


def restated_pairs(
    groups: Sequence[Sequence[str]], patterns: Sequence[Pattern], *, seed: int, count: int
) -> Iterator[Example]:
    """`count` texts beside their restatement, and beside that of the text with two details exchanged, if any.

    `groups` are wordings of one fact each.
    """
    rng = random.Random(seed)  # noqa: S311
    texts = [text for group in groups for text in group]
    for text in rng.sample(texts, len(texts)):
        new = restated(text, patterns, rng) if count > 0 else None
        if new is None:
            continue
        count -= 1
        edits = rng.sample(EXCHANGES, len(EXCHANGES))
        other = next((found for edit in edits if (found := edit(text, rng))), None)
        exchanged = other and restated(other, patterns, rng)
        for changed, told in ((new, "same"), (exchanged, "other")):
            if changed is not None:
                a, b = (text, changed) if rng.random() < 0.5 else (changed, text)
                yield Example(a, b, *TOLD[told])
