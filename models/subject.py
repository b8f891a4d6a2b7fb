"""Whom each clause of a text opens with: the user, another, nobody, or what cannot be told.

Nothing is concluded from a sentence that does not plainly open with the one it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from .facts import extract
from .places import VERBS
from .same_statement import bare
from .text.statements import clauses, sentences
from .text.tables import pattern, table_set
from .text.vocabulary import common, is_word, known_names
from .text.words import CACHED_TEXTS, STOP_WORDS, fold, significant_words, stem

LONGEST_READ = 2_000  # characters
BEINGS = table_set("names", "related", "groups")
BODIES = table_set("names", "groups")
ASSISTANTS = table_set("names", "assistants")
_TOOLS = table_set("names", "tools")
_JOINTS = frozenset(("", "and"))


class Who(Enum):
    """Whom a clause opens with."""

    USER = "the user"
    NOTE = "nobody"  # it opens with its verb
    SOMEBODY = "she or he"
    OTHER = "another"  # a name, or a being or body that is the user's or somebody's
    THING = "a thing"  # a word that may be one
    UNREAD = "unread"


class Subject(NamedTuple):
    """Whom a clause is about, as it says: the words of a name, and what the one is (son, dog, team)."""

    who: Who
    name: tuple[str, ...] = ()
    being: str = ""
    shown: str = ""

    @property
    def words(self) -> frozenset[str]:
        """What names the one in another text."""
        return frozenset((*self.name, self.being)) - {""}


NO_SUBJECT = Subject(Who.UNREAD)


class Told(NamedTuple):
    """A clause, with whom it is about."""

    text: str
    subject: Subject
    words: frozenset[str]  # significant ones


def below(headings: Iterable[str], text: str) -> str:
    """A text as it stands below headings, which say whom it is about where the text does not."""
    lines = [f"{'#' * level} {heading}\n" for level, heading in enumerate(headings, 1) if heading]
    return "".join((*lines, text))


def keeps_subjects(draft: str, sources: Iterable[str]) -> bool:
    """Whether each clause of a drafted text is about the one that it is about where it comes from.

    >>> keeps_subjects("Max has a cat. Likes tea.", ["Max has a cat.", "Likes tea. Has a cat."])
    False
    """
    own = {(told.text, told.subject) for source in sources for told in told_of(source)}
    known = {text for text, _ in own}
    return all(told.text not in known or (told.text, told.subject) in own for told in told_of(draft))


def of_another(text: str) -> bool:
    """Whether a text opens with somebody who is not called the user."""
    return told_of(text)[0].subject.who is Who.OTHER


@lru_cache(maxsize=CACHED_TEXTS)
def told_of(text: str) -> tuple[Told, ...]:
    """The clauses of a text, each with the one whom it is about: at least one."""
    said: list[Told] = []
    for above, section in _sections(text[:LONGEST_READ]):
        clauses_of = (clause for sentence in sentences(bare(section)) for clause in clauses(sentence))
        for part in (part for clause in clauses_of for part in _parts(clause)):
            subject = _subject(part)
            if subject.who is Who.SOMEBODY and said:
                subject = _meant(said[-1]) or subject
            elif subject.who is Who.NOTE and said and said[-1].subject.who is Who.OTHER:
                subject = said[-1].subject  # "Dad was a sailor. Sailed for 30 years."
            open_to = above.who is not Who.UNREAD and subject.who in (Who.NOTE, Who.UNREAD)
            said.append(Told(part, above if open_to else subject, significant_words(part)))
    return tuple(said) or (Told(text, NO_SUBJECT, frozenset()),)


def _meant(before: Told) -> Subject | None:
    """Whom "she" means behind a clause: the one that it is about, where it names nobody else."""
    subject = before.subject
    others = [word for word in map(singular, all_words(before.text)) if word in BEINGS]
    if subject.being in BODIES:
        return Subject(Who.USER, shown="the user")
    alone = others == [subject.being] if subject.being else not others
    return subject if alone and subject.who in (Who.USER, Who.OTHER) else None


def _sections(text: str) -> Iterator[tuple[Subject, str]]:
    """The parts of a text, each with the one whom the nearest heading above it names that names anyone."""
    above, start = dict[int, Subject](), 0
    for match in pattern("heading_line").finditer(text):
        if text[start : match.start()].strip():
            yield _nearest(above), text[start : match.start()]
        level, start = len(match[1]), match.end()
        above = {each: named for each, named in above.items() if each < level} | {level: _headed(match[2])}
    yield _nearest(above), text[start:]


def _nearest(above: Mapping[int, Subject]) -> Subject:
    return next(
        (named for _, named in sorted(above.items(), reverse=True) if named != NO_SUBJECT), NO_SUBJECT
    )


@lru_cache(maxsize=CACHED_TEXTS)
def _headed(heading: str) -> Subject:
    """Whom a heading names: "About the user", "Max (son)", "max"."""
    name = pattern("of_heading").sub("", heading).strip()
    name = name.title() if name.islower() else name
    subject = _subject(f"{name} is")
    topic = not subject.name and " " not in name and subject.being not in ASSISTANTS  # "Family", "Team"
    another = subject.who is Who.OTHER and not topic and _TOOLS.isdisjoint(subject.name)
    return subject if another or subject.who is Who.USER else NO_SUBJECT


def _parts(clause: str) -> list[str]:
    """The clause, cut where a new one says whom it is about: "Max and Lena are ill" is one."""
    parts: list[str] = []
    start = 0
    for cut in pattern("new_subject").finditer(clause):
        if pattern("says_something").search(clause, start, cut.start()):
            parts.append(clause[start : cut.start()].strip())
            start = cut.end()
    return [part for part in (*parts, clause[start:].strip()) if part]


def _subject(clause: str) -> Subject:
    """Whom a clause opens with, behind a time or place in front."""
    text = clause.strip(" \"'*-–,;")
    if front := pattern("in_front").match(text):
        text = text[front.end() :]
    if pattern("says_to_do").match(text) or pattern("of_nobody").match(text):
        return NO_SUBJECT
    opened = ((match, read) for key, read in _OPENINGS if (match := pattern(key).match(text)))
    subject = next((found for match, read in opened if (found := read(match, text))), NO_SUBJECT)
    vague = subject.who in (Who.NOTE, Who.THING) and pattern("label_in_front").match(text)
    return NO_SUBJECT if vague else subject


def _owned(match: re.Match[str], text: str) -> Subject:
    being = singular(match["being"].lower())
    said = pattern("introduces").match(text, match.start("being"))
    if said and not match["name"] and not text[said.end() :].strip(" .!"):
        return Subject(Who.USER, shown="the user")  # "Her line manager is Declan" tells who the user's is
    name = tuple(map(fold, pattern("letters").findall(match["name"] or "")))
    name += tuple(re.findall(r"\d+", match["name"] or ""))
    return Subject(Who.OTHER, name, being, match["shown"])


def _assistant(match: re.Match[str], _: str) -> Subject:
    return Subject(Who.OTHER, (), "assistant", match[0].strip())


def _name(match: re.Match[str], text: str) -> Subject | None:
    opening = match["name"]
    first = opening.split()[0]
    named = extract(text).names
    known = match["verb"] is not None and not (common(fold(first)) or fold(first) in STOP_WORDS)
    known |= any(name.opens and name.text.removesuffix("'s") == first for name in named)
    parts = tuple(fold(part) for part in re.split(r"[\s-]+", opening) if fold(part) not in _JOINTS)
    does = pattern("surely_does").match(text, match.end("name"))
    acts = does is not None and (not does["verb"] or stem(does["verb"]) in VERBS)
    plain = not acts and len(parts) == 1 and is_word(parts[0]) and parts[0] not in known_names()
    plain |= 2 * sum(map(str.isupper, opening)) >= len(opening)  # "MoE", "API"
    if match["title"] or (known and not plain):
        return Subject(Who.OTHER, parts, "", opening)
    thing = len(parts) == 1 and match["verb"] is not None and not _may_act(first)
    return Subject(Who.THING, parts, "", opening) if thing else None


def _may_act(word: str) -> bool:
    """Whether a word that opens a text may be its verb, or tell how or when."""
    folded = fold(word)
    return folded in STOP_WORDS or folded.endswith(("s", "ed", "ly", "ing")) or stem(folded) in VERBS


_OPENINGS = (
    ("opens_with_assistant", _assistant),
    ("opens_with_being", _owned),
    ("opens_with_user", lambda *_: Subject(Who.USER, shown="the user")),
    ("opens_with_somebody", lambda match, _: Subject(Who.SOMEBODY, shown=match[0].strip())),
    ("opens_with_name", _name),
    ("subjectless", lambda *_: Subject(Who.NOTE, shown="-")),
)


def singular(word: str) -> str:
    """A being as one: "sons" is "son"."""
    if word == "children":
        return "child"
    return word if word in BEINGS else word.removesuffix("s") if word.removesuffix("s") in BEINGS else word


@lru_cache(maxsize=CACHED_TEXTS)
def all_words(text: str) -> frozenset[str]:
    """The folded words of a text, without possessive endings."""
    return frozenset(fold(word).removesuffix("'s") for word in pattern("plain_part").findall(text))
