"""The one text of an entity: its name, then its observations as a list; and back without loss.

    Strict mode
    - Turn on strict mode in new projects
    - Applied in shop - HELPFUL (2026-10-02)

A line break inside an observation becomes a continuation line, indented by two spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ....records import text_hash

if TYPE_CHECKING:
    from ...actions import Action

RELATIONS = "relations"
"""Part of an entity that holds its outgoing relations."""

BROKEN_LINES = "::broken lines"
"""Id of all unreadable lines of a graph, which are moved away and brought back together."""

_ITEM = "- "
_MORE = "\n  "
_PART = "::"
_HASH_LENGTH = 12
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+|[^\W\d_]+")


def entity_text(name: str, observations: Iterable[str]) -> str:
    r"""The text of an entity.

    >>> entity_text("Rex", ["is a dog", "barks\nat night"])
    'Rex\n- is a dog\n- barks\n  at night'
    """
    return "\n".join([_inner(name), *(_ITEM + _inner(item) for item in observations)])


def parse_entity_text(text: str) -> tuple[str, tuple[str, ...]]:
    """Name and observations of a text that `entity_text` wrote.

    Raises:
        ValueError: If it has another form.
    """
    items: list[str] = []
    for number, line in enumerate(text.split("\n")):
        if number == 0:
            items.append(line)
        elif line.startswith(_ITEM):
            items.append(line.removeprefix(_ITEM))
        elif line.startswith(_MORE[1:]):
            items[-1] += "\n" + line.removeprefix(_MORE[1:])
        else:
            raise ValueError("the text of an entity is its name and a list of observations")
    return items[0], tuple(items[1:])


def relations_text(relations: Iterable[tuple[str, str]]) -> str:
    """The text of the outgoing relations of an entity: one (type, target) in each item, sorted."""
    return "\n".join(_ITEM + _inner(kind) + "\n-> " + _inner(target) for kind, target in sorted(relations))


def parse_relations_text(text: str) -> tuple[tuple[str, str], ...]:
    """Relation types and targets of a text that `relations_text` wrote.

    Raises:
        ValueError: If it has another form.
    """
    parts: list[list[str]] = []
    for line in text.split("\n") if text else []:
        if line.startswith(_ITEM):
            parts.append([line.removeprefix(_ITEM)])
        elif line.startswith("-> ") and parts and len(parts[-1]) == 1:
            parts[-1].append(line.removeprefix("-> "))
        elif line.startswith(_MORE[1:]) and parts:
            parts[-1][-1] += "\n" + line.removeprefix(_MORE[1:])
        else:
            raise ValueError("the text of relations is a list of types, each with its target")
    if any(len(part) != 2 for part in parts):
        raise ValueError("a relation has no target")
    return tuple((part[0], part[1]) for part in parts)


def part_id(name: str, part: str) -> str:
    """Id of a part of an entity: one observation, or its relations."""
    return f"{name}{_PART}{part}"


def split_part(memory_id: str) -> tuple[str, str] | None:
    """Entity and part of an id; None if it names no part."""
    name, separator, part = memory_id.rpartition(_PART)
    return (name, part) if separator and (part == RELATIONS or _is_hash(part)) else None


def owner_of(action: Action) -> str:
    """The entity that all ids of an action name a part of; empty if there is none."""
    parts = {(split_part(member.id) or ("", ""))[0] for member in action.members}
    return parts.pop() if len(parts) == 1 else ""


def of_observations(action: Action) -> bool:
    """Whether an action is about several observations of one entity instead of whole entities."""
    return len(action.members) > 1 and bool(owner_of(action))


def observation_key(observation: str) -> str:
    """Short name of an observation inside its entity."""
    return text_hash(observation)[:_HASH_LENGTH]


def parts_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case.

    >>> parts_of("SSOProvider_v2"), parts_of("data service")
    (('sso', 'provider', 'v', '2'), ('data', 'service'))
    """
    return tuple(part.casefold() for part in _PARTS.findall(name))


def words_of(name: str) -> str:
    """A name as words: separators become spaces, and camel case is taken apart.

    >>> words_of("react_useEffect-cleanup")
    'react use Effect cleanup'
    """
    spaced = "".join(
        f" {char}" if char.isupper() and before.islower() else char
        for before, char in zip(" " + name, name, strict=False)
    )
    return " ".join("".join(" " if char in "_-/.:" else char for char in spaced).split())


def statement(name: str, observations: Sequence[str]) -> str:
    """What an entity says, in sentences, as it is embedded and judged."""
    ended = [
        item if item.rstrip().endswith((".", "!", "?")) else f"{item.rstrip()}." for item in observations
    ]
    return " ".join([f"{words_of(name)}:", *(" ".join(item.split()) for item in ended)])


def _inner(text: str) -> str:
    return text.replace("\n", _MORE)


def _is_hash(part: str) -> bool:
    return len(part) == _HASH_LENGTH and all(char in "0123456789abcdef" for char in part)
