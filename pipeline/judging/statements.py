"""Statements of compound texts, judged as single memories are, and which verdicts are worth a question.

A statement has a place and a subject, such as the headings above it; the subject is read along where the
words are too few to name one. Only pairs that share most of their words are embedded and scored: whatever two
texts of one project have in common, two sentences in quite other words are seldom one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...models.bindings import relation
from ...models.same_statement import statement_key
from ...models.text.words import significant_words, tokens
from ...records import Candidate, Label, Memory, Scope, Verdict
from .judge import EXACT, SAME, judge

if TYPE_CHECKING:
    from ...models.encoder import Encoder
    from ...models.scorer import PairScorer, Thresholds

MOST_PARTNERS = 60
"""A word that more statements have is no reason to compare two of them."""
SHORTER, LONGER = 0.5, 0.3
"""Share of the words of the shorter and of the longer statement that both must say to be compared."""
FEWEST = 3
"""Significant words of a statement; fewer say nothing without what stands around them."""
BRIEF = 4
"""Up to so many, a statement is read with the subject that stands above it."""
LONGEST = 60
"""Words: a longer statement says several things."""
TOLD, TOLD_BACK = 0.75, 0.5
"""What one of two sayings of one thing repeats of the other, and the other of it. Of the pairs that repeat
less in real folders next to none is a duplicate, whatever the scorer thinks (decision 29)."""
CONTAINED = 0.34
"""The second share where one says all of the other."""
OPPOSED, OPPOSED_MORE = 0.5, 0.65
"""The same shares of statements that are against each other."""
STATES, ALIKE = 0.7, 0.6
"""Least share where only the guards, or only a doubtful score, say that two are against each other, and where
each says something besides that the other does not."""
LIKELY = 0.5
"""Probability from which a pair in doubt is a question."""
CLEAR = 0.8
"""The same of a contradiction that is in doubt: below it, it is two facts nearly always."""
_LIST = 3
"""So many statements that differ in one place are members of a list, or fields of a template."""
_REFERENCE = re.compile(
    r"^\W*(?:see|related|cf|compare|siehe|distinct from)\b.*(?:\[\[|\]\(|\.md\b)", re.IGNORECASE
)
_LABEL = re.compile(r"^[\s*_]*([^:`\n]{2,40}?)[*_]*:(?=\s|\*|$)")
_ANNOUNCES = re.compile(r":[\s*_]*$|^\*\*[^*]+[^*.!?]\*\*$")
"""What a statement that only says what follows ends with, or a heading in bold letters."""
_CODE = re.compile(r"`([^`\n]+)`")
_BEFORE = re.compile(
    r"\b(?:originally|formerly|previously|initially|used to|at first|no longer)\b", re.IGNORECASE
)
"""What tells of an earlier state."""
_TURNING = frozenset(token.stem for token in tokens("avoid stop quit always never not do use longer please"))
"""Words in which a rule and its denial differ, and members of a list do not."""
_TWO_STATES = frozenset(
    {"stage", "progress", "number", "negation", "denial", "rival", "past", "time", "trait"}
)
"""Vetoes by which one of two statements is wrong, if both are about one thing."""
_SCOPE = Scope.of(statements="all")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a memory."""

    memory: Memory  # that says it
    text: str  # as it stands there
    words: str  # as it is read
    subject: str = ""  # what it is about, if its words do not say so
    line: int = 0  # of the memory's text, from 0
    row: bool = False  # of a table
    block: str = ""  # the list or section it is a member of; empty for a sentence of a paragraph

    @property
    def judged(self) -> str:
        """The words, behind the subject where these are too few to name one."""
        few = len(significant_words(self.words)) <= BRIEF
        named = significant_words(self.subject) - significant_words(self.words)
        return f"{self.subject}: {self.words}" if few and named else self.words

    @property
    def key(self) -> tuple[str, int, str]:
        """Where it stands, for sorting."""
        return self.memory.id, self.line, self.text


