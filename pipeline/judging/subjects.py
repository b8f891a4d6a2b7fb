"""Which subject a memory is about, as its metadata says: equal words about two accounts are two facts.

A key names a subject (its values group memories: account, project, contact), or where a memory comes from
(session, source, date). A key that is neither is unclear: where it differs, a person decides. No model
is used here, and a key that only one of two memories has says nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ...models.subject import below, of_another
from ...models.text.tables import pattern, table_words
from ...models.text.words import significant_words
from ...models.whose import NOBODY, WHOSE, Names, names_of, whose
from ...records import Evidence, Memory, Scope
from ...settings import Settings

_PLAIN = pattern("plain_part")
SUBJECT = "subject"
UNCLEAR = "metadata"
_PROVENANCE_KEY = ""  # as evidence different subjects forbid a merge, unclear keys leave it to a person

_SUBJECTS, _PROVENANCE, _HANDLES, _MOMENTS, _UNCLEAR_LISTS = (
    frozenset(table_words("metadata", key))
    for key in ("subjects", "provenance", "handles", "moments", "unclear_lists")
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST_NAME = 6  # words: a longer value is a remark and names nothing

_SPEAKERS = {"agent_id", "actor_id"}
_HEADINGS = ("title", "heading")  # of a file, and of a bullet in it
_FEW = 4
_HARDLY_REPEATS = 0.8
"""From so many holders on, a key with so large a share of different values groups nothing."""


@dataclass(frozen=True, slots=True)
class MetadataKeys:
    """The keys of one scope, by plain names, that name what a memory is about, and those that may."""

    subjects: frozenset[str] = frozenset()
    unclear: frozenset[str] = frozenset()
    names: Names = NOBODY  # who the user and the others are

    @property
    def told(self) -> tuple[object, ...]:
        """The same in one order, for the key of what follows from it."""
        return sorted(self.subjects), sorted(self.unclear), self.names.told


KeysOf = Mapping[Scope, MetadataKeys]
NO_KEYS = MetadataKeys()


def keys_by_scope(
    memories: Iterable[Memory], *, settings: Settings | None = None
) -> dict[Scope, MetadataKeys]:
    """The meaning of the metadata keys, for each scope by itself.

    The settings come first, then the built-in lists, for the whole name and then for its last word. Of a key
    that none of these knows, values that are dates, numbers, ids, addresses or remarks, or that hardly
    repeat, group nothing.
    """
    values: dict[Scope, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    texts: dict[Scope, list[str]] = defaultdict(list)
    for memory in memories:
        texts[memory.scope].append(memory.text)
        for key, value in memory.metadata.items():
            name = plain_key(key)
            said = _spoken(value, lists=name in _UNCLEAR_LISTS)
            values[memory.scope][name] += ["/".join(said)] if said else []
    found = {}
    for scope, said_there in texts.items():
        held = values[scope]
        meaning = {name: _meaning(name, settings or Settings()) for name in held}
        doubtful = (name for name, known in meaning.items() if known == UNCLEAR)
        found[scope] = MetadataKeys(
            frozenset(name for name, known in meaning.items() if known == SUBJECT),
            frozenset(name for name in doubtful if name in _UNCLEAR_LISTS or _groups(held[name])),
            _names(scope, said_there),
        )
    return found


def _names(scope: Scope, texts: Collection[str]) -> Names:
    ids = dict(scope.ids)
    agents = [ids[key] for key in sorted(_SPEAKERS & ids.keys())]
    return names_of(ids.get("user_id", ""), texts, agents=agents)


def plain_key(key: str) -> str:
    """A metadata key in lower case with underscores: "customerId" is "customer_id"."""
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


def apart(a: Memory, b: Memory, keys: MetadataKeys) -> Evidence | None:
    """Why two memories are not, or may not be, about the same, by their metadata or their words.

    Swapping the memories swaps only the order of the values.
    """
    found = [each for each in (_filed_apart(a, b, keys), _told_apart(a, b, keys)) if each]
    return next((each for each in found if each.veto), found[0] if found else None)


def _told_apart(a: Memory, b: Memory, keys: MetadataKeys) -> Evidence | None:
    """Whose facts the texts say they are, each below what its metadata or its heading names."""
    filed = [", ".join(subjects_of(each, keys.subjects).values()) if each.metadata else "" for each in (a, b)]
    if bool(filed[0]) is not bool(filed[1]) and not of_another((b if filed[0] else a).text):
        return None
    filed = filed if not all(filed) else ["", ""]  # which are compared by themselves
    mine, theirs = (
        below([subject] if subject else headings_of(each), each.text)
        for subject, each in zip(filed, (a, b), strict=True)
    )
    return whose(mine, theirs, keys.names)


def headings_of(memory: Memory) -> list[str]:
    """The title and the heading below which a memory stands in a file; none for those of other stores."""
    if _HEADINGS[1] not in memory.metadata:
        return []
    return [str(memory.metadata.get(key) or "") for key in _HEADINGS]


def _filed_apart(a: Memory, b: Memory, keys: MetadataKeys) -> Evidence | None:
    """A key that both have with other values.

    A subject is a veto; an unclear key, or a name that is part of the other ("Kestrel" / "Kestrel Optics"),
    keeps a merge from being automatic.
    """
    if not a.metadata or not b.metadata:
        return None
    mine, theirs = (subjects_of(each, keys.subjects | keys.unclear) for each in (a, b))
    doubts = []
    for key in (key for key in mine if key in theirs):
        first, second = (frozenset(_PLAIN.findall(said[key].casefold())) for said in (mine, theirs))
        if first == second:
            continue
        detail = f"{key}: {mine[key]} / {theirs[key]}"
        if key in keys.subjects and not (first <= second or second <= first):
            return Evidence(SUBJECT, detail, veto=True)
        doubts.append(detail)
    return Evidence(UNCLEAR, "; ".join(doubts)) if doubts else None


def unnamed(a: Memory, b: Memory, keys: MetadataKeys) -> Evidence | None:
    """A subject that only one of two memories names: equal words may be about any of several subjects."""
    mine, theirs = (subjects_of(memory, keys.subjects) for memory in (a, b))
    only = sorted(set(mine) ^ set(theirs))
    said = "; ".join(f"{key}: {mine.get(key, '-')} / {theirs.get(key, '-')}" for key in only)
    return Evidence(UNCLEAR, said) if only else None


def signature(memory: Memory, keys: MetadataKeys) -> tuple[tuple[str, str], ...]:
    """What the metadata of a memory says of its subject, for grouping: equal ones are never apart."""
    said = subjects_of(memory, keys.subjects | keys.unclear)
    filed = ((key, " ".join(_PLAIN.findall(value.casefold()))) for key, value in said.items())
    return (*filed, *((WHOSE, who) for who in keys.names.note_or_user(memory.text)))


def judged_text(memory: Memory, keys: MetadataKeys) -> str:
    """The text as scorers and guards read it: with the subjects in front that its words do not name.

    The user's own names are "the user" in it.
    """
    text = keys.names.read(memory.text)
    if not memory.metadata or not keys.subjects:
        return text  # as nearly always
    words, named = significant_words(memory.text), subjects_of(memory, keys.subjects)
    front = [value for value in named.values() if not significant_words(value) <= words]
    return ", ".join(dict.fromkeys(front)) + ": " + text if front else text


def _meaning(key: str, settings: Settings) -> str:
    """SUBJECT, UNCLEAR, or an empty string for a key that says where a memory comes from."""
    parts = key.split("_")
    while len(parts) > 1 and parts[-1] in _HANDLES:
        parts = parts[:-1]
    whole = {key, "_".join(parts)}
    stated = (settings.subject_keys, settings.provenance_keys)
    for subjects, provenance, names in (
        (*(frozenset(map(plain_key, keys)) for keys in stated), whole),
        (_SUBJECTS, _PROVENANCE, whole),
        (_SUBJECTS, _PROVENANCE | _MOMENTS, {parts[-1]}),
    ):
        if not subjects.isdisjoint(names):
            return SUBJECT
        if not provenance.isdisjoint(names):
            return _PROVENANCE_KEY
    return _PROVENANCE_KEY if key.rpartition("_")[2] in _MOMENTS else UNCLEAR


def _spoken(value: object, *, lists: bool) -> tuple[str, ...]:
    """The names that a value holds, sorted; flags, numbers and nested objects name nothing."""
    items = value if isinstance(value, list | tuple | set | frozenset) and lists else [value]
    said = {" ".join(str(item).split()) for item in items if isinstance(item, str | int)}
    said -= {str(item) for item in items if isinstance(item, bool)}
    return tuple(sorted(each for each in said if each))


def _groups(values: list[str]) -> bool:
    names = [
        value
        for value in values
        if not pattern("of_no_group").match(value) and len(value.split()) <= _LONGEST_NAME
    ]
    if len(names) < len(values) / 2:
        return False
    different = len({value.casefold() for value in values})
    return different > 1 and (len(values) < _FEW or different < _HARDLY_REPEATS * len(values))
