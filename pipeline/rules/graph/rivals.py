"""Which observations of one subject cannot both hold: rival values, denials, and changes that were stated.

The observations of an entity are by nature many facts side by side, so nothing here asks how alike two of
them sound. A pair is reported only if both give a different value to one attribute that has a single one,
if one denies what the other affirms in the same words, or if one says that something was replaced which
the other still claims. What is a list ("Port 3001", "Port 3002", "Port 3003"), a log (two dates), a task and
its completion, or an addition ("supports A", "supports B") is none of these.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ....models.words import significant_words, stem
from ....records import Evidence
from .rival_words import (
    ADDITIVE,
    ARTICLES,
    CHANGED,
    CLAIMS,
    DATED,
    DONE,
    DROPPED,
    HEADS,
    INTENDED,
    KEYED,
    NEGATOR,
    NUMBER,
    NUMBERED,
    OPEN,
    OPPOSED,
    OPPOSITES,
    PROGRESS,
    SINGLE,
    TASK,
    WISH,
    WORDS,
)

_ENOUGH = 2
"""Significant words that a sentence must hold beside its value, so that there is something it is about."""

_LONGEST_KEY, _LONGEST_VALUE, _LONGEST_SENTENCE = 4, 6, 12
"""Words of a key, of its value, and of a sentence whose number may be a value."""

_REMARK = re.compile(r"\s[-–—]\s|[(;,]")
"""Where a value ends and a remark about it begins."""

_SAME_SHARE = 0.75
"""Share of common words from which a denial is about the same; below it the subject may be another."""


@dataclass(frozen=True, slots=True)
class Rivals:
    """Two observations by their places, the older first, and why they cannot both hold."""

    older: int
    newer: int
    why: Evidence


@dataclass(frozen=True, slots=True)
class _Value:
    place: int
    said: str
    key: str


def rivals(texts: Sequence[str], *, attributes: bool = True) -> tuple[Rivals, ...]:
    """All pairs of observations of one subject that cannot both hold.

    Args:
        texts: In the order in which they were stated.
        attributes: Their subject is the same; if it may be another, only sentences that say the opposite
            of each other in the same words are compared.

    >>> [(found.older, found.newer) for found in rivals(["API port: 3000", "Uses Express", "API port: 8080"])]
    [(0, 2)]
    """
    reasons: dict[tuple[int, int], Evidence] = {}
    sources = [_denials(texts), _opposites(texts)]
    if attributes:
        sources += [_attributes(texts), _changes(texts), _completions(texts)]
    for source in sources:
        for older, newer, why in source:
            if not _is_log(texts[older], texts[newer]):
                reasons.setdefault((min(older, newer), max(older, newer)), why)
    return tuple(Rivals(a, b, why) for (a, b), why in sorted(reasons.items()))


def _attributes(texts: Sequence[str]) -> Iterator[tuple[int, int, Evidence]]:
    """Different values of one attribute; of a longer row of values only what moves on is no list."""
    groups: dict[tuple[str, ...], list[_Value]] = defaultdict(list)
    for place, text in enumerate(texts):
        for key, said in _values(text):
            groups[key].append(_Value(place, said, _wording(said)))
    for key, values in groups.items():
        distinct = {value.key for value in values}
        moves = key[-1] in PROGRESS
        if len(distinct) < _ENOUGH or (len(distinct) > _ENOUGH and not moves):
            continue
        last = values[-1]
        for value in values[:-1]:
            if not _refines(value.key, last.key) and value.key != last.key:
                why = f"{' '.join(key[1:])}: {value.said} / {last.said}"
                yield value.place, last.place, Evidence("attribute", why, veto=True)


def _values(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Attributes of a text with the values that it gives them."""
    flat = " ".join(text.split())
    keyed = KEYED.match(flat)
    if keyed:
        name = [word for word in _words(keyed[1]) if word not in ARTICLES]
        said = _REMARK.split(keyed[2], maxsplit=1)[0].strip(" .*`\"'")
        if name and len(name) <= _LONGEST_KEY and name[-1] in HEADS and len(said.split()) <= _LONGEST_VALUE:
            yield ("key", *name), said
        return
    if OPEN.search(flat):
        return
    single = SINGLE.match(flat)
    if single:
        yield ("sentence", *_words(single[1])), single[2].strip(" `\"'")
        return
    yield from _numbered(flat)


