"""The merge writer: one text that is at least as complete as each of its sources, made of their sentences.

If a member says it all, its text stays to the letter; else the sentences that add something are appended to
the most complete member. What cannot be shown to keep every detail is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import NamedTuple

from ..records import Memory, as_utc
from .facts import extract
from .guards import missing
from .same_statement import same_statement, slip_in, statement_key
from .text.statements import clauses, sentences
from .text.tables import pattern, table_lines
from .text.words import significant_words, tokens

Entails = Callable[[str, str], float]  # how surely one entails another, asked of members only
ENTAILED = 0.9  # probability from which the premise says it all; strict, since the rest is dropped
CERTAIN = 1.0  # the same where two texts are one fact without doubt
JOIN_LENGTH = 2  # characters that joining may add per source: a full stop and a space
_SYNONYMS = {word: line.split()[0] for line in table_lines("synonyms", "stems") for word in line.split()}
_WIDE_STOPS = ("。", "！", "？")
_FULL_STOPS = (".", "!", "?", "…", *_WIDE_STOPS)
_UNKNOWN, _LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


class MergeRefused(Exception):  # noqa: N818  (an outcome a caller expects, not a failure a user meets)
    """No text can be drafted that provably keeps everything; both memories stay."""


class Draft(NamedTuple):
    """A proposed text, and the id of the member whose text this is, untouched; None if it is new."""

    text: str
    whole: str | None


def drafted(memories: Sequence[Memory], *, entails: Entails | None = None) -> Draft:
    """Draft the text of a merge from the sources' own sentences; the order of the memories never matters.

    "Owns a whippet." and "Owns a whippet named Pickle." give the second, untouched. Where each adds something
    both sentences stay, the more complete first. MergeRefused if no text provably keeps everything.
    """
    if any(memory.pinned for memory in memories):
        raise MergeRefused("a pinned memory is never part of a merge")
    best = whole_of(memories, entails=entails)
    if best is not None:
        return Draft(best.text, best.id)
    text = _fuse(sorted(memories, key=_rank), entails)
    sources = [memory.text for memory in memories]
    lost = missing(sources, text)
    if lost:
        raise MergeRefused(f"the draft would lose {len(lost)} details of its sources")
    if len(text) > sum(len(source) + JOIN_LENGTH for source in sources):
        raise MergeRefused("the draft would be longer than its sources")
    return Draft(text, None)


def whole_of(
    memories: Sequence[Memory], *, among: Sequence[Memory] | None = None, entails: Entails | None = None
) -> Memory | None:
    """Find the member, one of `among` if given, that says all that the others say.

    Of several it is the most complete; of those that say the same the newest wording, without a slip of
    the pen; of equal words the best spelt.
    """
    candidates = memories if among is None else among
    others = list({memory.text: memory for memory in memories}.values())  # many may be copies
    told = {memory.text: memory for memory in candidates if not memory.pinned}
    whole = {text for text, memory in told.items() if _says_all(memory, others, entails)}
    able = [memory for memory in candidates if not memory.pinned and memory.text in whole]
    if not able:
        return None
    best = min(able, key=_rank).text
    same = [each for each in able if _one_statement(each.text, best, entails)]
    texts = {each.text for each in same}
    slips = {text for text in texts if any(slip_in(text, other) for other in texts)}
    newest = min(same, key=lambda each: (each.text in slips, *_age(each)))
    words = {text: [token.text.casefold() for token in tokens(text)] for text in texts}
    copies = [each for each in same if words[each.text] == words[newest.text]]
    return min(copies, key=lambda each: (-_spelling(each.text), *_age(each)))


def _says_all(memory: Memory, memories: Sequence[Memory], entails: Entails | None) -> bool:
    said = memory.text
    return all(
        same_statement(text, said)
        or (
            (_says(said, text, entails, ENTAILED) or all(_stated(one, said) for one in sentences(text)))
            and not _loses(said, text, entails)
        )
        for text in (other.text for other in memories if other.text != said)
    )


def _one_statement(text: str, other: str, entails: Entails | None) -> bool:
    """Whether two texts say the same, so that the newer wording may stay: neither merely adds words."""
    mine, theirs = _concepts(text), _concepts(other)
    if mine == theirs or same_statement(text, other):
        return True
    added = mine <= theirs or theirs <= mine
    return not added and _says(text, other, entails, CERTAIN) and _says(other, text, entails, CERTAIN)


def _says(text: str, other: str, entails: Entails | None, sure: float) -> bool:
    return entails is not None and entails(text, other) >= sure


def _loses(text: str, other: str, entails: Entails | None) -> bool:
    """Whether a text lacks a detail of the other that it does not surely say in another form ("monthly")."""
    lost = missing([other], text)
    if not lost or not _says(text, other, entails, CERTAIN):
        return bool(lost)
    held, theirs = extract(text), extract(other)
    said = {"negation": held.negations, "frequency": (*held.frequencies, *held.numbers)}
    capitals = {name.text for name in theirs.names if not name.strong}
    return any(not said.get(item.kind) and item.detail not in capitals for item in lost)


def _stated(sentence: str, text: str) -> bool:
    """Whether one single sentence of a text has all significant words; spread over two they say others."""
    wanted = _concepts(sentence)
    return any(wanted <= _concepts(held) for held in sentences(text))


def _concepts(text: str) -> frozenset[str]:
    return frozenset(_SYNONYMS.get(word, word) for word in significant_words(text))


def _rank(memory: Memory) -> tuple[int, float, str]:
    return (-len(_concepts(memory.text)), *_age(memory))  # most words that carry meaning, latest stated


def _age(memory: Memory) -> tuple[float, str]:
    return (_LATEST - as_utc(memory.stated_at or _UNKNOWN)).total_seconds(), memory.id


def _spelling(text: str) -> int:
    """How carefully a text is written: capitals, one final mark, no stray white space."""
    capitals = sum(char.isupper() for char in text)
    return capitals + text.endswith(_FULL_STOPS) + (text == " ".join(text.split()))


def _fuse(ranked: Sequence[Memory], entails: Entails | None) -> str:
    kept, included = sentences(ranked[0].text), [ranked[0]]
    for memory in ranked[1:]:
        if any(_says_all(held, [memory], entails) for held in included):
            continue
        additions = _additions(memory.text, joined(kept))
        if additions == sentences(memory.text):
            included.append(memory)
        alone = len(additions) == 1 and not pattern("dependent").match(additions[0])
        stays = [not alone or _adds(held, additions[0]) for held in kept]
        at = (*stays, False).index(False)  # a sentence takes the place of those that it states completely
        rest = [held for held, stay in zip(kept, stays, strict=True) if stay]
        kept = [*rest[:at], *additions, *rest[at:]]
    return joined(kept)


def _additions(source: str, so_far: str) -> list[str]:
    """The sentences, or clauses that stand alone, that add something, each with those it refers back to."""
    parts = sentences(source)
    wanted = [_adds(part, so_far) for part in parts]
    for at in range(len(parts) - 1, 0, -1):
        if wanted[at] and pattern("dependent").match(parts[at]):
            wanted[at - 1] = True
    additions: list[str] = []
    for part in (part for part, keep in zip(parts, wanted, strict=True) if keep):
        pieces = clauses(part)
        alone = len(pieces) > 1 and all(pattern("own_subject").match(clause) for clause in pieces)
        additions += [clause for clause in pieces if alone and _adds(clause, so_far)] or [part]
    return additions


def _adds(sentence: str, so_far: str) -> bool:
    return not _stated(sentence, so_far) or bool(missing([sentence], so_far))


def keeps(merged: str, clause: str) -> bool:
    """Whether a merged text still says a clause of one of its sources."""
    return clause in merged or not _adds(clause, merged)


def puts_together(text: str, members: Sequence[str]) -> bool:
    """Whether a text repeats a sentence, or says all of two sources that have no sentence in common.

    >>> puts_together("Had tea. Had some tea.", ["Had tea.", "Had some tea."])
    True
    >>> puts_together("Ana's cat is ill. It eats.", ["Cat is ill", "Ana's cat is ill."])
    False
    """
    if text in members:
        return False
    held = [statement_key(sentence) for sentence in sentences(text)]
    # What joining put behind a full stop in small letters is one sentence to the splitter.
    whole = [
        said
        for said in (list(map(_bare, sentences(each))) for each in members)
        if all(sentence in text.casefold() for sentence in said)
    ]

    def apart(some: Sequence[str], others: Sequence[str]) -> bool:
        keys, theirs = ({statement_key(each) for each in said} for said in (some, others))
        within = all(any(x in y for y in others) for x in some) and keys.isdisjoint(held)
        return keys.isdisjoint(theirs) and not within

    return len(set(held)) < len(held) or any(apart(a, b) and apart(b, a) for a, b in combinations(whole, 2))


def _bare(sentence: str) -> str:
    return _closed(sentence).casefold()[:-1]


def joined(parts: Sequence[str]) -> str:
    """Join sentences into one text, each closed by a mark."""
    if len(parts) == 1:
        return parts[0]
    capital = parts[0][:1].isupper()  # but only of plain words: "npm" and "iPhone" stay
    opened = (
        part[0].upper() + part[1:] if capital and pattern("starts_plain").match(part) else part
        for part in parts
    )
    closed = map(_closed, opened)
    return "".join(part if part.endswith(_WIDE_STOPS) else part + " " for part in closed).strip()


def _closed(part: str) -> str:
    bare = part.rstrip().rstrip(",;")
    if bare.rstrip("\"')]”»").endswith(_FULL_STOPS):
        return bare
    return bare + ("。" if pattern("wide_end").search(bare) else ".")
