"""Words that exclude each other: environments, kinship, parts of the day, sides, colours, opposites.

Each family is a question ("which environment?"), each group one answer with its synonyms. Two texts
conflict in a family when each gives an answer that the other does not give. Words outside the families
are left to the scorer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from ..text.tables import listed, table_lines
from .details import Detail, Expression, Page

_PARENTS, _SIBLINGS, _SPOUSES, _CHILDREN, _UNCLES, _NEPHEWS, _IN_LAWS, _COUSINS, _GRAND = range(9)
_VIEWS = (
    frozenset(listed("mother mum mom mama mummy mommy father dad papa daddy mother' father'")),
    frozenset(("brother", "sister")),
    frozenset(("wife", "husband", "girlfriend", "boyfriend")),
    frozenset(("son", "daughter")),
    frozenset(("uncle", "aunt", "auntie")),
    frozenset(("nephew", "niece")),
    frozenset(("mother-in-law", "father-in-law", "brother-in-law", "sister-in-law")),
    frozenset(("cousin",)),
    frozenset(
        listed(
            """
        grandmother grandma gran nana granny grandfather grandpa granddad grandad
        """
        )
    ),
)
_ONE_RELATIVE = {
    frozenset(pair)
    for pair in (
        (_PARENTS, _CHILDREN),
        (_NEPHEWS, _SIBLINGS),
        (_NEPHEWS, _CHILDREN),
        (_NEPHEWS, _UNCLES),
        (_UNCLES, _PARENTS),
        (_UNCLES, _SIBLINGS),
        (_IN_LAWS, _SPOUSES),
        (_IN_LAWS, _SIBLINGS),
        (_IN_LAWS, _PARENTS),
        (_COUSINS, _UNCLES),
        (_GRAND, _PARENTS),
    )
}


@dataclass(frozen=True, slots=True)
class Trait(Detail):
    """One answer of a family of words that exclude each other."""

    kind: ClassVar[str] = "trait"
    family: str = ""  # the question
    group: int = 0  # number of the answer in the family
    soft: bool = False  # the question is too common in other senses to forbid a merge by itself

    def agrees(self, other: Detail) -> bool:
        """Whether both give the same answer to the same question."""
        return isinstance(other, Trait) and (self.family, self.group) == (other.family, other.group)

    def rivals(self, other: Detail) -> bool:
        """Whether both answer the same question."""
        if not isinstance(other, Trait) or self.family != other.family or self.soft:
            return False
        return self.family != "kinship" or not _same_relative(self.text, other.text)


def _same_relative(left: str, right: str) -> bool:
    """Whether two words of kinship may be two views of one relative: a nephew is a sister's son."""
    generations = [
        next((number for number, line in enumerate(_VIEWS) if word.rstrip("s") in line), -1)
        for word in (left, right)
    ]
    return frozenset(generations) in _ONE_RELATIVE


def _read() -> dict[str, tuple[tuple[str, int, bool], ...]]:
    table: dict[str, list[tuple[str, int, bool]]] = {}
    for line in table_lines("opposites", "families"):
        family, _, groups = line.partition(": ")
        soft = family.startswith("~")
        for number, group in enumerate(groups.split("|")):
            for spelling in group.split(","):
                table.setdefault(spelling.strip(), []).append((family.lstrip("~"), number, soft))
    return {spelling: tuple(answers) for spelling, answers in table.items()}


_TABLE = _read()
_ORDERED = sorted(_TABLE, key=lambda spelling: (-len(spelling), spelling))
_STARRED = tuple(spelling[:-1] for spelling in _ORDERED if spelling.endswith("*"))
_SPELLINGS = "|".join(re.escape(each).replace(r"\*", r"\w*") for each in _ORDERED)
_PATTERN = Expression(rf"(?<![\w-])(?:{_SPELLINGS})(?![\w-])")


def traits(page: Page) -> tuple[Trait, ...]:
    """Read the answers a text gives to the known questions.

    >>> [(each.family, each.text) for each in traits(Page("The staging server opens in the morning"))]
    [('environment', 'staging'), ('open', 'opens'), ('part of day', 'morning')]
    """
    answers: list[Trait] = []
    for match in _PATTERN.all(page.text.lower()):
        spelling = match.group()
        key = spelling if spelling in _TABLE else _starred(spelling)
        answers.extend(Trait(spelling, family, group, soft) for family, group, soft in _TABLE[key])
    return tuple(answers)


def _starred(spelling: str) -> str:
    return next(each for each in _STARRED if spelling.startswith(each)) + "*"
