"""Which entities may be one: by their names, whatever they say, or by words that a scorer then judges.

"DataService", "data_service" and "Data Service" are one name in three spellings, "Postgres" is short for
"PostgreSQL", and in a graph full of "Derkino ..." names "Derkino Data Service" may be the "Data Service".
Names alone only ever ask a person, and embedding a memory costs a hundred times what comparing words does.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...models.facts.names import same_name
from ...models.text.tables import pattern, table_words
from ...models.text.words import significant_words
from ..stores.graph.entities import Node, parts_of

_PARENTHESES = pattern("in_parentheses")
PARTNER_SHARE = 0.25
"""Share of the shorter one's words in common below which no two memories were ever near each other."""

SPELLINGS, SHORT_FORM = "one name in two spellings", "a name and its short form"
_WITHOUT = "a name with and without {}"
_OPTIONAL = ("what stands in parentheses", "its file extension", "a general word", "the ending of its plural")
WITHOUT_GENERAL = _WITHOUT.format(_OPTIONAL[2])
"""Asks alone where little is said: a route and a route system that say other things are two."""

_EXTENSION = re.compile(rf"(?<=\w)\.(?:{'|'.join(table_words('rivals', 'extensions'))})$", re.IGNORECASE)
_GENERAL = frozenset(table_words("rivals", "general"))
"""Last words of a name that say of what kind the thing is."""

_GENERAL_ALONE = frozenset({"component", "update"})
"""Those of them that may stand behind one word alone: "Billing Update", but not "Shop System"."""

_FOLDERS = frozenset({"directory", "folder"})
_WRITTEN = re.compile(r"[^\W_]+")
_ENDINGS = ("s", "sql", "ql", "js", "db")
_SHORTEST_WORD = 3  # letters of a word that can be a short form, or have a plural
_COMMON_PREFIX, _COMMON_SHARE = 3, 0.1
"""So many names, and such a share of them, begin with a word that only says to which project they belong."""
_LONG_NAME = 2  # words that a name must hold for a longer one to be the same with its project in front
_SIBLING_SHARE = 0.5
_TEMPLATE_SHARE = 4  # two sentences with at most one word in four different are one template

Pair = tuple[str, str]
Parts = tuple[str, ...]
Named = Sequence[tuple[str, Parts]]


def same_names(nodes: Iterable[Node]) -> dict[Pair, str]:
    """Pairs of entities, of whatever types, whose names may mean one thing, each with what they share.

    Never two that differ in a number, nor a folder and what it is of.
    """
    nodes = list(nodes)
    named = [(node.id, parts) for node in nodes if (parts := parts_of(node.id))]
    folders = {node.id for node in nodes if node.type.casefold() in _FOLDERS}
    rules: dict[Pair, str] = {}
    for a, b, rule in itertools.chain(
        _spellings(named), _followed(named), _short_forms(named), _projects(named)
    ):
        if (a in folders) == (b in folders):
            rules.setdefault((min(a, b), max(a, b)), rule)
    return dict(sorted(rules.items()))


def siblings(a: Node, b: Node) -> bool:
    """Whether two memories are about two things, however alike they sound: written from one template.

    Names that share half their words, and are not one name (`same_names`), name two things: "open page" and
    "close page", "team page" and "team page images". Where names are labels of sentences, each must also
    hold a word that the other memory never says, and the sentences differ in a few words alone.
    """
    names = [set(parts_of(node.id)) for node in (a, b)]
    shared = len(names[0] & names[1])
    alike = shared >= _SIBLING_SHARE * max(map(len, names)) if all(names) else False
    if not (a.labelled and b.labelled):
        return alike or (shared == 0 and _one_template(a, b))
    if not _one_template(a, b):
        return False
    said = [set(parts_of(node.statement)) for node in (a, b)]
    return bool(names[0] - said[1]) and bool(names[1] - said[0])


Words = tuple[frozenset[str], frozenset[str]]  # of a statement that mean something, and of the name in front


def words_in(statement: str) -> Words:
    """The words of a statement as `entities.statement` writes it."""
    return significant_words(statement), significant_words(statement.partition(":")[0])


def may_be_near(a: Words, b: Words, *, labelled: bool) -> bool:
    """Whether two statements of one type are worth an embedding.

    Two things whose names are unknown to each other are two, however alike their descriptions are, unless
    their names are mere labels.
    """
    named = labelled or (a[1] <= b[0] and b[1] <= a[0])
    return named and len(a[0] & b[0]) >= PARTNER_SHARE * min(len(a[0]), len(b[0]))


def same_subject(a: str, b: str) -> bool:
    """Whether each statement holds every word of the other's name."""
    (mine, name), (theirs, other) = words_in(a), words_in(b)
    return name <= theirs and other <= mine


