"""Whose fact it is: whom a statement is about, given what the store says of names.

The user is who says "I", whom a text calls the user, and whoever bears a name that the store gives to the
user and to nobody else. Everybody else is another: relatives, colleagues, pets, customers, the assistant.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from ..records import Evidence
from .facts.names import same_name
from .own_name import as_user, name_in, only_own
from .places import bound
from .same_statement import bare
from .subject import (
    ASSISTANTS,
    BEINGS,
    BODIES,
    LONGEST_READ,
    Subject,
    Told,
    Who,
    all_words,
    singular,
    told_of,
)
from .text.tables import pattern, table_lines, table_set
from .text.vocabulary import synonyms
from .text.words import CACHED_TEXTS, STOP_WORDS, fold, significant_words, stem

WHOSE = "whose"  # the kind of evidence
_MOSTLY = 0.6  # share of the words of a note and of what is said of another, from which it may be about them
_GIVES = re.compile(r"(?i)name|called|known as|goe?s? by|addressed as|introduce")
_NO_NAMES = BEINGS | STOP_WORDS | {"", "user", "the user"}
_BODY = "company"
_HEADED = frozenset(("founded", "cofounded", "owns", "runs", "work", "works", "employed", "joined", "of"))
_PROFESSIONS = table_set("names", "professions")
_OF_PRONOUN = {"she": table_set("names", "men"), "he": table_set("names", "women")}
"""What nobody is of whom it is said."""
_KIN = [frozenset(line.split()) for line in table_lines("names", "one_being")]


@dataclass(frozen=True, slots=True)
class Names:
    """What a store says of names, for one scope."""

    own: tuple[str, ...] = ()  # the user's, longest first, which are nobody else's
    shared: tuple[str, ...] = ()  # the user's, perhaps, or somebody else's
    others: Mapping[str, frozenset[str]] = field(default_factory=dict, hash=False)  # folded -> what they are
    claims: frozenset[frozenset[str]] = frozenset()  # what is said of others, by the significant words
    agent: bool = False  # an agent may be the one of whom notes tell

    @property
    def told(self) -> tuple[object, ...]:
        """The same in one order, for the key of what follows from it."""
        others = sorted((name, *sorted(of)) for name, of in self.others.items())
        return self.own, self.shared, others, sorted(map(sorted, self.claims)), self.agent

    def read(self, text: str) -> str:
        """The text with "the user" in the place of the user's own names."""
        for name in self.own:
            text = as_user(text, name)
        return text

    def roles(self, name: Iterable[str]) -> frozenset[str]:
        """What the store says somebody is, by the whole name or a part of it."""
        words = tuple(name)
        return frozenset().union(*(self.others.get(each, ()) for each in {" ".join(words), *words}))

    def meant_by(self, pronoun: str) -> bool:
        """Whether a pronoun may mean somebody known who is not the user."""
        key = {"her": "she", "his": "he"}.get(pronoun, pronoun)
        never = _OF_PRONOUN.get(key, frozenset()) | BODIES
        return any(not roles <= never for roles in self.others.values())

    def elsewhere(self, note: str) -> bool:
        """Whether something points from a note without subject to somebody who is not the user."""
        if self.agent:
            return True
        said = significant_words(note)
        return any(len(said & claim) >= _MOSTLY * len(said | claim) for claim in self.claims)

    def note_or_user(self, text: str) -> tuple[str, ...]:
        """Who opens a text, for grouping, where a note that opens with its verb may be about another."""
        if not (self.agent or self.claims):
            return ()
        who = told_of(text)[0].subject.who
        return (who.name,) if who in (Who.USER, Who.NOTE) else ()


NOBODY = Names()


def names_of(identity: str, texts: Collection[str], *, agents: Collection[str] = ()) -> Names:
    """What the texts of one scope say of names; the identity is the id of its user, beside those of agents.

    A name that the texts give to the user counts before that of the id, and neither where it may be somebody
    else's: then a person decides.
    """
    given = _of_id(identity)
    told = (_own_names(text, agent=bool(agents)) for text in texts if _GIVES.search(text))
    stated = list(dict.fromkeys(name for names in told for name in names))
    others: dict[str, set[str]] = {fold(name): {"assistant"} for name in map(name_in, agents) if name}
    for text in texts:
        for name, being in _introduced(text):
            others.setdefault(name, set()).add(being)
    fitting = [name for name in given if not stated or any(_fits(name, each) for each in stated)]
    firsts = [name.split()[0] for name in stated if " " in name]
    known = list(dict.fromkeys((*stated, *firsts, *fitting)))
    whole = [name for name in known if " " in name and only_own(name, texts)]
    rest = [Names(tuple(whole)).read(text) for text in texts] if whole else texts
    own = [name for name in known if fold(name) not in others and (name in whole or only_own(name, rest))]
    shared = {*known, *given} - {*own}
    claims = {claim for text in texts for claim in _claimed(text, frozenset(others))} if others else set()
    return Names(
        tuple(sorted(own, key=lambda name: (-len(name), name))),
        tuple(sorted(shared)),
        {name: frozenset(of) for name, of in others.items()},
        frozenset(claims),
        bool(agents),
    )


