"""Which entities of one type may be one by their names alone; only a person says whether they are.

"DataService", "data_service" and "Data Service" are one name in three spellings, "Postgres" is short for
"PostgreSQL", and in a graph full of "Derkino ..." names "Derkino Data Service" may be the "Data Service".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ....models.facts.aliases import same_name
from ...stores.graph.text import parts_of
from .nodes import SENTENCE_TYPES, Node

_WRITTEN = re.compile(r"[^\W_]+")
_ENDINGS = ("s", "sql", "ql", "js", "db")
_SHORTEST = 3
"""Letters of a name that can be a short form."""

_COMMON_PREFIX = 3
"""So many names begin with a word that only says to which project they belong."""

_LONG_NAME = 2
"""Words that a name must hold for a longer one to be the same with its project in front."""

_GENERAL = frozenset({"project", "system", "implementation", "module", "app", "application", "overview"})
"""Last words of a name that say of what kind the thing is."""

_SIBLING_SHARE = 0.5
_TEMPLATE_SHARE = 4
"""Two sentences with at most one word in four different are one template."""

Pair = tuple[str, str]


def siblings(a: Node, b: Node) -> bool:
    """Whether two memories are about two things, however alike they sound: written from one template.

    Names that share half their words, and are not one name (`same_names`), name two things: "open page" and
    "close page", "team page" and "team page images". Where names are labels of sentences, each must also
    hold a word that the other memory never says, and the sentences differ in a few words alone.
    """
    names = [set(parts_of(node.id)) for node in (a, b)]
    shared = len(names[0] & names[1])
    alike = shared >= _SIBLING_SHARE * max(map(len, names)) if all(names) else False
    if not {a.type.casefold(), b.type.casefold()} <= set(SENTENCE_TYPES):
        return alike or (shared == 0 and _one_template(a, b))
    if not _one_template(a, b):
        return False
    said = [set(parts_of(node.statement)) for node in (a, b)]
    return bool(names[0] - said[1]) and bool(names[1] - said[0])


def _one_template(a: Node, b: Node) -> bool:
    """Whether two statements are equal but for a few words."""
    said = [" ".join(node.content).casefold().split() for node in (a, b)]
    if len(said[0]) != len(said[1]):
        return False
    differ = sum(x != y for x, y in zip(said[0], said[1], strict=True))
    return 0 < differ <= max(1, len(said[0]) // _TEMPLATE_SHARE)


def same_names(nodes: Iterable[Node]) -> dict[Pair, str]:
    """Pairs of entities of one type whose names may mean one thing, each with what they share.

    Returns:
        By the two names, in order; never two that differ in a number.
    """
    everything = list(nodes)
    leading = Counter(parts[0] for node in everything if len(parts := parts_of(node.id)) > 1)
    projects = {word for word, count in leading.items() if count >= _COMMON_PREFIX}
    by_type: dict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
    for node in everything:
        by_type[node.type.casefold()].append((node.id, parts_of(node.id)))
    rules: dict[Pair, str] = {}
    for rows in by_type.values():
        named = [(name, parts) for name, parts in rows if parts]
        for rule, pairs in (
            ("one name in two spellings", _spellings(named)),
            ("a name and its short form", _short_forms(named)),
            ("a name with and without its project", _projects(named, projects)),
            ("a name with and without a general word", _general(named)),
        ):
            for a, b in pairs:
                rules.setdefault((min(a, b), max(a, b)), rule)
    return dict(sorted(rules.items()))


def _spellings(named: Sequence[tuple[str, tuple[str, ...]]]) -> list[Pair]:
    groups: dict[str, list[str]] = defaultdict(list)
    for name, parts in named:
        groups["".join(parts)].append(name)
    return [(names[0], other) for names in groups.values() for other in names[1:]]


def _short_forms(named: Sequence[tuple[str, tuple[str, ...]]]) -> list[Pair]:
    """Names that are equal but for one word, which is short for the other."""
    blocks: dict[tuple[int, tuple[str, ...]], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, parts in named:
        written = tuple(part.casefold() for part in _WRITTEN.findall(name))
        for words in dict.fromkeys((parts, written)):
            for place, part in enumerate(words):
                blocks[place, (*words[:place], "", *words[place + 1 :])][part].append(name)
    pairs: list[Pair] = []
    for block in blocks.values():
        ordered = sorted(block)
        for at, word in enumerate(ordered):
            for other in ordered[at + 1 :]:
                if _short(word, other):
                    pairs += [(a, b) for a in block[word] for b in block[other] if a != b]
    return pairs


def _short(a: str, b: str) -> bool:
    """Whether one word is a known short form of the other, and not only a word with the same beginning."""
    if a.isdigit() or b.isdigit() or min(len(a), len(b)) < _SHORTEST or not same_name(a, b):
        return False
    short, long = sorted((a, b), key=len)
    return not long.startswith(short) or long[len(short) :] in _ENDINGS


def _projects(named: Sequence[tuple[str, tuple[str, ...]]], projects: set[str]) -> list[Pair]:
    """A name and the one other name that is the same behind the word of a project."""
    longer: Mapping[tuple[str, ...], list[str]] = defaultdict(list)
    for name, parts in named:
        if len(parts) > _LONG_NAME and parts[0] in projects:
            longer[parts[1:]].append(name)
    return [
        (name, longer[parts][0])
        for name, parts in named
        if len(parts) >= _LONG_NAME and len(longer.get(parts, ())) == 1
    ]


def _general(named: Sequence[tuple[str, tuple[str, ...]]]) -> list[Pair]:
    """A name and the same with a word behind that only says what kind of thing it is."""
    shorter = {parts: name for name, parts in named if len(parts) >= _LONG_NAME}
    return [
        (name, shorter[parts[:-1]])
        for name, parts in named
        if len(parts) > _LONG_NAME and parts[-1] in _GENERAL and parts[:-1] in shorter
    ]