def partners(nodes: Iterable[Node]) -> frozenset[Pair]:
    """Pairs of one type that are worth judging, each by its two names in order."""
    groups: dict[str, list[tuple[Node, Words]]] = defaultdict(list)
    for node in sorted(nodes, key=lambda node: node.id):
        if node.content:
            groups[node.type].append((node, words_in(node.statement)))
    return frozenset(
        (a.id, b.id)
        for rows in groups.values()
        for (a, first), (b, second) in itertools.combinations(rows, 2)
        if may_be_near(first, second, labelled=a.labelled) and not siblings(a, b)
    )


def _one_template(a: Node, b: Node) -> bool:
    said = [" ".join(node.content).casefold().split() for node in (a, b)]
    if len(said[0]) != len(said[1]):
        return False
    differ = sum(x != y for x, y in zip(said[0], said[1], strict=True))
    return 0 < differ <= max(1, len(said[0]) // _TEMPLATE_SHARE)


def _spellings(named: Named) -> Iterator[tuple[str, str, str]]:
    """Names that are equal but for case, separators, and one thing that may be left out."""
    groups: dict[str, list[tuple[str, Parts]]] = defaultdict(list)
    for name, _ in named:
        key, left_out = _essence(name)
        groups[key].append((name, left_out))
    for group in groups.values():
        for (a, first), (b, second) in itertools.combinations(group, 2):
            each = zip(_OPTIONAL, first, second, strict=True)
            differing = {what: (x, y) for what, x, y in each if x != y}
            # Only one name has each, and it holds no number.
            if not any((x and y) or any(map(str.isdigit, x + y)) for x, y in differing.values()):
                yield a, b, _WITHOUT.format(next(iter(differing))) if differing else SPELLINGS


def _essence(name: str) -> tuple[str, Parts]:
    """A name without what may be left out, and that, in the order of `_OPTIONAL`."""
    rest = _PARENTHESES.sub(" ", name).strip()
    bracketed = _PARENTHESES.search(name) if parts_of(rest) else None
    rest = rest if bracketed else name
    extension = _EXTENSION.search(rest)
    parts = parts_of(_EXTENSION.sub("", rest)) or parts_of(rest)
    general = ""
    if parts[-1] in _GENERAL and len(parts) > (1 if parts[-1] in _GENERAL_ALONE else _LONG_NAME):
        general, parts = parts[-1], parts[:-1]
    last = parts[-1]
    plural = "s" if len(last) > _SHORTEST_WORD and last.endswith("s") and not last.endswith("ss") else ""
    left_out = bracketed[0].strip() if bracketed else "", extension[0] if extension else "", general, plural
    return "".join(parts).removesuffix(plural), left_out


def _followed(named: Named) -> Iterator[tuple[str, str, str]]:
    """A name, whatever it ends on, and the same with a general word behind it."""
    whole = {parts: name for name, parts in named}
    for name, parts in named:
        fewest = 1 if parts[-1] in _GENERAL_ALONE else _LONG_NAME
        if parts[-1] in _GENERAL and len(parts) > fewest and parts[:-1] in whole:
            yield whole[parts[:-1]], name, WITHOUT_GENERAL


def _short_forms(named: Named) -> Iterator[tuple[str, str, str]]:
    """Names that are equal but for one word, which is short for the other."""
    blocks: dict[tuple[int, Parts], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, parts in named:
        written = tuple(part.casefold() for part in _WRITTEN.findall(name))
        for words in dict.fromkeys((parts, written)):
            for place, part in enumerate(words):
                blocks[place, (*words[:place], "", *words[place + 1 :])][part].append(name)
    for block in blocks.values():
        for word, other in itertools.combinations(sorted(block), 2):
            if _is_short(word, other):
                yield from ((a, b, SHORT_FORM) for a in block[word] for b in block[other] if a != b)


def _is_short(a: str, b: str) -> bool:
    """Whether one word is a known short form of the other, and not only a word with the same beginning."""
    if a.isdigit() or b.isdigit() or min(len(a), len(b)) < _SHORTEST_WORD or not same_name(a, b):
        return False
    short, long = sorted((a, b), key=len)
    return not long.startswith(short) or long[len(short) :] in _ENDINGS


def _projects(named: Named) -> Iterator[tuple[str, str, str]]:
    """A name and the one other name that is the same behind the word of a project."""
    leading = Counter(parts[0] for _, parts in named if len(parts) > 1)
    longer: Mapping[Parts, list[str]] = defaultdict(list)
    common = max(_COMMON_PREFIX, _COMMON_SHARE * len(named))
    for name, parts in named:
        if len(parts) > _LONG_NAME and leading[parts[0]] >= common:
            longer[parts[1:]].append(name)
    for name, parts in named:
        if len(parts) >= _LONG_NAME and len(longer.get(parts, ())) == 1:
            yield name, longer[parts][0], _WITHOUT.format("its project")
