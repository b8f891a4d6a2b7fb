"""Attributes that have one value at a time because a person says so: two values of one cannot both hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from .same_statement import statement_key
from .text.tables import table_lines
from .text.words import tokens

_OVER = re.compile(
    r"\b(?:used to|until|no longer|former(?:ly)?|previous(?:ly)?|in the past|was|were|had|not|never|before|"
    r"wants?|plans?|might|may|would|considers?|considering|if|when|or)\b|n't\b",
    re.IGNORECASE,
)
"""What makes a value none that is claimed to hold now."""
_NOBODY = frozenset(
    ("user", "i", "the", "my", "our", "we", "a", "an", "user's", "current", "currently", "now", "also")
)
_KNOWN = ("home", "employer")
_ENDING = "(?:e|s|es|ed|ing|ments?)"
_STEM = 4
"""Letters that are left of a word without its ending, so that it is still that word."""


def two_values(a: str, b: str, single: Collection[str]) -> str:
    """The attribute and the two values that these texts give to one of `single`; empty if they do not.

    >>> two_values("Deploy target: staging", "The deploy target is production", ["deploy target"])
    'deploy target: staging / production'
    >>> two_values("Lives in Porto", "Anna lives in Faro", ["home"])
    ''
    """
    for attribute in single:
        mine, theirs = _value(a, attribute), _value(b, attribute)
        if mine and theirs and mine[0] == theirs[0]:
            first, second = (" ".join(statement_key(said[1]).split()) for said in (mine, theirs))
            if first != second and first not in second and second not in first:
                return f"{attribute}: {mine[1]} / {theirs[1]}"
    return ""


@lru_cache(maxsize=8192)
def _value(text: str, attribute: str) -> tuple[frozenset[str], str] | None:
    """Whose value it is, and the value; None where the text claims none, or several."""
    found = list(dict.fromkeys(_claims(text, attribute)))
    return found[0] if len(found) == 1 and not _OVER.search(text) else None


def _claims(text: str, attribute: str) -> Iterator[tuple[frozenset[str], str]]:
    bases = [re.sub(f"{_ENDING}$", "", word, flags=re.IGNORECASE) for word in attribute.split()]
    name = r"\s+".join(
        f"{re.escape(base)}{_ENDING}?" if len(base) >= _STEM else re.escape(word)
        for base, word in zip(bases, attribute.split(), strict=True)
    )  # "deploy" is named by "deployment", too
    said = [rf"(?:{name})\s*(?:is now|is|are|:|=|->|→)"]
    said += table_lines("single", attribute) if attribute in _KNOWN else ()
    for match in re.finditer(rf"([^.;:\n]*?)\b(?:{'|'.join(said)})\s*([^.;,\n]+)", text, re.IGNORECASE):
        whose = frozenset(token.text.casefold() for token in tokens(match[1])) - _NOBODY
        yield whose, match[2].strip()
