"""The values that a text gives to attributes that have one value at a time: home, wake-up time, CI.

A value is read with its subject (the names and kin that the clause opens with) and left out where the clause
is about the past, a plan, a part of the year or a condition. "Moved from Jenkins to X" has the value X.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..text.tables import listed
from ..text.vocabulary import FRAME_WORDS
from ..text.words import fold, stem, words
from .details import Expression

_IGNORE_CASE = re.IGNORECASE
_NAME = r"(?P<v>[A-ZÀ-Þ][\w'&.-]*(?: (?:of |de |la |du )?[A-ZÀ-Þ][\w'&.-]*)*)"
_HOME = re.compile(
    r"\b(?:[Ll]ives?|[Ll]iving|[Rr]esides?|(?:is )?based|[Rr]elocated|[Mm]oved(?: house| back)?)"
    rf"(?: alone| now)? (?:in|to|from (?:[A-ZÀ-Þ][\w-]*\s?)+to) (?:the )?{_NAME}"
)
_CALENDAR = frozenset(
    listed(
        "monday tuesday wednesday thursday friday saturday sunday january february march april may june july "
        "august september october november december mondays tuesdays wednesdays thursdays fridays saturdays "
        "sundays christmas easter"
    )
)
_BOSS = re.compile(
    r"(?:\b(?:[Rr]eports? (?:directly )?to|(?:[Bb]oss|[Ll]ine manager|[Mm]anager|[Ss]upervisor)"
    rf"(?: (?:since|as of) [\w ]{{1,20}}?)?(?: is(?: now)?(?: called| named)?|:)) {_NAME})"
)
_PERSON = frozenset(
    listed(
        "the user i he she they we has have recently just now and his her my their our of also still mother "
        "mum mom father dad brother sister wife husband son daughter aunt uncle niece nephew cousin friend "
        "partner parents new current currently line is"
    )
)
_UNSETTLED = Expression(
    r"\b(?:used to|formerly|previously|no longer|not|never|until|before|once|wants? to|would|might|plans?|"
    r"planning|planned|hopes?|consider\w*|thinking|ago|former|ex|dreams?|grew up|was|were|lived|worked|if|"
    r"while|during|when|in (?:spring|summer|autumn|winter)|summers?|winters?|weekends?|sometimes|also|"
    r"(?-i:may)|could|should|"
    r"except|unless|for (?:go|python|java|rust|yaml|makefiles?)|"
    r"in (?:go|python|java|rust|yaml|makefiles?|staging|production))\b",
    _IGNORE_CASE,
)
_CLAUSE = Expression(r"[^.;!?\n]+")
_MOVED = Expression(
    r"\b(?:moved|switched|migrated|changed|went|replaced|converted|ported)\b[^.;]*?"
    r"\b(?:to|by|with) (?:the )?",
    _IGNORE_CASE,
)
_FAVOURITE = re.compile(r"\bfavou?rite (\w+(?: \w+)?)(?: is |: | = )([\w' -]{2,40})$", _IGNORE_CASE)
_LIGHT = frozenset(
    stem(word)
    for word in listed(
        "run use get move switch migrate change time happen do go set work now from done usually mostly "
        "always wake up morning at"
    )
)
_SHARED_WORDS = 0.5
_CLOSED: dict[str, tuple[str, str]] = {
    "wake-up": (
        r"gets? up|wakes?(?: up)?|wake-up|rises|alarm",
        r"\d{1,2}(?::\d\d)?(?: ?[ap]m)?(?! ?(?:min|days|hours|km|%))",
    ),
    "ci": (
        r"ci|builds?|pipelines?|jobs?",
        r"jenkins|github actions|gitlab ci|circleci|travis|buildkite|teamcity|azure pipelines|woodpecker",
    ),
    "database": (
        r"database|db|data|stored?|backend|persist\w*",
        r"postgres|postgresql|mysql|sqlite|mariadb|mongodb|cockroachdb|oracle|sql server|dynamodb|cassandra",
    ),
    "package manager": (r"packages?|dependencies|install\w*|manager", r"npm|yarn|pnpm|bun"),
    "bundler": (r"bundl\w+|builds?|built", r"webpack|vite|esbuild|rollup|parcel"),
    "editor": (
        r"editor|ide|writes|codes|edits|programs",
        r"vim|neovim|vs code|vscode|emacs|intellij|pycharm|helix|zed",
    ),
    "indentation": (r"indent\w*|tabs|spaces", r"tabs|(?:two|four|eight|2|4|8) spaces|spaces"),
    "deployment": (
        r"deploy\w*|releas\w+|rollouts?",
        r"manually|manual|by hand|automatically|automatic|automated",
    ),
    "marital status": (
        r"is|got|are|was|user|marital status|she|he",
        r"single|married|divorced|engaged|widowed",
    ),
    "theme": (r"theme|mode|editor|ui|interface", r"dark|light"),
}
_READERS = tuple(
    (
        name,
        re.compile(rf"\b(?:{cue})\b", _IGNORE_CASE),
        re.compile(rf"(?<![\w-])(?:{values})(?![\w-])", _IGNORE_CASE),
    )
    for name, (cue, values) in _CLOSED.items()
)
_ANY = re.compile(
    "|".join(
        (
            *(known for _, known in _CLOSED.values()),
            r"liv|resid|based|relocat|moved|favou?rite|boss|manager|supervisor|report",
        )
    ),
    _IGNORE_CASE,
)
_KIN = re.compile(
    r"\b(?:mother|mum|mom|father|dad|brother|sister|wife|husband|son|sons|daughter|daughters|grand\w+|aunt|uncle|niece|"
    r"nieces|nephew|cousin|friend|girlfriend|boyfriend|partner|parents?|in-law|boss|colleague|neighbou?r|child\w*|kids)\b"
)
_SAME_KIN = {"mum": "mother", "mom": "mother", "dad": "father"}
_NAMED = re.compile(r"(?<!^)(?<!^ )\b[A-ZÀ-Þ](?!\b)[\w-]+|^ ?[A-ZÀ-Þ][\w-]+(?='s | [A-ZÀ-Þ])")
_PASSIVE = re.compile(r"\b(?:was|were)\b")
_ALIKE = {
    "by hand": "manual", "manually": "manual", "automatically": "automatic", "automated": "automatic",
    "postgresql": "postgres", "vscode": "vs code", "neovim": "vim", "2 spaces": "two spaces",
    "4 spaces": "four spaces", "8 spaces": "eight spaces",
}  # fmt: skip
_HOURS = re.compile(r"(\d{1,2})(?::(\d\d))?(?: ?([ap])m)?$", _IGNORE_CASE)


@dataclass(frozen=True, slots=True)
class Value:
    """One value of an attribute."""

    attribute: str  # the attribute
    text: str  # the value as it stands in the text
    key: str  # the value in its plain form
    subject: frozenset[str]  # whose it is: names and kin before it in the clause
    closed: bool  # it is one of a closed list, so that other words of its clause count, too
    rest: frozenset[str] = frozenset()  # the stems of those words

    def about_as(self, other: Value) -> bool:
        """Whether both may be values of one thing: one attribute and subject, and mostly the same words."""
        if (self.attribute, self.subject) != (other.attribute, other.subject):
            return False
        return len(self.rest & other.rest) >= _SHARED_WORDS * min(len(self.rest), len(other.rest))

    def agrees(self, other: Value) -> bool:
        """Whether both may be the same value: equal, or one part of the other."""
        if self.closed and "spaces" not in {self.key, other.key}:
            return self.key == other.key
        return not set(self.key.split()).isdisjoint(other.key.split())


def values(text: str) -> tuple[Value, ...]:
    """Read the values of a normalised text.

    >>> [(each.attribute, each.key) for each in values("Lives in Oslo. CI was moved from Jenkins to Travis.")]
    [('home', 'oslo'), ('ci', 'travis')]
    >>> values("Used to live in Oslo"), values("Lives in Oslo in summer")
    ((), ())
    """
    if _ANY.search(text) is None:
        return ()
    assertions: list[Value] = []
    for match in _CLAUSE.all(text):
        clause = match.group()
        moved = _MOVED.search(clause)
        if _UNSETTLED.search(_PASSIVE.sub("", clause) if moved else clause):
            continue
        assertions += _homes(clause)
        assertions += _superiors(clause)
        assertions += _closed(clause, moved.end() if moved else 0)
    return tuple(dict.fromkeys(assertions))


def _homes(clause: str) -> list[Value]:
    """Where people live; no day or month is a place, and what opens a clause with a capital may be a name."""
    homes = []
    for home in _HOME.finditer(clause):
        place, before = home.group("v"), clause[: home.start()]
        spelled = list(words(before))
        if place.split()[0].lower() in _CALENDAR:
            continue
        if all(word.folded in _PERSON or word.text[0].isupper() for word in spelled):
            opening = {word.folded for word in spelled[:1] if word.folded not in _PERSON}
            homes.append(Value("home", place, fold(place), _subject(before) | opening, closed=False))
    return homes


def _superiors(clause: str) -> list[Value]:
    return [
        Value("boss", match["v"], fold(match["v"]), frozenset(), closed=False)
        for match in _BOSS.finditer(clause)
        if all(word.folded in _PERSON for word in words(clause[: match.start()]))
    ]


def _closed(clause: str, start: int) -> list[Value]:
    closed = []
    for name, cue, known in _READERS:
        match = known.search(clause, start) if cue.search(clause) else None
        if match is not None:
            subject = _subject(known.sub(" ", clause[: match.start()]))
            rest = _stems(cue.sub(" ", known.sub(" ", clause))) - _LIGHT
            closed.append(
                Value(name, match.group(), _key(fold(match.group())), subject, closed=True, rest=rest)
            )
    favourite = _FAVOURITE.search(clause)
    if favourite is not None:
        name, value = (part.strip().lower() for part in favourite.groups())
        subject = _subject(clause[: favourite.start()])
        closed.append(
            Value(f"favourite {name}", favourite.group(2).strip(), fold(value), subject, closed=False)
        )
    return closed


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word.folded) for word in words(text) if word.folded not in FRAME_WORDS)


def _subject(before: str) -> frozenset[str]:
    kin = {_SAME_KIN.get(match.group(), match.group()) for match in _KIN.finditer(before.lower())}
    return frozenset(kin | {fold(match.group()).removesuffix("'s") for match in _NAMED.finditer(before)})


def _key(value: str) -> str:
    hours = _HOURS.match(value)
    if hours is None:
        return _ALIKE.get(value, value)
    late = 12 * 60 if hours.group(3) == "p" else 0
    return str(int(hours.group(1)) * 60 + int(hours.group(2) or 0) + late)