def _claimed(text: str, others: frozenset[str]) -> Iterator[frozenset[str]]:
    """What a text says of somebody known, without the name."""
    if others.isdisjoint(all_words(text)):
        return
    for clause in told_of(text):
        said = clause.words - set(map(stem, clause.subject.words))
        if clause.subject.who in (Who.OTHER, Who.THING) and clause.subject.name and len(said) > 1:
            yield said


def _of_id(identity: str) -> list[str]:
    """The names in an id: the first name, and the whole one before it."""
    first = name_in(identity)
    parts = pattern("plain_part").findall(identity.partition("@")[0])
    whole = " ".join(part.capitalize() for part in parts)
    named = len(parts) > 1 and all(part.isalpha() and len(part) > 1 for part in parts)
    return [] if not first else [whole, first] if named else [first]


def _fits(name: str, stated: str) -> bool:
    """Whether the name of an id is one of a stated name, or short for it."""
    parts = [fold(part) for part in stated.split()]
    return all(any(same_name(fold(part), other) for other in parts) for part in name.split())


@lru_cache(maxsize=CACHED_TEXTS)
def _own_names(text: str, *, agent: bool) -> tuple[str, ...]:
    said = pattern("name_given").match(bare(text[:LONGEST_READ]))
    if said is None or (agent and not said["user"]):
        return ()
    return (said["name"],)


@lru_cache(maxsize=CACHED_TEXTS)
def _introduced(text: str) -> tuple[tuple[str, str], ...]:
    """(name, what they are) of those of whom a text says so: "Max is the user's son", "her brother Piet"."""
    words = {word.lower() for word in pattern("letters").findall(text)}
    plain, found = bare(text[:LONGEST_READ]), list[tuple[str, str]]()
    if not words.isdisjoint(_HEADED):
        found += [(fold(match["names"]), _BODY) for match in pattern("introduces_body").finditer(plain)]
    for key in ("is_introduced", "introduces", "is_apposed") if not words.isdisjoint(_PLURALS) else ():
        for match in pattern(key).finditer(plain):
            being = singular(match["being"].lower())
            front = match[0] if key == "is_apposed" else plain[: match.start()]
            owned = key == "is_introduced" or pattern("owner").search(front)
            if being in _PROFESSIONS and not owned:
                continue  # "a student at NUM"
            listed = pattern("between_names").split(match["names"])
            found += [(name, being) for name in map(fold, listed) if name not in _NO_NAMES]
    return tuple(dict.fromkeys(found))


_PLURALS = BEINGS | {f"{word}s" for word in BEINGS} | {"children"}


def whose(a: str, b: str, names: Names = NOBODY) -> Evidence | None:
    """Why two texts are not (a veto), or may not be, about the same one; None where nothing says so.

    >>> whose("User has a peanut allergy.", "Max has a peanut allergy.")
    Evidence(kind='whose', detail='the user / Max', veto=True)
    """
    if b < a:
        found = whose(b, a, names)
        return found and Evidence(WHOSE, " / ".join(found.detail.split(" / ")[::-1]), veto=found.veto)
    pairs = list(_facing(told_of(a), told_of(b)))
    apart = [each for mine, theirs in pairs if (each := _apart(mine, theirs, names))]
    if not apart:
        return _slot(a, b, names)
    both = any(_takes_part(*pair, a, b, names) or _takes_part(*pair[::-1], b, a, names) for pair in pairs)
    sure = len(apart) == len(pairs) and all(each.veto for each in apart) and not both
    first = next((each for each in apart if each.veto), apart[0])
    return first if sure or not first.veto else Evidence(WHOSE, first.detail)


def _takes_part(mine: Told, theirs: Told, text: str, other: str, names: Names) -> bool:
    """Whether a text about another speaks of the user, too, or the text about the user of that other one."""
    if mine.subject.who is not Who.OTHER or theirs.subject.who is Who.OTHER:
        return False
    user = bound(text).person or any(all_words(text) >= {*map(fold, own.split())} for own in names.own)
    return user or _mentions(other, mine.subject)


def _facing(mine: tuple[Told, ...], theirs: tuple[Told, ...]) -> Iterator[tuple[Told, Told]]:
    """Each clause of the shorter text beside the one of the other that shares most of its words."""
    turned = len(mine) > len(theirs)
    short, long = (theirs, mine) if turned else (mine, theirs)
    for clause in short:
        best = max(long, key=lambda other: len(clause.words & other.words))
        if clause.words & best.words or len(short) == len(long) == 1:
            yield (best, clause) if turned else (clause, best)


def _apart(a: Told, b: Told, names: Names) -> Evidence | None:
    mine, theirs = (_resolved(each.subject, names) for each in (a, b))
    two = _two(mine, theirs, a, b, names)
    return None if two is False else Evidence(WHOSE, f"{mine.shown} / {theirs.shown}", veto=bool(two))


def _resolved(subject: Subject, names: Names) -> Subject:
    own = {" ".join(map(fold, name.split())) for name in names.own}
    is_user = subject.who is Who.OTHER and not subject.being and " ".join(subject.name) in own
    return Subject(Who.USER, shown="the user") if is_user else subject


