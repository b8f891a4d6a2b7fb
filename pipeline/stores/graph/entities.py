"""An entity as a memory: its id, the one text that is shown and hashed, and what it says of its own use.

    Strict mode
    - Turn on strict mode in new projects
    - Applied in shop - HELPFUL (2026-10-02)

What an entity says is a list, and goes as a list through memories, plans and changes. Only a text that a
person has edited is read back. Of its use are understood "Researched: DATE", "Discovered: DATE", "Last used:
DATE", "Applied in PROJECT - HELPFUL" and "NOT HELPFUL" (with a date anywhere in the line), "Used N times",
"Promoted to core memory: DATE", "Merged from: ...", and "critical: true" in a field or line. A date in any
other line, such as "Created: ..." or "in use since 2021", is content and does not count as age.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ....models.text.tables import expression
from ....records import Memory, noted_moment, says_pinned, text_hash

RELATIONS = "relations"  # part of an entity that holds its outgoing relations
BROKEN_LINES = "::broken lines"  # id of all unreadable lines of a graph, moved away and brought back together
TYPES = ("pattern", "mistake", "tech-insight", "research", "preference", "competitor", "design", "stack")
"""Types that a graph's table always shows, in this order."""
SENTENCE_TYPES = ("pattern", "mistake", "tech-insight", "preference", "design", "research")
"""Types whose names are labels of what is said, and not what it is said about."""
LEARNINGS = tuple(kind for kind in TYPES if kind != "preference")  # an unattended run may forget these
PROMOTED_MARK, MERGED_MARK = "Promoted to core memory: ", "Merged from: "
_ITEM, _MORE, _PART = "- ", "\n  ", "::"
_LONGEST = 10_000  # characters of an observation that may be about the memory itself
_LONGEST_SAID = 1_000_000  # more is left alone anyway
_HASH = re.compile(r"[0-9a-f]{12}")
_WORDS = re.compile(r"[A-Z]{1,100}(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+|[^\W\d_]+")
_DATE = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
_ALSO = re.compile(r"^Also applied: (\d{1,6}) times, (\d{1,6}) helpful, (\d{1,6}) not helpful$")
_HELPFUL, _UNHELPFUL, _CRITICAL = (expression("graph", key) for key in ("helpful", "unhelpful", "critical"))
_BORN, _APPLIED, _LAST_USED = (expression("graph", key) for key in ("born", "applied", "last_used"))
_COUNT, _EFFECTIVENESS = expression("graph", "count"), expression("graph", "effectiveness")
_PROMOTED, _BOOKKEEPING = expression("graph", "promoted"), expression("graph", "bookkeeping")


def entity_text(name: str, observations: Iterable[str]) -> str:
    r"""The text of an entity; no two entities have the same.

    >>> entity_text("Rex", ["is a dog", "barks\nat night"])
    'Rex\n- is a dog\n- barks\n  at night'
    """
    return "\n".join([_inner(name), *(_ITEM + _inner(item) for item in observations)])


def edited_observations(name: str, text: str) -> list[str]:
    """The observations in a text that a person edited; `ValueError` if it is no list under that name."""
    head = _inner(name)
    if not f"{text}\n".startswith(f"{head}\n"):
        raise ValueError("the name of an entity stays as it is")
    items: list[str] = []
    for line in text[len(head) + 1 :].split("\n") if text != head else ():
        if line.startswith(_ITEM):
            items.append(line.removeprefix(_ITEM))
        elif line.startswith(_MORE[1:]) and items:
            items[-1] += "\n" + line.removeprefix(_MORE[1:])
        else:
            raise ValueError("the text of an entity is its name and a list of observations")
    return items


def relations_text(relations: Iterable[Sequence[str]]) -> str:
    """The text of the outgoing relations of an entity: one (type, target) in each item, sorted."""
    rows = sorted((kind, target) for kind, target in relations)
    return "\n".join(f"{_ITEM}{_inner(kind)}\n-> {_inner(target)}" for kind, target in rows)


def _inner(text: str) -> str:
    return text.replace("\n", _MORE)


