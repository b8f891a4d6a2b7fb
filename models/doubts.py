"""Doubts: reasons to leave a merge to a person although no detail of two texts is a rival of the other's.

Each was found among pairs that a scorer takes for duplicates with confidence. A doubt never says that two
texts are different; it only keeps a merge from being made by itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime

from ..records import Evidence
from .bindings import ALIKE, relation
from .facts.details import Expression
from .facts.extraction import extract
from .facts.states import is_ahead, told_end
from .guards import shared_values
from .places import PERSON, THIRD, Unit, bound
from .reach import misplaced, of_another
from .stance import Step, steps
from .text.tables import table_lines
from .text.words import significant_words, stem
from .wording import exchanged

BRIEF = 12
"""Words up to which a name that opens one text, beside other words of the other, is another subject."""
LONG = 35
"""Words of a text from which names are read in another order for many reasons."""
MOSTLY_SAID = 0.7
"""Share of the words of each text that the other says, from which the order of names tells who does what."""
BOTH_ENTAIL = 0.9
"""Each text entails the other from here on, so that another order of equal words says the same."""
HALF_ENTAILED = 0.5
"""The same where more words differ: names in another order are told in other words, too."""
ENTAILS_BACK = 0.8
"""Entailment in the weaker direction from which the scorer sees one statement, not one inside the other."""
NEARLY_SAID = 0.85
"""Share of the words of the entailed text that the other says, from which it is shown by its words."""
TIED = 0.65
"""The same where both state a name."""
HARDLY_ENTAILED = 0.1
"""Where both texts have words that the other does not say, one must entail the other by this or more."""
STATES = frozenset({"stage", "hedge", "past", "extent"})
"""Kinds of evidence that two texts speak of two states of one thing."""
_ONE_THING = 0.3
"""Share of the words of each text that the other says, from which two states may be those of one thing."""
_SHOWN = 4  # words of a detail
_ROOT = 4  # letters
_NAME_GOES_ON = 3  # words
_MARKS = ".,;:!?\"'"
_PART = re.compile(r"(?:da|de|del|di|du|van|von)\b|[A-Z0-9]")
_CONJUNCTION = re.compile(r"\b(?:when|whenever|if|because|unless|once)\b", re.IGNORECASE)
_LINKS = frozenset(
    map(stem, ("a", "an", "the", "and", "or", "to", "in", "on", "at", "by", "for", "from", "of", "with"))
)
_VALUED = frozenset(("number", "date", "time", "frequency", "version", "identifier", "path", "url", "name"))
_AT_HOME = frozenset(map(stem, ("based", "lives", "resides", "located", "from")))
_NAMING = Expression(
    r"^\W*(?:(?i:(?:the )?(?:user|my|his|her)(?:'s)? ?(?:full |first )?(?:name is|is named|is called))"
    r"|Name is|Named)"
    r"(?: [A-Z][\w'-]*){1,4}\W*$"
)
_SUBJECTLESS = Expression(
    r"^\W*(?:(?:is|was|has|had|based)\b|[a-z]+(?:s|ed)\b(?! (?:\w+ )?(?:is|are|was|were|has|had)\b))",
    re.IGNORECASE,
)
_NAME = Expression(r"\b(?:names?|named|called|goes by)\b", re.IGNORECASE)

_UNDER_WAY = Expression(
    r"(?:\b(?:is|are|am)|'s|'re) (?:currently |still |now )?(?:being )?((?<=being )[a-z]+|[a-z]{2,}ing)\b",
    re.IGNORECASE,
)
_DONE = Expression(
    r"(?<!\bbe )(?<!\bbeing )(?<!\bto )\b([a-z]{2,}ed|(?:re)?(?:built|written|sold|bought|begun|taught))\b",
    re.IGNORECASE,
)
_ING = Expression(r"\b([a-z]{2,}ing)\b", re.IGNORECASE)


def _marked(markers: str) -> re.Pattern[str]:
    """An expression for markers that commas part; a star stands for any ending."""
    words = (
        re.escape(each.strip()).replace(r"\*", r"\w*").replace(r"\ ", r"\s+") for each in markers.split(",")
    )
    return re.compile(
        rf"(?<![\w-])(?:{'|'.join(sorted(words, key=len, reverse=True))})(?![\w-])", re.IGNORECASE
    )


def _sides(key: str) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    return [
        (_marked(mine), _marked(theirs))
        for mine, theirs in (line.split("|") for line in table_lines("doubts", key))
    ]


Reader = Callable[[str], str]
Told = tuple[datetime | None, datetime | None]
"""When each of two texts was told, None where that is not known."""

_EVENTS, _OPPOSED = _sides("events"), _sides("opposed")
_LIKING, _DISLIKE, _CHOICE, _RULE, _CHANGE, _SEVERAL = (
    _marked(",".join(table_lines("doubts", key)))
    for key in ("liking", "dislike", "choice", "rule", "change", "several")
)
_HARD = _marked(
    "not, no, never, none, nothing, nobody, without, cannot, can't, quit, stop*, cancel*, instead of, "
    "don't, doesn't, didn't, isn't, aren't, wasn't, won't"
)
_PLATFORMS = "|".join(name for line in table_lines("doubts", "platforms") for name in line.split(", "))
_PLATFORM = re.compile(
    rf"\bon (?:{_PLATFORMS})\b|\b(?:{_PLATFORMS})(?= (?:app|build|client|version)s?\b)", re.IGNORECASE
)
_TENSES = frozenset({("is", "was"), ("are", "were"), ("had", "has"), ("had", "have"), ("can", "could")})
_MILD = frozenset(word.strip() for word in ",".join(table_lines("doubts", "mild")).split(","))
_OTHER_THINGS = frozenset(("name", "swap"))
_OPPOSING = frozenset(("ending", "event", "liking", "choice"))


DOUBTS = frozenset({"ending", "event", "underway", "past", "liking", "choice", "unsaid", "place", "wording"})
"""Kinds of evidence that `doubts` gives; none of them forbids anything."""


def doubts(
    a: str, b: str, found: Sequence[Evidence] = (), *, entailment: Sequence[float] = (1.0, 1.0)
) -> tuple[Evidence, ...]:
    """Why a merge of two texts is for a person, beside what the guards found.

    Args:
        a: One text.
        b: The other; swapping them gives the same kinds.
        found: What the guards found.
        entailment: a entails b, b entails a, by the scorer.

    >>> [each.kind for each in doubts("Is pregnant, due in May", "Gave birth to a boy in May")]
    ['event']
    """
    rules = (
        ("ending", _end(a, b)),
        ("event", _happened(a, b)),
        ("underway", _finished(a, b)),
        ("past", _was(a, b)),
        ("liking", _crosswise(a, b, _likes, _dislikes)),
        ("choice", _crosswise(a, b, _left_open, _laid_down)),
        (
            "unsaid",
            _each_tells(a, b, found, entailment)
            or _only_named(a, b)
            or _goes_on(a, b)
            or of_another(a, b)
            or _hardly_shown(a, b, entailment),
        ),
        ("place", _turned(a, b, entailment) or _clauses_turned(a, b) or misplaced(a, b)),
        ("wording", None if any(item.veto for item in found) else exchanged(a, b)),
    )
    return tuple(Evidence(kind, " / ".join(words)) for kind, words in rules if words)


def settled(a: str, b: str, entailment: Sequence[float]) -> bool:
    """Whether the order of equal words is harmless: each text entails the other, no word takes a place."""
    return min(entailment) >= BOTH_ENTAIL and not relation(a, b).displaced


def two_states(a: str, b: str, found: Sequence[Evidence], told: Told = (None, None)) -> bool:
    """Whether one thing stands at two states, of which the further one was not told first.

    A plan that is told after the deed is another plan, and "used to" before the deed is an end to neither.
    """
    kinds = {item.kind for item in found if item.veto}
    return any(step.kind in kinds and _goes_on_to(step, told) for step in steps(a, b))


def _goes_on_to(step: Step, told: Told) -> bool:
    """Whether a difference of states may be a change from what was told earlier to what was told later."""
    if _MILD.issuperset(word.lower() for word in step.words if word):
        return False
    later = _later(told)
    if not later or step.kind not in ("stage", "past"):
        return True
    ahead = step.theirs - step.mine
    return (ahead < 0 if step.kind == "past" else ahead > 0) == (later > 0)


def _later(told: Told) -> int:
    """1 where the second of two texts was told later, -1 where the first was, 0 where nobody knows."""
    first, second = told
    return 0 if first is None or second is None else (second > first) - (second < first)


def stated_conflict(a: str, b: str, found: Sequence[Evidence], told: Told = (None, None)) -> bool:
    """Whether two texts state why both cannot hold: a rival, a denial, two states of what both speak of.

    Compatible statements about one topic are the rule among what a person's memory holds.
    """
    vetoes = {item.kind for item in found if item.veto}
    if vetoes - STATES - {"progress"}:
        return True
    if any(item.kind == "negation" and _HARD.search(item.detail) for item in found):
        return True
    ahead = "progress" in vetoes and _later(told) != (-1 if is_ahead(a) else 1)
    return (ahead or two_states(a, b, found, told)) and min(relation(a, b).said) >= _ONE_THING


def hinted_conflict(a: str, b: str, found: Sequence[Evidence], told: Told = (None, None)) -> bool:
    """Whether two texts at least hint at it: opposed attitudes, a value each, a word of change in the later.

    A change, too, is the rule where a memory tells of a life: "took them out, now they rest".
    """
    if any(item.kind in _OPPOSING for item in found):
        return True
    if any(item.kind in _VALUED and "-" not in item.detail.split(" / ") for item in found):
        return True
    later = _later(told)
    return bool((later >= 0 and _CHANGE.search(b)) or (later <= 0 and _CHANGE.search(a)))


def side_by_side(a: str, b: str, found: Sequence[Evidence]) -> bool:
    """Whether both hold whatever a scorer thinks: on two platforms, or two of what one has several of.

    >>> side_by_side("User is learning Spanish", "User is learning French", [Evidence("name", "", veto=True)])
    True
    """
    kinds = {item.kind for item in found if item.veto}
    several = {match[0].lower() for match in _SEVERAL.finditer(a)}
    listed = kinds <= _OTHER_THINGS and not several.isdisjoint(
        match[0].lower() for match in _SEVERAL.finditer(b)
    )
    denied = any(item.kind == "negation" for item in found) or bool(_CHANGE.search(a) or _CHANGE.search(b))
    mine, theirs = _platforms(a), _platforms(b)
    apart = "environment" in kinds or (mine and theirs and mine.isdisjoint(theirs))
    return not denied and bool(apart or (kinds and listed))


def _platforms(text: str) -> frozenset[str]:
    """The platforms on which, or for which, something is said to hold."""
    return frozenset(match[0].lower().removeprefix("on ") for match in _PLATFORM.finditer(text))


def _was(a: str, b: str) -> tuple[str, ...]:
    """The one word in which two texts differ, where the one says that it holds and the other that it did."""
    first, second = a.lower().split(), b.lower().split()
    if len(first) != len(second):
        return ()
    differing = [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]
    return differing[0] if len(differing) == 1 and tuple(sorted(differing[0])) in _TENSES else ()


def _end(a: str, b: str) -> tuple[str, ...]:
    end = told_end(a, b)
    return (end,) if end else ()


def _happened(a: str, b: str) -> tuple[str, ...]:
    """An event that one text expects and the other tells, or two answers of `opposed`."""
    for ahead, after in (*_EVENTS, *_OPPOSED, *((after, ahead) for ahead, after in _OPPOSED)):
        for mine, theirs, turned in ((a, b, False), (b, a, True)):
            first, second = ahead.search(mine), after.search(theirs)
            if first and second and not after.search(mine) and not ahead.search(theirs):
                return (second[0], first[0]) if turned else (first[0], second[0])
    return ()


def _finished(a: str, b: str) -> tuple[str, ...]:
    """One thing under way in one text and done in the other: is migrating, migrated."""
    for mine, theirs, turned in ((a, b, False), (b, a, True)):
        begun = {stem(match[1].lower()): match[1] for match in _UNDER_WAY.all(mine)}
        done = {stem(match[1].lower()): match[1] for match in _DONE.all(theirs)}
        going_on = {stem(match[1].lower()) for match in _ING.all(theirs)}
        done_too = {stem(match[1].lower()) for match in _DONE.all(mine)}
        for word in sorted(begun.keys() - done_too):
            end = next((each for each in sorted(done.keys() - going_on) if _one_verb(word, each)), None)
            if end is not None:
                return (done[end], begun[word]) if turned else (begun[word], done[end])
    return ()


def _one_verb(word: str, other: str) -> bool:
    """Whether two stems are of one verb: writ(ing), written."""
    return word == other or (len(word) >= _ROOT and other == word + "ten")


def _crosswise(a: str, b: str, one: Reader, other: Reader) -> tuple[str, ...]:
    """The words by which one text says one thing only, and the other only the reverse."""
    mine, theirs = (one(a), other(a)), (one(b), other(b))
    for (yes, no), (yes_too, no_too), turned in ((mine, theirs, False), (theirs, mine, True)):
        if yes and no_too and not no and not yes_too:
            return (no_too, yes) if turned else (yes, no_too)
    return ()


def _likes(text: str) -> str:
    return _first(_LIKING, _DISLIKE.sub(" ", text))


def _dislikes(text: str) -> str:
    return _first(_DISLIKE, text)


def _left_open(text: str) -> str:
    return _first(_CHOICE, text)


def _laid_down(text: str) -> str:
    return _first(_RULE, _CHOICE.sub(" ", text))


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[0] if match else ""


def _each_tells(a: str, b: str, found: Sequence[Evidence], entailment: Sequence[float]) -> tuple[str, ...]:
    """Words that each text alone says, where these are a value of each, or all that both share is a name."""
    unsaid = relation(a, b).unsaid
    if not all(unsaid):
        return ()
    left = {unit.at for unit in unsaid[0]}
    shared = [unit for unit in bound(a).units if unit.at not in left and unit.key not in (PERSON, THIRD)]
    brief = max(len(text.split()) for text in (a, b)) <= BRIEF
    named = bool(shared) and all(map(_is_name, shared))
    tells = (
        max(entailment) < HARDLY_ENTAILED
        or (brief and any(map(_names_another, unsaid, (a, b), (b, a))))
        or (named and not any(_AT_HOME.issuperset(unit.key for unit in units) for units in unsaid))
        or any(
            item.kind in _VALUED and not item.veto and "-" not in item.detail.split(" / ") for item in found
        )
    )
    return tuple(", ".join(unit.text for unit in units[:_SHOWN]) for units in unsaid) if tells else ()


def _hardly_shown(a: str, b: str, entailment: Sequence[float]) -> tuple[str, ...]:
    """Words that each text alone says, where only the scorer says that the one entails the other.

    Memories of one person's days are full of near things in common words ("practises for tournaments", "is in
    a tournament"); what a reader holds on to is most of the words, or a value or name that both state.
    """
    found = relation(a, b)
    entailed = found.said[1] if entailment[0] > entailment[1] else found.said[0]
    if min(entailment) >= ENTAILS_BACK or entailed >= NEARLY_SAID or shared_values(a, b):
        return ()
    if entailed >= TIED and _same_name(a, b):
        return ()
    return tuple(", ".join(unit.text for unit in units[:_SHOWN]) or "-" for units in found.unsaid)


def _same_name(a: str, b: str) -> bool:
    """Whether both texts have a name beside those of the persons they are about."""
    mine, theirs = bound(a), bound(b)
    about = {PERSON, THIRD, mine.opening, theirs.opening}
    return any(unit.detail and unit.key in theirs.keys and unit.key not in about for unit in mine.units)


def _names_another(units: Sequence[Unit], text: str, other: str) -> bool:
    """Whether unsaid words open their text with a sure name, and the other text has a subject of its own."""
    sure = {name.text for name in extract(text).names if name.strong}
    named = any(unit.at == 0 and unit.text in sure for unit in units)
    return named and (bool(bound(other).opening) or not _SUBJECTLESS.search(other))


def _is_name(unit: Unit) -> bool:
    """Whether a word is a name: no number, in figures or in words, and no code."""
    return unit.detail and unit.text[0].isalpha() and unit.key[0].isalpha()


def _only_named(a: str, b: str) -> tuple[str, ...]:
    """A text that only gives a name, beside one that uses the name and does not say whose it is."""
    for mine, theirs in ((a, b), (b, a)):
        if _NAMING.search(mine) and not _NAME.search(theirs):
            return (mine,)
    return ()


def _goes_on(a: str, b: str) -> tuple[str, ...]:
    """A word of one text that is longer as a name in the other: viola, viola da gamba."""
    first, second = (text.rstrip(_MARKS).split() for text in (a, b))
    for mine, theirs, turned in ((first, second, False), (second, first, True)):
        more = len(theirs) - len(mine)
        at = next((i for i, (x, y) in enumerate(zip(mine, theirs, strict=False)) if x != y), len(mine))
        if 0 < more <= _NAME_GOES_ON and at and mine[at:] == theirs[at + more :] and _PART.match(theirs[at]):
            name = mine[at - 1], " ".join(theirs[at - 1 : at + more])
            return (
                ()
                if stem(name[0].lower()) in _LINKS or not name[0][-1].isalnum()
                else name[::-1]
                if turned
                else name
            )
    return ()


def _turned(a: str, b: str, entailment: Sequence[float]) -> tuple[str, ...]:
    """Names, numbers and the person in another order among words that both texts share."""
    said, entailed = min(relation(a, b).said), min(entailment)
    if said < MOSTLY_SAID or entailed >= (BOTH_ENTAIL if said >= ALIKE else HALF_ENTAILED):
        return ()
    if max(len(text.split()) for text in (a, b)) > LONG:
        return ()
    first, second = (
        [unit for unit in bound(text).units if unit.detail or unit.key == PERSON] for text in (a, b)
    )
    counts = [Counter(unit.key for unit in units) for units in (first, second)]
    mine, theirs = (
        [unit for unit in units if all(count[unit.key] == 1 for count in counts)] for units in (first, second)
    )
    for x, y in zip(mine, theirs, strict=True):
        if x.key != y.key:
            return (f"{x.text}, {y.text}",)
    return ()


def _clauses_turned(a: str, b: str) -> tuple[str, ...]:
    """A condition, cause or time of one text that is what follows from it in the other."""
    first, second = _clauses(a), _clauses(b)
    if first is None or second is None or first[0] != second[0]:
        return ()
    (_, main, under), (_, other, other_under) = first, second
    turned = len(main & other_under) + len(under & other)
    straight = len(main & other) + len(under & other_under)
    return (f"what stands behind {first[0]}",) * 2 if turned > straight else ()


def _clauses(text: str) -> tuple[str, frozenset[str], frozenset[str]] | None:
    """The only conjunction of a text, and the words of the main and of the other clause."""
    found = list(_CONJUNCTION.finditer(text))
    if len(found) != 1:
        return None
    before, behind = text[: found[0].start()], text[found[0].end() :]
    if not before.strip():
        behind, _, before = behind.partition(",")
    main, under = significant_words(before), significant_words(behind)
    return (found[0][0].lower(), main, under) if main else None