def _two(mine: Subject, theirs: Subject, a: Told, b: Told, names: Names) -> bool | None:
    """Whether two clauses are about two; None where a person must say."""
    kinds = {mine.who, theirs.who}
    if Who.UNREAD in kinds or (len(kinds) == 1 and Who.OTHER not in kinds):
        return False
    if kinds == {Who.OTHER}:
        return _others(mine, theirs, a, b, names)
    if kinds == {Who.USER, Who.NOTE}:
        note = a if mine.who is Who.NOTE else b
        return None if names.elsewhere(note.text) else False
    if Who.SOMEBODY in kinds:
        word = (mine if mine.who is Who.SOMEBODY else theirs).shown.lower()
        known = Who.OTHER in kinds or (names.meant_by(word) and Who.THING not in kinds)
        return None if known else False
    other, clause = (mine, b) if mine.who in (Who.OTHER, Who.THING) else (theirs, a)
    if other.being in BODIES and not other.name and pattern("the_users").match(other.shown):
        return None
    return False if _mentions(clause.text, other) else _not_user(other, clause.subject.who, names)


def _not_user(other: Subject, who: Who, names: Names) -> bool | None:
    """The same of another beside the user, or a note that names nobody."""
    if other.who is Who.THING and who is not Who.USER:
        return False
    maybe = (
        (other.who is Who.THING and not names.roles(other.name))
        or (names.agent and who is Who.NOTE)
        or bool(names.roles(other.name) & BODIES)
        or any(_may_be(other.name, own) for own in (*names.shared, *names.own))
    )
    return None if maybe else True


def _may_be(name: tuple[str, ...], own: str) -> bool:
    """Whether a name may be that of the user, of which one says more: Max, Max Weber."""
    mine, theirs = set(name), {fold(part) for part in own.split()}
    return bool(mine) and (mine <= theirs or theirs <= mine)


def _others(mine: Subject, theirs: Subject, a: Told, b: Told, names: Names) -> bool | None:
    """Whether two who are not the user are two; None where a person must say."""
    if mine.name and theirs.name:
        return _other_name(mine, theirs, a, b, names)
    if mine.being and theirs.being and not (mine.name or theirs.name):
        if mine.being == theirs.being or _one_being(mine.being, theirs.being):
            return False
        return None
    named, plain, clause, its = (mine, theirs, b, a) if mine.name else (theirs, mine, a, b)
    if _mentions(clause.text, named) or _mentions(its.text, plain):
        return False
    roles = {named.being} if named.being else names.roles(named.name)
    if not roles:
        return None
    return not any(role == plain.being or _one_being(role, plain.being) for role in roles)


def _other_name(mine: Subject, theirs: Subject, a: Told, b: Told, names: Names) -> bool | None:
    first, second = frozenset(mine.name), frozenset(theirs.name)
    if first == second or (len(first) == len(second) == 1 and same_name(*first, *second)):
        roles = names.roles(mine.name) | {mine.being, theirs.being} - {""}
        two = any(not _one_being(x, y) for x in roles for y in roles if x < y)
        return None if two else False
    if first <= second or second <= first:
        given = [names.others.get(" ".join(each.name), frozenset()) for each in (mine, theirs)]
        return True if all(given) and not any(_one_being(x, y) for x in given[0] for y in given[1]) else None
    if first & second:
        return True
    if _mentions(a.text, theirs) or _mentions(b.text, mine):
        return False
    if any(pattern("tells_who").search(each.text) for each in (a, b)):
        return False
    known = all(each.being or names.roles(each.name) for each in (mine, theirs))
    return True if known else None


def _one_being(a: str, b: str) -> bool:
    return a == b or synonyms(a, b) or any(a in line and b in line for line in _KIN)


def _mentions(text: str, other: Subject) -> bool:
    words = all_words(text)
    if other.being and not other.name:
        return any(
            _one_being(other.being, singular(word)) for word in words if singular(word) in BEINGS | ASSISTANTS
        )
    if other.who is Who.THING and not {*map(stem, other.name)}.isdisjoint(map(stem, words)):
        return True
    return any(word in words or any(same_name(word, each) for each in words) for word in other.name)


def _slot(a: str, b: str, names: Names) -> Evidence | None:
    """The user in one text, and somebody else in the other: a doubt wherever in a sentence they stand."""
    words = all_words(a), all_words(b)
    for name in names.shared:
        mine, theirs = (set(map(fold, name.split())) <= said for said in words)
        if mine is not theirs:
            return Evidence(WHOSE, f"{name if mine else '-'} / {name if theirs else '-'}")
    users = [bound(names.read(text)).person for text in (a, b)] if names.others else [True, True]
    if users[0] is users[1]:
        return None
    at = int(users[0])  # the text without the user
    only = (words[at] & names.others.keys()) - words[1 - at]
    if not only or told_of((a, b)[at])[0].subject.who not in (Who.UNREAD, Who.THING):
        return None
    shown = ", ".join(sorted(only))
    return Evidence(WHOSE, f"the user / {shown}" if at else f"{shown} / the user")