def part_id(name: str, part: str) -> str:
    """Id of a part of an entity: one observation, or its relations."""
    return f"{name}{_PART}{part}"


def split_part(memory_id: str) -> tuple[str, str] | None:
    """Entity and part of an id; None if it names no part."""
    name, separator, part = memory_id.rpartition(_PART)
    return (name, part) if separator and (part == RELATIONS or _HASH.fullmatch(part)) else None


def owner_of(memory_id: str) -> str:
    """The entity that an id, or the id of a part, belongs to."""
    return (split_part(memory_id) or (memory_id, ""))[0]


def observation_key(observation: str) -> str:
    """Short name of an observation inside its entity."""
    return text_hash(observation)[:12]


def parts_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case."""
    return tuple(part.casefold() for part in _WORDS.findall(name))


def words_of(name: str) -> str:
    """A name as words: separators become spaces, and camel case is taken apart."""
    spaced = "".join(
        f" {char}" if char.isupper() and before.islower() else char
        for before, char in zip(" " + name, name, strict=False)
    )
    return " ".join(re.sub(r"[-_/.:]", " ", spaced).split())


def statement(name: str, observations: Sequence[str]) -> str:
    """What an entity says, in sentences, as it is embedded and judged."""
    said = [(item, item.rstrip()) for item in (each[:_LONGEST_SAID] for each in observations)]
    ended = [item if bare.endswith((".", "!", "?")) else f"{bare}." for item, bare in said]
    return " ".join([f"{words_of(name)}:", *(" ".join(item.split()) for item in ended)])


@dataclass(frozen=True, slots=True)
class Usage:
    """What is known about the use of one memory."""

    uses: int = 0
    helpful: int = 0
    unhelpful: int = 0
    discovered: datetime | None = None  # when it was learned
    last_used: datetime | None = None
    promoted: bool = False  # it is in the core memory already
    critical: bool = False  # it may never be forgotten
    # An effectiveness that is written down, for a memory whose uses carry no verdict.
    stated: float | None = None

    @property
    def effectiveness(self) -> float | None:
        """Share of judged uses that helped; None if no use was judged."""
        judged = self.helpful + self.unhelpful
        return self.helpful / judged if judged else self.stated

    def age_days(self, now: datetime) -> int | None:
        """Full days since it was learned; None if unknown or in the future."""
        return _days(self.discovered, now)

    def unused_days(self, now: datetime) -> int | None:
        """Full days since it was used, or learned if it never was; None if neither is known."""
        return _days(max((each for each in (self.last_used, self.discovered) if each), default=None), now)


def usage(observations: Iterable[str], fields: Mapping[str, Any] | None = None) -> Usage:
    """Read the use of a memory from its observations, and from fields of its line such as `critical`."""
    told = [text.strip() for text in observations]
    lines = [text for text in told if len(text) <= _LONGEST]
    applied = [text for text in lines if _APPLIED.match(text)]
    also = [[int(figure) for figure in match.groups()] for text in lines if (match := _ALSO.match(text))]
    bad = sum(bool(_UNHELPFUL.search(text)) for text in applied)
    good = sum(bool(_HELPFUL.search(text)) and not _UNHELPFUL.search(text) for text in applied)
    counted = [int(match[1]) for text in lines if (match := _COUNT.match(text))]
    used = [day for text in lines if _APPLIED.match(text) or _LAST_USED.match(text) for day in _dates(text)]
    flagged = any((fields or {}).get(name) in (True, "true", "yes") for name in ("critical", "pinned"))
    return Usage(
        uses=max([len(applied) + sum(row[0] for row in also), *counted]),
        helpful=good + sum(row[1] for row in also),
        unhelpful=bad + sum(row[2] for row in also),
        discovered=min((day for text in lines if _BORN.match(text) for day in _dates(text)), default=None),
        last_used=max(used, default=None),
        promoted=any(_PROMOTED.match(text) for text in lines),
        critical=flagged or any(_CRITICAL.search(text[:_LONGEST]) or says_pinned(text) for text in told),
        stated=next((share for text in lines if (share := _stated(text)) is not None), None),
    )


def is_bookkeeping(observation: str) -> bool:
    """Whether an observation is about the memory itself, and no part of what it says."""
    text = observation.strip()
    return len(text) <= _LONGEST and any(
        form.match(text) for form in (_BOOKKEEPING, _BORN, _APPLIED, _LAST_USED, _COUNT)
    )


def content(observations: Iterable[str]) -> tuple[str, ...]:
    """The observations that say something."""
    return tuple(text for text in observations if not is_bookkeeping(text))


def combined(observations: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """The lines about use of several memories; equal ones are counted instead of lost."""
    kept: dict[str, None] = {}
    also = [0, 0, 0]
    for text in (text for each in observations for text in each if is_bookkeeping(text)):
        if earlier := _ALSO.match(text.strip()):
            also = [mine + int(theirs) for mine, theirs in zip(also, earlier.groups(), strict=True)]
        elif text in kept and _APPLIED.match(text.strip()):
            one = usage([text])
            also = [also[0] + 1, also[1] + one.helpful, also[2] + one.unhelpful]
        kept.setdefault(text)
    lines = [text for text in kept if not _ALSO.match(text.strip())]
    more = "Also applied: {} times, {} helpful, {} not helpful".format(*also)
    return (*lines, *([more] if any(also) else []))


def _dates(text: str) -> list[datetime]:
    """All ISO dates in a text that exist, as the beginning of that day in UTC."""
    found = map(noted_moment, _DATE.findall(text))
    return [day for day in found if day is not None]


def _stated(text: str) -> float | None:
    if not (match := _EFFECTIVENESS.match(text)):
        return None
    value = float(match[1]) / (100 if match[2] or float(match[1]) > 1 else 1)
    return value if 0 <= value <= 1 else None


def _days(moment: datetime | None, now: datetime) -> int | None:
    return None if moment is None or moment > now else (now - moment).days


@dataclass(frozen=True, slots=True)
class Node:
    """One entity, as the stages of a pass see it."""

    memory: Memory
    observations: tuple[str, ...]
    content: tuple[str, ...]  # the observations that say something
    usage: Usage  # what the others tell
    statement: str  # the content in sentences

    @classmethod
    def of(cls, memory: Memory) -> Node:
        """The entity in a memory."""
        observations = tuple(memory.metadata["observations"])
        said = content(observations)
        used = usage(observations, memory.metadata.get("fields"))
        return cls(memory, observations, said, used, statement(memory.id, said))

    @property
    def id(self) -> str:
        """Its name."""
        return self.memory.id

    @property
    def type(self) -> str:
        """Its entity type."""
        return self.memory.category or ""

    @property
    def labelled(self) -> bool:
        """Whether its name is a label of what it says, so that it tells nothing about the subject."""
        return is_label(self.type)

    @property
    def bare_name(self) -> str:
        """Its name without its type in front: in "pattern:early-returns" the first word says nothing."""
        kind, separator, bare = self.id.partition(":")
        typed = kind.strip().casefold() in {*TYPES, self.type.casefold()}
        return bare if separator and typed and bare.strip() else self.id

    @property
    def parts(self) -> list[Memory]:
        """The observations that say something, each as a memory of its own."""
        whole = replace(self.memory, created_at=None, accessed_at=None, metadata={})
        return [
            replace(whole, id=part_id(self.id, observation_key(text)), text=text)
            for text in dict.fromkeys(self.content)
        ]


def is_label(kind: str | None) -> bool:
    """Whether names of this type are labels of what is said."""
    return (kind or "").casefold() in SENTENCE_TYPES


def nodes_of(memories: Iterable[Memory]) -> tuple[Node, ...]:
    """All memories as entities, sorted by name; of another store's record the text is all there is."""
    return tuple(
        Node.of(memory)
        if "observations" in memory.metadata
        else Node(memory, (), (memory.text,), usage(()), memory.text)
        for memory in sorted(memories, key=lambda memory: memory.id)
    )