def _numbered(flat: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The one number of a sentence, with the rest of it as the attribute."""
    words = _words(flat)
    places = [place for place, word in enumerate(words) if NUMBER.match(word)]
    if len(places) != 1 or len(words) > _LONGEST_SENTENCE:
        return
    (place,) = places
    beside = {*words[max(0, place - 2) : place], *words[place + 1 : place + 2]}
    rest = [*words[:place], "#", *words[place + 1 :]]
    if beside & NUMBERED and len(rest) > 1 + (place == 0) and not ADDITIVE.search(flat):
        yield ("number", *rest), words[place]


def _denials(texts: Sequence[str]) -> Iterator[tuple[int, int, Evidence]]:
    """One denies, in the same words, what the other affirms."""
    plain = list(texts)
    denying = [place for place, text in enumerate(plain) if len(NEGATOR.findall(text)) == 1]
    if not denying:
        return
    said = [_content(text) for text in plain]
    denied = set(denying)
    for place in denying:
        mine = _content(NEGATOR.sub(" ", plain[place]))
        cue = NEGATOR.search(plain[place])
        if len(mine) < _ENOUGH or cue is None or OPEN.search(NEGATOR.sub(" ", plain[place])):
            continue
        for other, theirs in enumerate(said):
            if other in denied or len(theirs) < _ENOUGH or NEGATOR.search(plain[other]):
                continue
            shared = len(mine & theirs) / max(len(mine), len(theirs))
            if shared >= _SAME_SHARE and not OPEN.search(plain[other]) and not _numbers_differ(mine, theirs):
                why = Evidence("negation", f"{cue[0]} / -", veto=True)
                yield min(place, other), max(place, other), why


def _opposites(texts: Sequence[str]) -> Iterator[tuple[int, int, Evidence]]:
    """Equal sentences but for one word and its opposite."""
    frames: dict[tuple[str, ...], list[tuple[int, str]]] = defaultdict(list)
    for place, text in enumerate(texts):
        words = _words(" ".join(text.split()))
        rest = [word for word in words if word not in ARTICLES]
        spots = [spot for spot, word in enumerate(rest) if word in OPPOSED]
        if len(spots) > _ENOUGH or ADDITIVE.search(text) or OPEN.search(text):
            continue
        for spot in spots:
            for pair in (each for each in OPPOSITES if rest[spot] in each):
                frame = (*rest[:spot], "/".join(sorted(pair)), *rest[spot + 1 :])
                frames[frame].append((place, rest[spot]))
    for frame, held in frames.items():
        if len({word for _, word in held}) > 1 and len(frame) > 1:
            last = held[-1]
            for place, word in held[:-1]:
                if word != last[1]:
                    yield place, last[0], Evidence("opposite", f"{word} / {last[1]}", veto=True)


def _changes(texts: Sequence[str]) -> Iterator[tuple[int, int, Evidence]]:
    """One says that something was replaced or given up, another still claims it."""
    for place, text in enumerate(texts):
        flat = " ".join(text.split())
        for old, new in _replaced(flat):
            claim = re.compile(
                rf"(?:\b{CLAIMS} (?:\w+ ){{0,2}}?|^[\w ]{{2,40}}: [\"'`]?){re.escape(old)}(?![\w-])",
                re.IGNORECASE,
            )
            for other, theirs in enumerate(texts):
                if other == place or not claim.search(theirs) or OPEN.search(theirs):
                    continue
                if NEGATOR.search(theirs) or (new and re.search(re.escape(new), theirs, re.IGNORECASE)):
                    continue
                why = Evidence("change", f"{old} -> {new or '-'}", veto=True)
                yield min(place, other), max(place, other), why


def _completions(texts: Sequence[str]) -> Iterator[tuple[int, int, Evidence]]:
    """One says what is still to be done, another that it was done."""
    done = [(place, _content(text)) for place, text in enumerate(texts) if DONE.search(text)]
    for place, text in enumerate(texts):
        task = TASK.search(text) or WISH.search(text)
        mine = _content(TASK.sub(" ", text)) if task else frozenset()
        if task is None or len(mine) < _ENOUGH:
            continue
        for other, theirs in done:
            shared = len(mine & theirs) / max(len(mine), len(theirs))
            if (
                other == place
                or shared < _SAME_SHARE
                or TASK.search(texts[other])
                or WISH.search(texts[other])
            ):
                continue
            yield (
                min(place, other),
                max(place, other),
                Evidence("done", f"{task[0].strip()} / done", veto=True),
            )


def _replaced(flat: str) -> Iterator[tuple[str, str]]:
    """What a text says was replaced, and by what; nothing for plans and possibilities."""
    if INTENDED.search(flat):
        return
    for form in CHANGED:
        match = form.search(flat)
        if match and _is_name(match[1]) and match[1].casefold() != match[2].casefold():
            yield match[1], match[2]
    match = DROPPED.search(flat)
    if match and _is_name(match[1]):
        yield match[1], ""


def _is_name(thing: str) -> bool:
    """Whether words name one thing: a capital, a digit, or a sign inside a word."""
    return any(char.isupper() or char.isdigit() for char in thing) or any(c in thing for c in "._/-#@")


def _is_log(a: str, b: str) -> bool:
    """Whether two texts are dated differently: then each held at its time."""
    first, second = set(DATED.findall(a)), set(DATED.findall(b))
    return bool(first or second) and first != second


def _refines(a: str, b: str) -> bool:
    """Whether one value only says more than the other."""
    first, second = set(_words(a)), set(_words(b))
    return not first or not second or first <= second or second <= first


def _numbers_differ(a: frozenset[str], b: frozenset[str]) -> bool:
    return {word for word in a if word[:1].isdigit()} != {word for word in b if word[:1].isdigit()}


def _wording(said: str) -> str:
    return " ".join(_words(said))


@lru_cache(maxsize=65_536)
def _words(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in WORDS.findall(text))


@lru_cache(maxsize=65_536)
def _content(text: str) -> frozenset[str]:
    return significant_words(text) - {stem("does"), stem("use"), stem("uses")}
