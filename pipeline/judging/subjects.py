"""Which subject a memory is about, as its metadata says: equal words about two accounts are two facts.

A key names a subject (its values group memories: account, project, contact), or where a memory comes from
(session, source, date). A key that is neither is unclear: where it differs, a person decides. No model
is used here, and a key that only one of two memories has says nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...models.text.tables import table_words
from ...models.text.words import significant_words
from ...records import Evidence, Memory, Scope
from ...settings import Settings

SUBJECT = "subject"
UNCLEAR = "metadata"
_PROVENANCE_KEY = ""
"""Kinds of evidence: different subjects forbid a merge, an unclear key leaves it to a person."""

_SUBJECTS = frozenset(table_words("metadata", "subjects"))
_PROVENANCE = frozenset(table_words("metadata", "provenance"))
_UNCLEAR_LISTS = frozenset({"categories"})
"""Keys whose lists are compared: they are sorted into groups by a model, so a difference is only a doubt."""

_HANDLES = ("id", "ids", "key", "slug", "uuid", "code", "name", "number", "no", "url", "ref")
"""Endings that name the thing before them: `customer_id` is about the customer, `source_url` the source."""

_MOMENTS = frozenset({"at", "on", "date", "day", "time", "timestamp", "ts", "hash", "id", "url", "score"})
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PLAIN = re.compile(r"[^\W_]+")
_OF_NO_GROUP = re.compile(
    r"\d{1,4}[-./]\d{1,2}(?:[-./]\d{1,4})?(?:[T ].*)?$"  # dates and times
    r"|[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{12,}$|\w+://|[\d.,:%+ -]+$",
    re.IGNORECASE,
)
_LONGEST_NAME = 6
"""Words: a longer value is a remark and names nothing."""

_FEW = 4
_HARDLY_REPEATS = 0.8
"""From so many holders on, a key with so large a share of different values groups nothing."""


@dataclass(frozen=True, slots=True)
class MetadataKeys:
    """What the metadata keys of one scope mean, by their plain names; all others say where a memory is from.

    Attributes:
        subjects: Keys that name whom or what a memory is about.
        unclear: Keys that may.
    """

    subjects: frozenset[str] = frozenset()
    unclear: frozenset[str] = frozenset()


KeysOf = Mapping[Scope, MetadataKeys]
NO_KEYS = MetadataKeys()


def keys_by_scope(
    memories: Iterable[Memory], *, settings: Settings | None = None
) -> dict[Scope, MetadataKeys]:
    """The meaning of the metadata keys, for each scope by itself."""
    limits = settings or Settings()
    scopes: dict[Scope, list[Memory]] = defaultdict(list)
    for memory in memories:
        if memory.metadata:
            scopes[memory.scope].append(memory)
    return {
        scope: MetadataKeys(subject_keys(members, settings=limits), unclear_keys(members, settings=limits))
        for scope, members in scopes.items()
    }


def subject_keys(memories: Iterable[Memory], *, settings: Settings) -> frozenset[str]:
    """The plain names of the keys of one scope that name a subject.

    The settings come first, then the built-in lists, for the whole name and then for its last word.

    >>> from .records import Scope
    >>> about = {"Account-Name": "Kestrel", "source_url": "https://a.example", "created_at": "2026-01-04"}
    >>> sorted(subject_keys([Memory("1", "Pays late.", Scope(()), metadata=about)], settings=Settings()))
    ['account_name']
    """
    named = {plain_key(key) for memory in memories for key in memory.metadata}
    return frozenset(key for key in named if _meaning(key, settings) == SUBJECT)


def unclear_keys(memories: Iterable[Memory], *, settings: Settings) -> frozenset[str]:
    """The plain names of the keys of one scope of which neither the name nor the values tell what they mean.

    Values that are dates, numbers, ids, addresses or remarks, or that hardly repeat, group nothing.
    """
    held: dict[str, list[str]] = defaultdict(list)
    for memory in memories:
        for key, value in memory.metadata.items():
            name = plain_key(key)
            if _meaning(name, settings) == UNCLEAR:
                said = _spoken(value, lists=name in _UNCLEAR_LISTS)
                held[name] += ["/".join(said)] if said else []
    return frozenset(name for name, values in held.items() if name in _UNCLEAR_LISTS or _groups(values))


def plain_key(key: str) -> str:
    """A metadata key in lower case with underscores.

    >>> plain_key("customerId"), plain_key("Account Name")
    ('customer_id', 'account_name')
    """
    return "_".join(_PLAIN.findall(_CAMEL.sub("_", str(key)))).casefold()


def subjects_of(memory: Memory, keys: Iterable[str]) -> Mapping[str, str]:
    """The subjects that the metadata of a memory names, by plain key, in the order of the keys."""
    wanted = frozenset(keys)
    subjects: dict[str, str] = {}
    for key, value in memory.metadata.items():
        said = _spoken(value, lists=True) if plain_key(key) in wanted else ()
        if said:
            subjects[plain_key(key)] = ", ".join(said)
    return dict(sorted(subjects.items()))


def different_subjects(
    a: Memory, b: Memory, keys: frozenset[str], unclear: frozenset[str] = frozenset()
) -> Evidence | None:
    """Why two memories are not, or may not be, about the same: a key that both have with other values.

    Args:
        a: One memory.
        b: The other; swapping swaps only the order of the values.
        keys: Those that name a subject: a difference is a veto.
        unclear: Those that may: a difference keeps a merge from being automatic. So does a name that is
            part of the other ("Kestrel" / "Kestrel Optics").
    """
    if not a.metadata or not b.metadata:
        return None
    mine, theirs = subjects_of(a, keys | unclear), subjects_of(b, keys | unclear)
    doubts = []
    for key in (key for key in mine if key in theirs):
        apart, doubtful = _compared(mine[key], theirs[key])
        if not apart:
            continue
        detail = f"{key}: {mine[key]} / {theirs[key]}"
        if key in keys and not doubtful:
            return Evidence(SUBJECT, detail, veto=True)
        doubts.append(detail)
    return Evidence(UNCLEAR, "; ".join(doubts)) if doubts else None


def apart(a: Memory, b: Memory, keys: MetadataKeys) -> Evidence | None:
    """`different_subjects` by all keys of a scope."""
    return different_subjects(a, b, keys.subjects, keys.unclear)


def unnamed(a: Memory, b: Memory, keys: MetadataKeys) -> Evidence | None:
    """A subject that only one of two memories names: equal words may be about any of several subjects."""
    mine, theirs = (subjects_of(memory, keys.subjects) for memory in (a, b))
    only = sorted(set(mine) ^ set(theirs))
    said = "; ".join(f"{key}: {mine.get(key, '-')} / {theirs.get(key, '-')}" for key in only)
    return Evidence(UNCLEAR, said) if only else None


def signature(memory: Memory, keys: MetadataKeys) -> tuple[tuple[str, str], ...]:
    """What the metadata of a memory says of its subject, for grouping: equal ones are never apart."""
    if not memory.metadata:
        return ()
    said = subjects_of(memory, keys.subjects | keys.unclear)
    return tuple((key, " ".join(_plain_words(value))) for key, value in said.items())


def judged_text(memory: Memory, keys: frozenset[str]) -> str:
    """The text as scorers and guards read it: with the subjects in front that its words do not name.

    >>> from .records import Scope
    >>> late = Memory("1", "Pays 45 days net.", Scope(()), metadata={"account": "Kestrel Optics"})
    >>> judged_text(late, frozenset({"account"}))
    'Kestrel Optics: Pays 45 days net.'
    """
    if not memory.metadata or not keys:
        return memory.text
    words = significant_words(memory.text)
    front = [value for value in subjects_of(memory, keys).values() if not significant_words(value) <= words]
    return ", ".join(dict.fromkeys(front)) + ": " + memory.text if front else memory.text


def _meaning(key: str, settings: Settings) -> str:
    """SUBJECT, UNCLEAR, or an empty string for a key that says where a memory comes from."""
    parts = key.split("_")
    while len(parts) > 1 and parts[-1] in _HANDLES:
        parts = parts[:-1]
    whole = {key, "_".join(parts)}
    for subjects, provenance, names in (
        (_plain(settings.subject_keys), _plain(settings.provenance_keys), whole),
        (_SUBJECTS, _PROVENANCE, whole),
        (_SUBJECTS, _PROVENANCE | _MOMENTS, {parts[-1]}),
    ):
        if not subjects.isdisjoint(names):
            return SUBJECT
        if not provenance.isdisjoint(names):
            return _PROVENANCE_KEY
    return _PROVENANCE_KEY if key.rpartition("_")[2] in _MOMENTS else UNCLEAR


def _plain(keys: Iterable[str]) -> frozenset[str]:
    return frozenset(plain_key(key) for key in keys)


def _spoken(value: object, *, lists: bool) -> tuple[str, ...]:
    """The names that a value holds, sorted; flags, numbers and nested objects name nothing."""
    items = value if isinstance(value, list | tuple | set | frozenset) and lists else [value]
    said = {" ".join(str(item).split()) for item in items if isinstance(item, str | int)}
    said -= {str(item) for item in items if isinstance(item, bool)}
    return tuple(sorted(each for each in said if each))


def _groups(values: list[str]) -> bool:
    """Whether the values of a key look like names that several memories share."""
    names = [
        value for value in values if not _OF_NO_GROUP.match(value) and len(value.split()) <= _LONGEST_NAME
    ]
    if len(names) < len(values) / 2:
        return False
    different = len({value.casefold() for value in values})
    return different > 1 and (len(values) < _FEW or different < _HARDLY_REPEATS * len(values))


def _compared(mine: str, theirs: str) -> tuple[bool, bool]:
    """Whether two values differ, and whether one is part of the other, so that they may still be one."""
    first, second = frozenset(_plain_words(mine)), frozenset(_plain_words(theirs))
    if first == second:
        return False, False
    return True, first <= second or second <= first


def _plain_words(value: str) -> list[str]:
    return _PLAIN.findall(value.casefold())
