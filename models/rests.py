"""What a text says besides what another one denies: kept where the other one is held to be true.

Only whole sentences, clauses with a subject of their own, and names of a list are kept or go. Where nothing
shows which part is denied, all of it goes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .guards import missing
from .merger import joined, keeps
from .text.statements import clauses, sentences, split_statements
from .text.tables import pattern
from .text.words import significant_words

Denied = Callable[[str], float]  # how surely what is held denies a statement
SURELY, PERHAPS = 0.5, 0.3
"""From these probabilities on all such parts of a text are denied, or the likeliest one."""
_SAYS = 2  # words with a meaning, below which a part says nothing by itself
_WORD = r"[A-Z0-9](?:[\w.+#-]{0,40}[\w+#])?"
_NAME = rf"{_WORD}(?: {_WORD}){{0,2}}"
_LIST = re.compile(rf"{_NAME}(?:, (?:and )?{_NAME}| and {_NAME}){{1,8}}(?![\w-])")
_PARTICIPLE = re.compile(r"\S+(?: \w+ly| now)? \w+ing\b")
_LEANS = re.compile(r"(?i)(?:it|its|this|that|these|those|which|such|so|but|then|because|instead)\b|\W")


def rest_of(lost: str, held: str, denied: Denied) -> str:
    """What only the text that lost says of things that the other one does not touch; empty if nothing.

    >>> held = "Moved from Postgres to MySQL."
    >>> rest_of("Uses React and Postgres. Lives in Porto.", held, lambda part: float("Postgres" in part))
    'Uses React. Lives in Porto.'
    """
    kept = [
        part for part in _cut(lost, held, denied, _blocks, _clauses) if len(significant_words(part)) >= _SAYS
    ]
    return joined(kept) if kept else ""


def _cut(text: str, held: str, denied: Denied, *ways: Callable[[str], Sequence[str]]) -> list[str]:
    """The parts of a text that are neither denied nor said by both; what is denied is cut the next way."""
    if not ways:
        return _items_left(text, held)
    parts = list(ways[0](text))
    if len(parts) == 1:
        return _cut(text, held, denied, *ways[1:])
    sure = {part: denied(part) for part in parts}
    least = SURELY if max(sure.values()) >= SURELY else max(*sure.values(), PERHAPS)
    gone = {part for part in parts if sure[part] >= least}
    if not gone:
        return []
    kept = [_cut(part, held, denied, *ways[1:]) if part in gone else [part] for part in parts]
    return [piece for pieces in kept for piece in pieces if not keeps(held, piece)]


def _blocks(text: str) -> list[str]:
    """The sentences of a text, each with those behind it that lean on it."""
    blocks: list[str] = []
    for sentence in sentences(text):
        if blocks and _LEANS.match(sentence):
            blocks[-1] += f" {sentence}"
        else:
            blocks.append(sentence)
    return blocks or [text]


def _clauses(sentence: str) -> list[str]:
    for cut in (clauses, split_statements) if len(sentences(sentence)) == 1 else ():
        parts = list(cut(sentence))
        if len(parts) > 1 and all(
            pattern("own_subject").match(part) and not _PARTICIPLE.match(part) for part in parts
        ):
            return parts
    return [sentence]


def _items_left(clause: str, held: str) -> list[str]:
    """The clause without those names of its list of which the other text speaks; nothing if it is unclear."""
    found = _LIST.search(clause)
    if found is None:
        return []
    items = re.split(r", (?:and )?| and ", found[0])
    spoken = significant_words(held)
    left = [item for item in items if not significant_words(item) & spoken]
    if not left or len(left) == len(items):
        return []
    told = " and ".join(filter(None, (", ".join(left[:-1]), left[-1])))
    return [clause[: found.start()] + told + clause[found.end() :]]


def old_values(lost: str, held: str, rest: str) -> list[tuple[str, str]]:
    """Kind and text of each detail that is no longer held: another one of its kind took its place.

    >>> old_values("Uses React and Postgres.", "Moved from Postgres to MySQL.", "Uses React.")
    [('name', 'Postgres')]
    """
    bare = _AGO.sub(" ", held)
    new = {item.kind for item in missing([bare], lost) if not _opens(item.detail, held)}
    return list(
        dict.fromkeys(
            (item.kind, _whole_name(item.detail, lost) if item.kind == "name" else item.detail)
            for item in missing([lost], f"{bare} {rest}")
            if item.kind in new - {"negation"} and item.detail and not _opens(item.detail, lost)
        )
    )


def _whole_name(name: str, text: str) -> str:
    """A name with the names that stand around it: "New York City", not "City"."""
    for sentence in sentences(text):
        if found := re.search(rf"(?:{_WORD} )*(?<!\w){re.escape(name)}(?!\w)(?: {_WORD})*", sentence):
            first, _, more = found[0].partition(" ")
            return more if more and found.start() == 0 and first != name else found[0]
    return name


def _opens(detail: str, text: str) -> bool:
    """Whether a sentence begins with it: whom or what it is about, and no value."""
    return any(re.match(rf"(?:The |the )?{re.escape(detail)}", each) for each in sentences(text))


_AGO = re.compile(
    r"\b(?i:(?:instead|out) of|from|no longer(?: \w+)?|replac\w+|left|dropped|than|not|was|were|quit)"
    r" (?:the |an? |her |his |their )?[\w.+#'-]+(?: [A-Z][\w.+#-]*)*"
)
