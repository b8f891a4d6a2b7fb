"""Who a sentence is about: "Company uses Neovim" is no copy of "User uses Neovim".

Only the plainest case is decided: one text opens with a bare role of somebody else and its verb, the other
with the person whose memory it is, and not with what they said of others. "User's team uses Neovim" says
whose team it is, and may tell of both.
"""

from __future__ import annotations

from .extraction import Facts
from .frames import Change
from .tokens import Expression

_ROLES = (
    r"company|employer|startup|start-up|firm|organi[sz]ation|management|leadership|team|team lead|tech lead|"
    r"ceo|cto|cfo|coo|boss|manager|supervisor|landlord|client|customer|colleague|co-?worker"
)
_ADVERB = r"(?:(?:also|now|still|already|always|currently)\s+)?"
_OTHER = Expression(
    rf"^\W*(?:[Tt]he )?(?i:{_ROLES})s?\s+{_ADVERB}"
    r"(?!(?:of|at|in|on|for|and|or|with|from|to|who|that|which|name|address|phone|password|code)\b)[a-z]+\b"
)
_PERSON = Expression(
    rf"^\W*(?:(?:[Tt]he )?[Uu]ser|I|He|She|(?P<name>[A-Z]\w+))\s+{_ADVERB}"
    r"(?!(?:of|at|in|on|for|and|or|with|from|to|who|that|which|said|says|told|heard)\b)"
    r"(?!(?:mention|report|confirm|explain|ask|note|state|tell|learn)(?:s|ed|d)\b)[a-z]+\b"
)
_REACH = 80


def other_actor(left: Facts, right: Facts) -> Change | None:
    """Return the two openings where one text is about a company, a boss, a team, and one about the person.

    >>> from .extraction import extract
    >>> other_actor(extract("Company uses Neovim"), extract("User uses Neovim at work"))
    ('Company uses', 'User uses')
    >>> other_actor(extract("User's company uses Neovim"), extract("User uses Neovim at work")) is None
    True
    """
    mine, theirs = _somebody_else(left), _somebody_else(right)
    if bool(mine) == bool(theirs):
        return None
    person = _person(right if mine else left)
    return (mine or person, theirs or person) if person else None


def _somebody_else(facts: Facts) -> str:
    """The opening about a bare role of another; empty if the text has none."""
    match = _OTHER.search(facts.text[:_REACH])
    return match[0].strip() if match is not None else ""


def _person(facts: Facts) -> str:
    """The opening about a person; empty if the text has none."""
    match = _PERSON.search(facts.text[:_REACH])
    if match is None:
        return ""
    named = match["name"]
    is_name = named is None or any(named == name.text.split()[0] for name in facts.names)
    return match[0].strip() if is_name else ""