@dataclass(frozen=True, slots=True)
class Finding:
    """Two statements that say the same, or cannot both hold."""

    a: Statement
    b: Statement
    verdict: Verdict  # of their memories; its label is DUPLICATE or CONTRADICTION
    told: tuple[float, float]  # what of a is said by b, and of b by a
    sure: bool  # whether it is more than a doubt

    @property
    def same(self) -> bool:
        """Whether they say the same."""
        return self.verdict.label is Label.DUPLICATE

    @property
    def exact(self) -> bool:
        """Whether they are one statement written twice."""
        return any(item.kind in (EXACT.kind, SAME) for item in self.verdict.evidence)


def findings(
    statements: Sequence[Statement],
    encoder: Encoder,
    scorer: PairScorer,
    *,
    thresholds: Thresholds | None = None,
    of: Collection[str] | None = None,
) -> list[Finding]:
    """Judge all pairs of statements that may be one, or against each other; in the order of their places.

    Args:
        statements: All of one project.
        encoder: Gives the cosines that a scorer reads.
        scorer: Gives the probabilities.
        thresholds: Instead of the scorer's own.
        of: Only pairs with a statement of one of these memories.
    """
    said = sorted(filter(_states, statements), key=lambda each: each.key)
    pairs = {
        pair: told
        for pair, told in _pairs(said).items()
        if of is None or any(said[row].memory.id in of for row in pair)
    }
    if not pairs:
        return []
    ends = sorted({row for pair in pairs for row in pair})
    memories = {
        f"{row:07}": replace(
            said[row].memory, id=f"{row:07}", text=said[row].judged, scope=_SCOPE, category=None, metadata={}
        )
        for row in ends
    }
    vectors = dict(zip(ends, encoder.encode([said[row].judged for row in ends]), strict=True))
    near = [Candidate(f"{i:07}", f"{j:07}", float(np.clip(vectors[i] @ vectors[j], -1, 1))) for i, j in pairs]
    verdicts = judge(near, memories, scorer, thresholds=thresholds, keys={})
    found = (
        _finding(said[i], said[j], verdict, told=pairs[i, j])
        for (i, j), verdict in zip(pairs, verdicts, strict=True)
    )
    return [finding for finding in found if finding]


def _states(statement: Statement) -> bool:
    """Whether a statement says enough by itself, and more than where to look or what follows."""
    words = [word for word in significant_words(statement.words) if word.isalpha()]
    return (
        len(words) >= FEWEST
        and len(statement.words.split()) <= LONGEST
        and not _REFERENCE.match(statement.words)
        and not _ANNOUNCES.search(statement.words)
    )


