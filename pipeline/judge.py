"""From scores to verdicts: thresholds decide, guards may only hold back.

Exact duplicates need no model. Everything else is scored in both directions, compared detail by
detail, and called a duplicate only if nothing load-bearing differs. No verdict is ever inferred
from another pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..models.scorer import CONTRADICTION, DUPLICATE, PairInput, PairScorer, Thresholds
from .guards import compare
from .original_rules import suspected
from .records import Candidate, Evidence, Label, Memory, Verdict
from .words import significant_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT = Evidence("exact", "same text but for case, white space or final punctuation")

ADDS = Evidence("adds", "one text has all words of the other, and no detail differs")


def decide(
    probabilities: Sequence[float], evidence: Iterable[Evidence], thresholds: Thresholds
) -> tuple[Label, bool]:
    """Turn the probabilities of one pair into a label, and whether a merge needs no person.

    Args:
        probabilities: Duplicate, contradiction, distinct.
        evidence: What the guards found; one veto keeps a pair from being a duplicate.
        thresholds: Where the scorer's probabilities become decisions.

    >>> decide((0.99, 0.0, 0.01), (), Thresholds(auto=0.9, duplicate=0.5, contradiction=0.5))
    (<Label.DUPLICATE: 'duplicate'>, True)
    """
    duplicate, contradiction = probabilities[DUPLICATE], probabilities[CONTRADICTION]
    if contradiction >= thresholds.contradiction and contradiction >= duplicate:
        return Label.CONTRADICTION, False
    if duplicate >= thresholds.duplicate:
        if any(item.veto for item in evidence):
            return Label.UNSURE, False
        return Label.DUPLICATE, duplicate >= thresholds.auto
    if max(probabilities) in (duplicate, contradiction):
        return Label.UNSURE, False
    return Label.DISTINCT, False


def judge(
    candidates: Sequence[Candidate],
    memories: Mapping[str, Memory],
    scorer: PairScorer,
    *,
    thresholds: Thresholds | None = None,
    asks_from: float | None = None,
) -> tuple[Verdict, ...]:
    """Judge every candidate.

    Args:
        candidates: Pairs of ids; exact ones are not scored.
        memories: By id; every id of a candidate must be in it.
        scorer: Gives the probabilities, once for each pair.
        thresholds: Instead of the scorer's own, for instance calibrated on the user's pairs.
        asks_from: Ask about pairs that a rule of the original would report and the scorer calls distinct;
            two preferences from this cosine on. None asks about none of them.

    Returns:
        One verdict for each candidate, in the same order.
    """
    limits = thresholds or scorer.thresholds
    to_score = [pair for pair in candidates if not pair.exact]
    scores = scorer.score([pair_input(pair, memories) for pair in to_score])
    scored = {
        (pair.a, pair.b): _suspect(_verdict(pair, memories, row, directions, limits), memories, asks_from)
        for pair, row, directions in zip(to_score, scores.probabilities, scores.entailment, strict=True)
    }
    return tuple(_exact(pair) if pair.exact else scored[pair.a, pair.b] for pair in candidates)


def pair_input(pair: Candidate, memories: Mapping[str, Memory]) -> PairInput:
    """What a scorer may read of a candidate."""
    a, b = memories[pair.a], memories[pair.b]
    return PairInput(
        a=a.text,
        b=b.text,
        cosine=pair.cosine,
        category=a.category,
        a_date=a.stated_at,
        b_date=b.stated_at,
    )


def _exact(pair: Candidate) -> Verdict:
    return Verdict(
        pair,
        Label.DUPLICATE,
        auto=True,
        probabilities=(1.0, 0.0, 0.0),
        entailment=(1.0, 1.0),
        evidence=(EXACT,),
    )


def _verdict(
    pair: Candidate,
    memories: Mapping[str, Memory],
    row: NDArray[np.float32],
    directions: NDArray[np.float32],
    limits: Thresholds,
) -> Verdict:
    probabilities = (float(row[0]), float(row[1]), float(row[2]))
    evidence: tuple[Evidence, ...] = ()
    a, b = memories[pair.a], memories[pair.b]
    if decide(probabilities, (), limits)[0] is not Label.DISTINCT:
        evidence = compare(a.text, b.text, a_date=a.stated_at, b_date=b.stated_at)
    label, auto = decide(probabilities, evidence, limits)
    if label is Label.CONTRADICTION and _only_adds(a.text, b.text, evidence):
        label, evidence = Label.UNSURE, (*evidence, ADDS)
    return Verdict(
        pair,
        label,
        auto=auto,
        probabilities=probabilities,
        entailment=(float(directions[0]), float(directions[1])),
        evidence=evidence,
    )


def _suspect(verdict: Verdict, memories: Mapping[str, Memory], asks_from: float | None) -> Verdict:
    """The verdict, or a doubt where a rule of the original speaks and the scorer sees nothing."""
    if asks_from is None or verdict.label is not Label.DISTINCT:
        return verdict
    a, b = memories[verdict.pair.a], memories[verdict.pair.b]
    found = suspected(a.text, b.text, cosine=verdict.pair.cosine, close=asks_from)
    return replace(verdict, label=Label.UNSURE, evidence=(*verdict.evidence, found)) if found else verdict


def _only_adds(a: str, b: str, evidence: Iterable[Evidence]) -> bool:
    """Whether one text merely adds to the other, so that a conflict is for a person to suspect.

    On the real development pairs nearly all such pairs are duplicates. An added word that turns a
    fact round ("stop using", "until May", "only") is no mere addition.
    """
    if any(item.veto for item in evidence):
        return False
    first, second = significant_words(a), significant_words(b)
    if not (first <= second or second <= first):
        return False
    added = _plain_words(a) ^ _plain_words(b)
    return not added & _REVERSING


def _plain_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


_WORD = re.compile(r"[\w'’]+")
_REVERSING = frozenset(
    (  # noqa: SIM905  (words in lines read better than a column of strings)
        "abandon abandoned anymore avoid avoids barely before but cancel canceled cancelled cancels "
        "considering cut ditched drop dropped ex except excluding failed finished former formerly gave given "
        "hardly instead intended last left less longer lost may might neither never no none nor not nothing "
        "once only past paused planned planning plans previously quit quits quitting rarely rather refused "
        "refuses rejected removed replaced retired reversed seldom should sold stop stopped stopping stops "
        "switched tried unless unlike until used want wanted wants was were without would "
    ).split()
)
"""Words that can turn a fact round when they are all that one text has more than the other."""
