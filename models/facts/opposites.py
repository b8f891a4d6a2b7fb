"""Plain opposites: a word and the one that turns a statement round in its place.

Words whose exchange only looks from the other side (before and after, buys and sells, faster and slower) are
left out: "A comes before B" is "B comes after A".
"""

from __future__ import annotations

from .tokens import listed, stem

_PAIRS = """
enabled disabled, enable disable, on off, like dislike, love hate, like hate, allowed forbidden, allow
forbid, allowed banned, permitted forbidden, open closed, manual automatic, manually automatically,
public private, always never, start stop, early late, morning evening, mornings evenings, hot cold, warm
cold, high low, left right, first last, accept reject, accepted rejected, approve reject, approved
rejected, won lost, win lose, mandatory optional, required optional, online offline, sweet savoury, wet
dry, full empty, free paid, indoors outdoors, indoor outdoor, single double, hard soft, active inactive,
internal external, synchronous asynchronous, sync async, short long, cheap expensive, large small, big
small, quiet loud, dark light, strict lenient, raw cooked, black white, aisle window, keep drop, keep
remove, keep delete, kept removed, passed failed, finished unfinished, ready unready, healthy ill,
include exclude, inside outside, upper lower, tabs spaces, ascending descending, rent own, confirmed
cancelled, confirmed canceled, true false, yes no, maximum minimum, remote onsite, remotely onsite,
married divorced, married single, single engaged, day night, days nights, positive negative, sober drunk,
alive dead, happy unhappy, satisfied dissatisfied, employed unemployed, vegetarian carnivore, shared
separate, local remote, hosted local, encrypted unencrypted, signed unsigned
"""
_OPPOSITES: dict[str, set[str]] = {}
for _pair in _PAIRS.replace("\n", " ").split(","):
    _one, _other = (stem(word) for word in listed(_pair))
    _OPPOSITES.setdefault(_one, set()).add(_other)
    _OPPOSITES.setdefault(_other, set()).add(_one)


def opposite(left: str, right: str) -> bool:
    """Whether two folded words are plain opposites.

    >>> opposite("likes", "dislikes"), opposite("before", "after")
    (True, False)
    """
    return stem(right) in _OPPOSITES.get(stem(left), ())
