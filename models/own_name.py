"""The name of the person whose memories these are: "Ines wants tea" among the memories of the user `ines`.

The name is read only where it surely stands for that person. As soon as one memory may give it to somebody
else ("Met Ines at work"), it is read nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from .places import bound
from .text.tables import pattern, spelled_out, table_set
from .text.vocabulary import common
from .text.words import CACHED_TEXTS

_SHORTEST = 3  # letters
_USER_ACTS = ("subjectless", "user_does")  # what tells of the user without saying so


def name_in(identity: str) -> str:
    """The first name in the id of a user, with a capital; empty where it is none, or another word as well.

    >>> name_in("ines"), name_in("tomasz.nowak@example.com"), name_in("user_17"), name_in("mark")
    ('Ines', 'Tomasz', '', '')
    """
    match = pattern("name_of_user").fullmatch(identity)
    name = match[1].lower() if match else ""
    also_word = name in table_set("vocabulary", "words") or name in table_set("names", "also_words")
    return "" if len(name) < _SHORTEST or also_word or common(name) else name.capitalize()


def only_own(name: str, texts: Iterable[str]) -> bool:
    """Whether none of the texts, all of one person's memories, may give the name to somebody else."""
    return not any(name.lower() in text.lower() and _of_another(text, name) for text in texts)


@lru_cache(maxsize=CACHED_TEXTS)
def as_user(text: str, name: str) -> str:
    """The text with "the user" in the place of the name, wherever it does something or owns something.

    >>> as_user("Tomasz's line manager is Petra.", "Tomasz"), as_user("Tomasz Nowak is ill.", "Tomasz")
    ("The user's line manager is Petra.", 'Tomasz Nowak is ill.')
    """
    if not name or name not in text or pattern("says_user").search(text):
        return text

    def user(match: re.Match[str]) -> str:
        first = not match[1].strip() or match[1].rstrip()[-1] in ".!?"
        return f"{match[1]}{'The' if first else 'the'} user{chr(39) + 's' if match[2] else ''}"

    told = _reads("name_as_subject", name).sub(user, text)
    placed = bound(text).opening or pattern("opens_with_grammar").match(text)
    return _reads("name_as_object", name).sub(user, told) if placed else told


@cache
def _reads(key: str, name: str) -> re.Pattern[str]:
    return re.compile(spelled_out(key).replace("NAME", re.escape(name)))


def _of_another(text: str, name: str) -> bool:
    if _reads("name_of_another", name).search(text):
        return True
    said = _reads("name_told", name).sub(" ", text)
    if pattern("says_user").search(said) and _reads("name_alone", name).search(said):
        return True
    rest = _reads("name_as_subject", name).sub(" ", said)
    if not _reads("name_bare", name).search(rest):
        return False
    told = _reads("name_is_told", name).search(rest)
    return bool(told or any(pattern(key).search(text) for key in _USER_ACTS))