def sharing(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of texts that share most of their words, as rows in order."""
    words = [significant_words(text) for text in texts]
    holders: dict[str, list[int]] = defaultdict(list)
    for row, own in enumerate(words):
        for word in own:
            holders[word].append(row)
    shared: Counter[tuple[int, int]] = Counter()
    for rows in holders.values():
        if len(rows) <= MOST_PARTNERS:
            shared.update((i, j) for at, i in enumerate(rows) for j in rows[at + 1 :])

    def near(i: int, j: int) -> bool:
        """Whether two texts have enough in common."""
        both, (few, more) = len(words[i] & words[j]), sorted((len(words[i]), len(words[j])))
        return both >= max(SHORTER * few, LONGER * more)

    return sorted(pair for pair, count in shared.items() if count >= 2 and near(*pair))


def _pairs(statements: Sequence[Statement]) -> dict[tuple[int, int], tuple[float, float]]:
    """Pairs that may be worth a question, with what each tells of the other; no members of a list."""
    texts = [each.judged for each in statements]
    words = [significant_words(text) for text in texts]
    keys = [statement_key(text) for text in texts]
    near = sharing(texts)
    frames: dict[tuple[frozenset[str], str], set[int]] = defaultdict(set)
    for i, j in near:
        if words[i] - words[j] - _TURNING and words[j] - words[i] - _TURNING:
            for block in {statements[i].block, statements[j].block}:
                frames[words[i] & words[j], block].update((i, j))
    pairs: dict[tuple[int, int], tuple[float, float]] = {}
    for i, j in near:
        a, b = statements[i], statements[j]
        if keys[i] == keys[j]:
            pairs[i, j] = (1.0, 1.0)
            continue
        rows = a.row and b.row and a.block == b.block
        listed = rows or any(
            len(frames.get((words[i] & words[j], at), ())) >= _LIST for at in (a.block, b.block)
        )
        if listed or _labelled_apart(a.words, b.words):
            continue
        read, bare = relation(a.judged, b.judged).said, relation(a.words, b.words).said
        told = min(read[0], bare[0]), min(read[1], bare[1])
        if _same(told) or (min(told) >= OPPOSED and max(told) >= OPPOSED_MORE):
            pairs[i, j] = told
    return pairs


def _same(told: tuple[float, float]) -> bool:
    """Whether two statements say enough of each other to be one."""
    return max(told) >= TOLD and min(told) >= (CONTAINED if max(told) == 1 else TOLD_BACK)


def _finding(a: Statement, b: Statement, verdict: Verdict, *, told: tuple[float, float]) -> Finding | None:
    """What a verdict on two statements is worth; None if nothing."""
    label = _label(verdict, told)
    beside = a.memory.id == b.memory.id and a.line == b.line
    if label is Label.DUPLICATE:
        exact = any(item.kind in (EXACT.kind, SAME) for item in verdict.evidence)
        unsaid = beside or any(item.kind == "unsaid" for item in verdict.evidence)
        apart = _codes_apart(a.words, b.words) or bool(_BEFORE.search(a.words)) != bool(
            _BEFORE.search(b.words)
        )
        if not exact and (apart or not _same(told) or min(told) < unsaid * ALIKE):
            return None
    elif (
        label is not Label.CONTRADICTION
        or min(told) < (STATES if beside else OPPOSED)
        or max(told) < OPPOSED_MORE
    ):
        return None
    ids = (a.memory.id, b.memory.id)
    pair = replace(verdict.pair, a=min(ids), b=max(ids))
    directions = verdict.entailment if ids == (pair.a, pair.b) else verdict.entailment[::-1]
    judged = replace(verdict, pair=pair, label=label, auto=False, entailment=directions)
    values = any(item.kind in ("number", "rival") and item.veto for item in verdict.evidence)
    return Finding(a, b, judged, told, sure=verdict.label is label or (values and min(told) >= TOLD))


def _label(verdict: Verdict, told: tuple[float, float]) -> Label:
    """What a person is asked about a pair, if anything: of what is in doubt the more probable."""
    duplicate, contradiction, _ = verdict.probabilities
    if verdict.label is not Label.UNSURE or max(duplicate, contradiction) < LIKELY:
        return Label.DISTINCT if verdict.label is Label.UNSURE else verdict.label
    vetoes = {item.kind for item in verdict.evidence if item.veto}
    if contradiction > duplicate:
        return Label.CONTRADICTION if contradiction >= CLEAR and min(told) >= ALIKE else Label.DISTINCT
    if vetoes & _TWO_STATES:
        return Label.CONTRADICTION if min(told) >= STATES else Label.DISTINCT
    return Label.DUPLICATE


def _labelled_apart(a: str, b: str) -> bool:
    """Whether two statements begin with other labels, as fields of a template do."""
    labels = [match[1] if (match := _LABEL.match(text)) else "" for text in (a, b)]
    return all(labels) and significant_words(labels[0]) != significant_words(labels[1])


def _codes_apart(a: str, b: str) -> bool:
    """Whether each names code that the other does not."""
    first, second = set(_CODE.findall(a)), set(_CODE.findall(b))
    return bool(first - second and second - first)
