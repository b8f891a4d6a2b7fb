"""The same words in another order: who does what to whom, and what belongs to what.

"Anna reports to Ben" and "Ben reports to Anna" have the same words; so have "Ben is reported to by Anna" and
many honest ways to turn a sentence round. `exchange` finds orders that certainly say something else,
`rearranged` those that may. Both need the same words that carry content; anything else is for the scorer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from .extraction import Facts
from .frames import Change, surface
from .synonyms import FRAME_WORDS
from .tokens import Expression, Word, listed, rough_stem

_COPULAS = frozenset(listed("is are was were and or with plus equals named called namely as"))
_LONGEST_EXCHANGED = 4
_LONGEST_STRETCH = 60
_BINDING = frozenset(listed("not no never first second then before after without nor"))
"""Words of the frame that bind others, so that their place counts."""

_CLAUSE_END = Expression(r"[,;:.!?]\s|\b(?:and|but|while|whereas)\b", 2)
_EDGE = r"[,;:.!?()]|\b(?:and|or|but|while|whereas|plus|than|nor)\b"
_LEADING = r"(?:\s|\b(?:the|a|an|his|her|their|in|on|at|to|for|with|of|by)\b)*"
_OPENS = Expression(rf"(?:^|{_EDGE}){_LEADING}$", 2)
_CLOSES = Expression(rf"\s*(?:$|{_EDGE})", 2)
_PASSIVE = Expression(r"\bby (?!the (?:end|time)\b|\d)", 2)
_DOER = Expression(r"\b(?:we|i)\b", 2)
_DONE_TO = Expression(r"\b(?:us|me)\b", 2)
_EDGE_REACH = 80

Exchanged = tuple[Sequence[Word], Sequence[Word]]


def _folded(word: Word) -> str:
    return word.folded


def _stem_of(word: Word) -> str:
    return rough_stem(word.folded)


def _words_of(facts: Facts) -> Sequence[Word]:
    return facts.words


def _content_of(facts: Facts) -> Sequence[Word]:
    return [word for word in facts.words if word.folded not in FRAME_WORDS]


def exchange(left: Facts, right: Facts) -> Change | None:
    """Return the stretch in which two parts changed places around others, all words being the same.

    Clauses in another order, lists and adverbs moved to the front are no exchange.

    >>> from .extraction import extract
    >>> exchange(extract("Anna reports to Ben"), extract("Ben reports to Anna"))
    ('Anna reports to Ben', 'Ben reports to Anna')
    >>> exchange(extract("Dairy yes, gluten no"), extract("Gluten no, dairy yes")) is None
    True
    """
    if left.bag != right.bag:
        return None
    exchanged = _exchanged(left.words, right.words, _folded)
    if exchanged is None or {word.folded for word in _middle(left, exchanged)} <= _COPULAS:
        return None
    return _shown(left, right, exchanged) if _tells(left, right, _words_of, _folded) else None


def rearranged(left: Facts, right: Facts) -> Change | None:
    """Return both texts where the order of their equal words may change who does what to whom.

    >>> from .extraction import extract
    >>> rearranged(extract("Peter films Ida's cats"), extract("Peter's cats are filmed by Ida"))
    ("Peter films Ida's cats", "Peter's cats are filmed by Ida")
    >>> rearranged(extract("Ida films the cats"), extract("The cats are filmed by Ida")) is None
    True
    """
    if not left.bag or (left.bag != right.bag and frozenset(left.bag) != frozenset(right.bag)):
        return None
    if [word.folded for word in left.words] == [word.folded for word in right.words]:
        return None
    bound = _bound_alike(left, right) if left.bag == right.bag else None
    if bound is True or _bound_alike(left, right) is True:
        return None
    doubts = (_content_exchanged, _names_turned, _turned)
    return (left.text, right.text) if bound is False or any(doubt(left, right) for doubt in doubts) else None


def _exchanged(mine: Sequence[Word], theirs: Sequence[Word], key: Callable[[Word], str]) -> Exchanged | None:
    """The two parts of one text that changed places in the other around a middle, or None."""
    first, second = [key(word) for word in mine], [key(word) for word in theirs]
    if first == second or sorted(first) != sorted(second):
        return None
    head = next(i for i, (x, y) in enumerate(zip(first, second, strict=True)) if x != y)
    tail = next(i for i, (x, y) in enumerate(zip(first[::-1], second[::-1], strict=True)) if x != y)
    core, other = first[head : len(first) - tail], second[head : len(second) - tail]
    if len(core) > _LONGEST_STRETCH or any(other == core[i:] + core[:i] for i in range(1, len(core))):
        return None
    longest = min(_LONGEST_EXCHANGED, len(core) - 2)
    for i in range(1, longest + 1):
        for j in range(1, min(longest, len(core) - i - 1) + 1):
            kept = other[:j] == core[-j:] and other[j:-i] == core[i:-j] and other[-i:] == core[:i]
            if kept:
                end = head + len(core)
                return mine[head : head + i], mine[end - j : end]
    return None


def _middle(facts: Facts, exchanged: Exchanged) -> list[Word]:
    start, end = exchanged[0][-1].end, exchanged[1][0].start
    return [word for word in facts.words if start <= word.start < end]


def _shown(left: Facts, right: Facts, exchanged: Exchanged) -> Change:
    start, end = exchanged[0][0], exchanged[1][-1]
    first = left.words.index(start)
    last = left.words.index(end)
    return surface(left, (start, end)), surface(right, right.words[first : last + 1])


def _tells(
    left: Facts, right: Facts, of: Callable[[Facts], Sequence[Word]], key: Callable[[Word], str]
) -> bool:
    """Whether two parts changed places, and these are neither items of a list nor clauses."""
    if _bound_alike(left, right) is True:
        return False
    for facts, other in ((left, right), (right, left)):
        exchanged = _exchanged(of(facts), of(other), key)
        if exchanged is None or any(_whole_item(facts, part) for part in exchanged):
            return False
    return True


def _whole_item(facts: Facts, part: Sequence[Word]) -> bool:
    """Whether a part is bounded by commas, conjunctions or the ends of the text on both sides."""
    before = facts.text[max(0, part[0].start - _EDGE_REACH) : part[0].start]
    return _OPENS.search(before) is not None and _CLOSES.match(facts.text, part[-1].end) is not None


def _clauses(facts: Facts) -> list[frozenset[str]]:
    """The stems of each clause that has any."""
    cuts = [match.start() for match in _CLAUSE_END.all(facts.text)]
    clauses: list[list[str]] = [[]]
    passed = 0
    for word in facts.words:
        while passed < len(cuts) and word.start > cuts[passed]:
            passed += 1
            clauses.append([])
        if word.folded not in FRAME_WORDS or word.folded in _BINDING:
            clauses[-1].append(rough_stem(word.folded))
    return [frozenset(clause) for clause in clauses if clause]


def _bound_alike(left: Facts, right: Facts) -> bool | None:
    """Whether the clauses of both texts bind the same words to each other; None where there are none.

    The words that both first clauses share are their common beginning, which the later ones leave out.
    """
    mine, theirs = _clauses(left), _clauses(right)
    if min(len(mine), len(theirs)) < 2 or len(mine) != len(theirs):
        return None
    shared = mine[0] & theirs[0]
    alike = Counter(clause - shared for clause in mine) == Counter(clause - shared for clause in theirs)
    return alike or Counter(mine) == Counter(theirs)


def _content_exchanged(left: Facts, right: Facts) -> bool:
    """Whether two words of content changed places, and the sentence was not turned into a passive."""
    if left.bag != right.bag or _passive(left) != _passive(right):
        return False
    return _tells(left, right, _content_of, _stem_of)


def _names_turned(left: Facts, right: Facts) -> bool:
    """Whether two names keep their order while only one text is passive, or change it around one verb."""
    mine, theirs = (
        list(dict.fromkeys(name.folded for name in each.names if name.folded == name.phrase[0]))
        for each in (left, right)
    )
    shared = set(mine) & set(theirs)
    if len(shared) < 2:
        return False
    mine, theirs = [name for name in mine if name in shared], [name for name in theirs if name in shared]
    if _passive(left) != _passive(right):
        return mine == theirs
    return any(
        theirs.index(x) > theirs.index(y) and not _between(left, x, y).isdisjoint(_between(right, x, y))
        for i, x in enumerate(mine)
        for y in mine[i + 1 :]
    )


def _between(facts: Facts, x: str, y: str) -> frozenset[str]:
    """The stems of content between the first places of two names."""
    places = [word.folded for word in facts.words]
    start, end = sorted((places.index(x), places.index(y)))
    inner = facts.words[start + 1 : end]
    return frozenset(rough_stem(word.folded) for word in inner if word.folded not in FRAME_WORDS)


def _turned(left: Facts, right: Facts) -> bool:
    """Whether we do to others in one text what they do to us in the other."""
    if left.bag != right.bag or _passive(left) != _passive(right):
        return False
    doing = [(_DOER.search(each.text), _DONE_TO.search(each.text)) for each in (left, right)]
    (do, done), (does, was_done) = [(a is not None, b is not None) for a, b in doing]
    return (do, done) != (does, was_done) and do != done and does != was_done


def _passive(facts: Facts) -> bool:
    return _PASSIVE.search(facts.text) is not None
