"""Different spellings of one name: short forms, old names, typing slips, languages and their countries.

Names that merely begin alike stay apart: Java is not JavaScript, Robert is not Roberto.
"""

from __future__ import annotations

from functools import lru_cache

from ..word_tables import table_lines

_FORMAL: dict[str, frozenset[str]] = {
    line.split()[0]: frozenset(line.split()[1:]) for line in table_lines("names", "short_forms")
}
_ALIAS_GROUPS: dict[str, int] = {
    word: number for number, line in enumerate(table_lines("names", "aliases")) for word in line.split()
}
_DERIVED = ("sql", "s", "n", "an", "ian", "ean", "ese", "ish", "er", "ers", "i", "js", "db", "ic")
_SHORTEST_ROOT = 4
_SHORTEST_TYPO = 7


_OF_GROUP: dict[int, frozenset[str]] = {
    number: frozenset(word for word, of in _ALIAS_GROUPS.items() if of == number)
    for number in set(_ALIAS_GROUPS.values())
}
_SHORT_OF: dict[str, frozenset[str]] = {
    short: frozenset(word for word, forms in _FORMAL.items() if short in forms)
    for short in frozenset().union(*_FORMAL.values())
}


def named_among(word: str, words: frozenset[str]) -> bool:
    """Whether any of these folded words names the same thing, by look-up: documents have thousands of words.

    >>> named_among("postgres", frozenset({"the", "postgresql", "port"}))
    True
    """
    known = {word} | _FORMAL.get(word, frozenset()) | _SHORT_OF.get(word, frozenset())
    known |= _OF_GROUP.get(_ALIAS_GROUPS.get(word, -1), frozenset())
    endings = _DERIVED if len(word) >= _SHORTEST_ROOT else ("s",)
    known |= {word + ending for ending in endings}
    known |= {
        word.removesuffix(ending)
        for ending in _DERIVED
        if word.endswith(ending) and (ending == "s" or len(word) - len(ending) >= _SHORTEST_ROOT)
    }
    if not known.isdisjoint(words):
        return True
    return len(word) >= _SHORTEST_TYPO and "".join(sorted(word)) in _letters(words)


@lru_cache(maxsize=64)
def _letters(words: frozenset[str]) -> frozenset[str]:
    return frozenset("".join(sorted(word)) for word in words if len(word) >= _SHORTEST_TYPO)


@lru_cache(maxsize=65536)
def same_name(left: str, right: str) -> bool:
    """Whether two folded words name the same thing.

    >>> same_name("postgres", "postgresql"), same_name("java", "javascript"), same_name("k8s", "kubernetes")
    (True, False, True)
    """
    if left == right:
        return True
    group = _ALIAS_GROUPS.get(left)
    if group is not None and group == _ALIAS_GROUPS.get(right):
        return True
    if left in _FORMAL.get(right, ()) or right in _FORMAL.get(left, ()):
        return True
    if len(left) == len(right) >= _SHORTEST_TYPO and sorted(left) == sorted(right):
        return True
    short, long = sorted((left, right), key=len)
    if len(short) < _SHORTEST_ROOT:
        return long == short + "s"
    return long.startswith(short) and long[len(short) :] in _DERIVED
