"""Who does what to whom: the same words in another order, and another one who acts.

"Anna reports to Ben" and "Ben reports to Anna" have the same words; so have many honest ways to turn a
sentence round. `exchange` finds orders that certainly say something else, `rearranged` those that may.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from ..text.tables import found, listed, pattern, table_set
from ..text.vocabulary import FRAME_WORDS, content_stems
from ..text.words import Word
from . import Facts
from .frames import Change, crosswise, surface

_COPULAS = frozenset(listed("is are was were and or with plus equals named called namely as"))
_MUTUAL = table_set("bindings", "mutual")
_LINKS = _COPULAS | frozenset(listed("to of an a the also still has have been"))
_TOGETHER = table_set("bindings", "together")
_ORDERING = frozenset(listed("than over before after"))
_LONGEST_EXCHANGED = 4
_LONGEST_STRETCH = 60
_BINDING = frozenset(listed("not no never first second then before after without nor"))  # of the frame
_READ = 80  # characters that are read before a word, and of an opening
Exchanged = tuple[list[Word], list[Word]]


def exchange(left: Facts, right: Facts) -> Change | None:
    """The stretch in which two parts of equal words changed places; lists and clauses have none."""
    if left.bag != right.bag:
        return None
    exchanged = _exchanged(left, right)
    if exchanged is None:
        return None
    middle = [word.folded for word in _middle(left, exchanged)]
    if _COPULAS.issuperset(middle) or (middle[0] in _TOGETHER and middle[-1] == "with"):
        return None
    if not _MUTUAL.isdisjoint(middle) and (_MUTUAL | _LINKS).issuperset(middle):
        return None
    if not _tells(left, right):
        return None
    start, end = exchanged[0][0], exchanged[1][-1]
    there = right.words[left.words.index(start) : left.words.index(end) + 1]
    return surface(left, (start, end)), surface(right, there)


def turned_round(left: Facts, right: Facts) -> bool:
    """Whether two things changed places around a comparison, a preference or an order of equal words."""
    exchanged = _exchanged(left, right) if left.bag == right.bag else None
    if exchanged is None or _bound_alike(left, right) is True:
        return False
    middle = [word.folded for word in _middle(left, exchanged)]
    at = left.words.index(exchanged[0][0])
    ways = middle == ["to"] and left.words[at - 1].folded == "from"
    return ways or not _ORDERING.isdisjoint(middle) or ("to" in middle and "prefer" in left.content)


def rearranged(left: Facts, right: Facts) -> Change | None:
    """Return both texts where the order of their equal words may change who does what to whom."""
    if not left.bag or (left.bag != right.bag and frozenset(left.bag) != frozenset(right.bag)):
        return None
    if [word.folded for word in left.words] == [word.folded for word in right.words]:
        return None
    bound = _bound_alike(left, right)
    if bound is True:
        return None
    equal, ways = left.bag == right.bag, (pattern("doer"), pattern("done_to"))
    alike = equal and _passive(left) == _passive(right)
    doubted = (
        (equal and bound is False)
        or (alike and _tells(left, right, content=True))
        or (alike and any(crosswise(left.text, right.text, *each) for each in (ways, ways[::-1])))
        or _names_turned(left, right)
    )
    return (left.text, right.text) if doubted else None


def _exchanged(left: Facts, right: Facts, *, content: bool = False) -> Exchanged | None:
    """The two parts of one text that changed places in the other around a middle, or None."""
    words, others = (
        [word for word in each.words if not content or word.folded not in FRAME_WORDS]
        for each in (left, right)
    )
    first, second = ([word.stem if content else word.folded for word in some] for some in (words, others))
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
                return words[head : head + i], words[end - j : end]
    return None


def _middle(facts: Facts, exchanged: Exchanged) -> list[Word]:
    start, end = exchanged[0][-1].end, exchanged[1][0].start
    return [word for word in facts.words if start <= word.start < end]


def _tells(left: Facts, right: Facts, *, content: bool = False) -> bool:
    """Whether two parts changed places, and these are neither items of a list nor clauses."""
    if _bound_alike(left, right) is True:
        return False
    for facts, other in ((left, right), (right, left)):
        exchanged = _exchanged(facts, other, content=content)
        if exchanged is None or any(_whole_item(facts, part) for part in exchanged):
            return False
    return True


def _whole_item(facts: Facts, part: Sequence[Word]) -> bool:
    """Whether a part is bounded by commas, conjunctions or the ends of the text on both sides."""
    opens = pattern("item_opens").search(facts.text[max(0, part[0].start - _READ) : part[0].start])
    return bool(opens and pattern("item_closes").match(facts.text, part[-1].end))


def _clauses(facts: Facts) -> list[frozenset[str]]:
    cuts = [match.start() for match in pattern("clause_end").finditer(facts.text)]
    kept = (word for word in facts.words if word.folded not in FRAME_WORDS or word.folded in _BINDING)
    clauses = groupby(kept, lambda word: bisect_left(cuts, word.start))
    return [frozenset(word.stem for word in clause) for _, clause in clauses]


def _bound_alike(left: Facts, right: Facts) -> bool | None:
    """Whether the clauses of both texts bind the same words to each other; None where there are none."""
    mine, theirs = _clauses(left), _clauses(right)
    if min(len(mine), len(theirs)) < 2 or len(mine) != len(theirs):
        return None
    shared = mine[0] & theirs[0]  # the common beginning, which later clauses leave out
    alike = Counter(clause - shared for clause in mine) == Counter(clause - shared for clause in theirs)
    return alike or Counter(mine) == Counter(theirs)


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
    places = [word.folded for word in facts.words]
    start, end = sorted((places.index(x), places.index(y)))
    inner = facts.words[start + 1 : end]
    return frozenset(content_stems(inner))


def _passive(facts: Facts) -> bool:
    return found("passive", facts.text) != ""


def other_actor(left: Facts, right: Facts) -> Change | None:
    """Return the two openings where one text is about a company, a boss, a team, and one about the person."""
    mine, theirs = (found("somebody_else", each.text[:_READ]).strip() for each in (left, right))
    other = right if mine else left
    match = pattern("person").search(other.text[:_READ]) if bool(mine) != bool(theirs) else None
    if match is None or match["name"] not in {None, *(name.text.split()[0] for name in other.names)}:
        return None
    person = match[0].strip()
    return (mine or person, theirs or person) if person else None
