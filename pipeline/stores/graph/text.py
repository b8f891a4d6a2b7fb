"""Names and ids of a graph, and the one text under which an entity is shown, hashed and compared.

    Strict mode
    - Turn on strict mode in new projects
    - Applied in shop - HELPFUL (2026-10-02)

What an entity says is a list, and goes as a list through memories, plans and changes. Only a text that a
person has edited is read back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ....records import text_hash

RELATIONS = "relations"
"""Part of an entity that holds its outgoing relations."""

BROKEN_LINES = "::broken lines"
"""Id of all unreadable lines of a graph, which are moved away and brought back together."""

_ITEM, _MORE, _PART = "- ", "\n  ", "::"
_HASH = re.compile(r"[0-9a-f]{12}")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+|[^\W\d_]+")


def entity_text(name: str, observations: Iterable[str]) -> str:
    r"""The text of an entity; no two entities have the same.

    >>> entity_text("Rex", ["is a dog", "barks\nat night"])
    'Rex\n- is a dog\n- barks\n  at night'
    """
    return "\n".join([_inner(name), *(_ITEM + _inner(item) for item in observations)])


def edited_observations(name: str, text: str) -> list[str]:
    r"""The observations of an entity whose text a person has edited.

    >>> edited_observations("Rex", "Rex\n- is a dog\n- barks\n  at night")
    ['is a dog', 'barks\nat night']

    Raises:
        ValueError: If the text is no name with a list of observations, or has another name.
    """
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
    """The words of a name, in lower case.

    >>> parts_of("SSOProvider_v2"), parts_of("data service")
    (('sso', 'provider', 'v', '2'), ('data', 'service'))
    """
    return tuple(part.casefold() for part in _WORDS.findall(name))


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
