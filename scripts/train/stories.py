"""Pairs of memories about one invented user, as several memory writers would have kept them.

A story is a handful of facts about one person, each in several wordings, some of them overtaken by a later
state. Two memories are drawn from the same story: what one contains of the other decides the label. The
writers differ in what they call the user and in whether they write sentences, joined clauses or fragments.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from .examples import Example, Relation, both_orders

PAIRS_PER_STORY = 80
MOST_FACTS = 4
_WORDS = {"he": ("his", "him", "himself"), "she": ("her", "her", "herself")}
_BEFORE_OBJECTS = "about|by|for|from|of|to|with"
_TAIL = " (importance: high)"


class Fact(NamedTuple):
    """One fact in three wordings, the last a fragment without subject, and the later state if any."""

    wordings: tuple[str, ...]
    later: tuple[str, ...] = ()


class Story(NamedTuple):
    """A person with facts; `pronoun` is he or she."""

    name: str
    pronoun: str
    facts: tuple[Fact, ...]


def read_stories(path: Path) -> list[Story]:
    """Stories of a text file: `# name | pronoun`, `- wording | wording | fragment`, `> later | fragment`.

    A line that is none of these is a ValueError.
    """
    stories: list[tuple[str, str, list[Fact]]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        parts = tuple(part.strip() for part in line[1:].split("|"))
        if line.startswith("#"):
            stories.append((parts[0], parts[1], []))
        elif line.startswith("-"):
            stories[-1][2].append(Fact(parts))
        elif line.startswith(">"):
            stories[-1][2][-1] = stories[-1][2][-1]._replace(later=parts)
        elif line.strip():
            raise ValueError(f"not a story line: {line!r}")
    return [Story(name, pronoun, tuple(facts)) for name, pronoun, facts in stories]


def story_pairs(stories: Sequence[Story], *, seed: int) -> Iterator[Example]:
    """`PAIRS_PER_STORY` pairs of each story, both orders."""
    rng = random.Random(seed)  # noqa: S311
    for story in stories:
        for _ in range(PAIRS_PER_STORY):
            a, b, relation = _draw(story, rng)
            yield from both_orders(a, b, relation)


def _draw(story: Story, rng: random.Random) -> tuple[str, str, Relation]:
    later = [rng.random() < 0.4 and bool(fact.later) for fact in story.facts]
    relation = rng.choice(("part", "part", "equal", "overlap", "overlap", "apart", "contradiction"))
    rng.shuffle(indices := list(range(len(story.facts))))
    before, after = list(later), list(later)
    told: Relation = "distinct"
    if relation == "contradiction":
        changed = rng.choice([i for i, fact in enumerate(story.facts) if fact.later])
        rest = [i for i in indices if i != changed]
        left, right = rng.randint(0, 2), rng.randint(0, 2)
        start = rng.choice((0, left))
        before[changed], after[changed] = False, True
        a, b, told = [changed, *rest[:left]], [changed, *rest[start : start + right]], "contradiction"
    elif relation == "equal":
        a = b = indices[: rng.randint(1, 3)]
        told = "equal"
    elif relation == "part":
        size = rng.randint(2, MOST_FACTS)
        a, b, told = indices[:size], indices[: rng.randint(1, size - 1)], "a_has_more"
    else:
        shared = rng.randint(1, 2) if relation == "overlap" else 0
        left, right = rng.randint(1, 2), rng.randint(1, 2)
        a = indices[: shared + left]
        b = [*indices[:shared], *indices[shared + left : shared + left + right]]
    return render(story, a, before, rng), render(story, b, after, rng), told


def render(story: Story, facts: Sequence[int], later: Sequence[bool], rng: random.Random) -> str:
    """One memory that states the given facts, in the manner of a randomly drawn writer."""
    order = list(facts)
    rng.shuffle(order)
    states = [story.facts[i].later if later[i] else story.facts[i].wordings for i in order]
    if rng.random() < (0.45 if len(order) == 1 else 0.12):
        return rng.choice((". ", "; ", ", ")).join(state[-1] for state in states)
    subject = rng.choice((story.name, story.name, "User", "User", "The user"))
    clauses = [rng.choice(state[:-1]) for state in states]
    text = " ".join(_sentences(clauses, subject, story.pronoun, rng))
    return text + _TAIL if rng.random() < 0.04 else text


def _sentences(clauses: Sequence[str], subject: str, pronoun: str, rng: random.Random) -> Iterator[str]:
    at = 0
    while at < len(clauses):
        clause = clauses[at]
        opens = clause.startswith("@")
        named = pronoun if opens and at > 0 and rng.random() < 0.7 else subject
        if not opens and named == "The user":
            named = "the user"
        if at + 1 < len(clauses) and rng.random() < 0.45:
            following = clauses[at + 1]
            same = clause.startswith("@ ") and following.startswith("@ ")
            clause += " and " + (following[2:] if same else following.replace("@", "\0"))
            at += 1
        at += 1
        text = _name(_name(clause, named, pronoun, "@"), pronoun, pronoun, "\0")
        yield text[0].upper() + text[1:] + "."


def _name(text: str, subject: str, pronoun: str, mark: str) -> str:
    own, objective, reflexive = _WORDS[pronoun]
    possessive = own if subject == pronoun else f"{subject}'s"
    if subject == pronoun:
        at = re.escape(mark)
        text = re.sub(rf"\b({_BEFORE_OBJECTS}) {at}(?!['\w])", rf"\1 {objective}", text)
        text = re.sub(rf"(?<!says)(?<!,) {at}$", f" {objective}", text)
    text = text.replace(f"{mark}'s", possessive).replace(mark, subject)
    return text.replace("%s", own).replace("%o", objective).replace("%r", reflexive)
