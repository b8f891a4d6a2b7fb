"""From scores to verdicts: thresholds decide, guards may only hold back.

What is one statement by its words alone needs no model, and is never a contradiction. Everything else is
scored in both directions, compared detail by detail, and called a duplicate only if nothing load-bearing
differs. No verdict is ever inferred from another pair.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...models.bindings import HALF_SAID, relation
from ...models.doubts import (
    BOTH_ENTAIL,
    DOUBTS,
    doubts,
    hinted_conflict,
    settled,
    side_by_side,
    stated_conflict,
    two_states,
)
from ...models.guards import Contradicting, compare, contradicting
from ...models.language import is_english, only_denied
from ...models.same_statement import sameness, statement_key
from ...models.scorer import (
    CONTRADICTION,
    DUPLICATE,
    PairInput,
    PairScorer,
    Thresholds,
    english_only,
    limits_for,
)
from ...models.single import two_values
from ...models.text.tables import table_words
from ...models.text.words import exact_key, significant_words
from ...records import Candidate, Evidence, Label, Memory, Verdict
from .candidates import Near
from .original_rules import RULE, suspected
from .subjects import NO_KEYS, UNCLEAR, KeysOf, apart, judged_text, keys_by_scope, unnamed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT = Evidence("exact", "same text but for case, white space or final punctuation")
SAME = "same"
"""Kind of evidence: one statement, written differently; the detail says in what."""

ADDS = Evidence("adds", "one text has all words of the other, and no detail differs")


FOREIGN = Evidence("language", "not in English, which is all that the scorer reads")
ORDER = "order"
_ASKED = DOUBTS | {UNCLEAR, "narrower"}
"""Evidence that forbids nothing, but leaves a merge to a person."""
RIVALS = frozenset({"rival", "progress", "binding", "stage", "past", RULE})
"""Evidence that two texts give rival values: if they are about one thing, one is wrong, so they never become
one text."""
HINTED = 0.9
"""Contradiction probability from which two texts of a store conflict though they only hint at why."""
UNSTATED, UNSHARED = 0.95, 0.98
"""The same where no word of them does, and where besides less than half of their words is shared."""


def decide(
    probabilities: Sequence[float],
    evidence: Iterable[Evidence],
    thresholds: Thresholds,
    *,
    entailment: Sequence[float] = (1.0, 1.0),
) -> tuple[Label, bool]:
    """Turn the probabilities of one pair into a label, and whether a merge needs no person.

    Args:
        probabilities: Duplicate, contradiction, distinct.
        evidence: What the guards found; one veto keeps a pair from being a duplicate.
        thresholds: Where the scorer's probabilities become decisions.
        entailment: a entails b, b entails a.

    >>> decide((0.99, 0.0, 0.01), (), Thresholds(auto=0.9, duplicate=0.5, contradiction=0.5))
    (<Label.DUPLICATE: 'duplicate'>, True)
    """
    evidence = tuple(evidence)
    duplicate, contradiction = probabilities[DUPLICATE], probabilities[CONTRADICTION]
    if contradiction >= thresholds.contradiction and contradiction >= duplicate:
        return Label.CONTRADICTION, False
    if duplicate >= thresholds.duplicate:
        if any(item.veto for item in evidence):
            return Label.UNSURE, False
        return Label.DUPLICATE, duplicate >= thresholds.auto and not _held(evidence, entailment)
    if max(probabilities) in (duplicate, contradiction):
        return Label.UNSURE, False
    return Label.DISTINCT, False


def _held(evidence: Iterable[Evidence], entailment: Sequence[float]) -> bool:
    """Whether a merge needs a person although nothing forbids it."""
    kinds = {item.kind for item in evidence}
    return bool(kinds & _ASKED) or (ORDER in kinds and min(entailment) < BOTH_ENTAIL)


def judge(
    candidates: Sequence[Candidate],
    memories: Mapping[str, Memory],
    scorer: PairScorer,
    *,
    thresholds: Thresholds | None = None,
    keys: KeysOf | None = None,
    asks_from: float | None = None,
    single: Collection[str] = (),
) -> tuple[Verdict, ...]:
    """Judge every candidate; memories about different subjects are distinct, whatever they say.

    Args:
        candidates: Pairs of ids; those of one statement are not scored.
        memories: By id; every id of a candidate must be in it.
        scorer: Gives the probabilities, once for each pair.
        thresholds: Instead of the scorer's own, for instance calibrated on the user's pairs.
        keys: What the metadata keys of each scope mean; read from the given memories if omitted.
        asks_from: Ask about pairs that a rule of the original would report and the scorer calls distinct;
            two preferences from this cosine on. None asks about none of them.
        single: Attributes of which a person says that they have one value.

    Returns:
        One verdict for each candidate, in the same order.
    """
    known = keys_by_scope(memories.values()) if keys is None else keys
    differing = {pair: evidence for pair in candidates if (evidence := _apart(pair, memories, known))}
    same = {pair: said for pair in candidates if (said := _sameness(pair, memories))}
    to_score = [pair for pair in candidates if pair not in same and not _vetoed(differing.get(pair))]
    inputs = [pair_input(pair, memories, known) for pair in to_score]
    scores = scorer.score(inputs)
    english = english_only(scorer)
    scored = {
        pair: _suspect(
            _verdict(
                pair,
                texts,
                (row, directions),
                differing.get(pair),
                thresholds or limits_for(scorer, texts),
                unread=english and not (is_english(texts.a) and is_english(texts.b)),
            ),
            texts,
            asks_from,
        )
        for pair, texts, row, directions in zip(
            to_score, inputs, scores.probabilities, scores.entailment, strict=True
        )
    }
    scored = {pair: _one_value(verdict, memories, single) for pair, verdict in scored.items()}
    return tuple(
        scored[pair] if pair in scored else _unscored(pair, same.get(pair, EXACT), differing.get(pair))
        for pair in candidates
    )


def _one_value(verdict: Verdict, memories: Mapping[str, Memory], single: Collection[str]) -> Verdict:
    """The verdict; a sure contradiction where both texts give a value to what has one by a person's word."""
    said = two_values(memories[verdict.pair.a].text, memories[verdict.pair.b].text, single) if single else ""
    if not said or verdict.label is Label.CONTRADICTION:
        return verdict
    evidence = (*verdict.evidence, Evidence("rival", said, veto=True))
    told = (0.0, 1.0, 0.0)
    return replace(verdict, label=Label.CONTRADICTION, auto=False, probabilities=told, evidence=evidence)


def same_evidence(a: Memory, b: Memory) -> Evidence | None:
    """Why two memories are one statement by their words alone; None where they are not."""
    if exact_key(a.text) == exact_key(b.text):
        return EXACT
    said = sameness(a.text, b.text, a_date=a.stated_at, b_date=b.stated_at)
    return None if said is None else Evidence(SAME, said)


def _sameness(pair: Candidate, memories: Mapping[str, Memory]) -> Evidence | None:
    if pair.exact and not {pair.a, pair.b} <= memories.keys():
        return EXACT
    return same_evidence(memories[pair.a], memories[pair.b]) or (EXACT if pair.exact else None)


def pair_input(pair: Candidate, memories: Mapping[str, Memory], keys: KeysOf | None = None) -> PairInput:
    """What a scorer may read of a candidate: the texts with the subjects that only the metadata names."""
    a, b = memories[pair.a], memories[pair.b]
    subjects = (keys or {}).get(a.scope, NO_KEYS).subjects
    return PairInput(
        a=judged_text(a, subjects),
        b=judged_text(b, subjects),
        cosine=pair.cosine,
        category=a.category,
        a_date=a.stated_at,
        b_date=b.stated_at,
        context=pair.context if isinstance(pair, Near) else None,
        group=a.scope.ids,
    )


def _apart(pair: Candidate, memories: Mapping[str, Memory], keys: KeysOf) -> Evidence | None:
    """Whether the metadata of two memories names different subjects, or may."""
    a, b = memories.get(pair.a), memories.get(pair.b)
    if a is None or b is None or not (a.metadata or b.metadata):
        return None
    meaning = keys.get(a.scope, NO_KEYS)
    if not pair.exact and statement_key(a.text) == statement_key(b.text):
        return apart(a, b, meaning) or unnamed(a, b, meaning)
    return apart(a, b, meaning)


def _vetoed(evidence: Evidence | None) -> bool:
    return evidence is not None and evidence.veto


def _unscored(pair: Candidate, same: Evidence, differing: Evidence | None) -> Verdict:
    """The verdict on one statement written twice, or on memories about different subjects."""
    if differing is None:
        return _exact(pair, same)
    if differing.veto:
        return Verdict(_plain(pair), Label.DISTINCT, evidence=(differing,))
    return replace(_exact(pair, same), auto=False, evidence=(same, differing))


def differences(texts: PairInput, *, entailment: Sequence[float] = (1.0, 1.0)) -> tuple[Evidence, ...]:
    """What the guards find, and what leaves a merge to a person.

    Args:
        texts: The pair.
        entailment: a entails b, b entails a, by the scorer.
    """
    found = compare(texts.a, texts.b, a_date=texts.a_date, b_date=texts.b_date)
    if any(item.kind == "place" for item in found) and settled(texts.a, texts.b, entailment):
        found = tuple(item for item in found if item.kind != "place")
    known = {item.kind for item in found}
    doubted = doubts(texts.a, texts.b, found, entailment=entailment)
    return (*found, *(item for item in doubted if item.kind not in known))


def _two_states(texts: PairInput, probabilities: Sequence[float], evidence: Iterable[Evidence]) -> bool:
    """Whether vetoes show that both texts cannot hold: exchanged places, or two states of one thing.

    Two states are a conflict where the scorer, too, thinks rather of one than of a duplicate: of labelled
    pairs 105 are contradictions, 19 distinct and 4 duplicates.
    """
    found, bindings = tuple(evidence), relation(texts.a, texts.b)
    if bindings.excludes and any(item.veto and item.kind == "binding" for item in found):
        return True
    return min(bindings.said) >= HALF_SAID and probabilities[CONTRADICTION] > probabilities[DUPLICATE] and (
        two_states(texts.a, texts.b, found, texts.told)
    )  # fmt: skip


def _unstated(texts: PairInput, probabilities: Sequence[float], evidence: Iterable[Evidence]) -> bool:
    """Whether a conflict among a person's memories is the scorer's alone, and no text states it."""
    found, sure = tuple(evidence), probabilities[CONTRADICTION]
    if not texts.placed or sure >= UNSHARED or stated_conflict(texts.a, texts.b, found, texts.told):
        return False
    if sure >= UNSTATED and min(relation(texts.a, texts.b).said) >= HALF_SAID:
        return False
    return sure < HINTED or not hinted_conflict(texts.a, texts.b, found, texts.told)


def _plain(pair: Candidate) -> Candidate:
    """The pair without its place in the store, which is input to the scorer and no part of a verdict."""
    return Candidate(pair.a, pair.b, pair.cosine, pair.exact)


def _exact(pair: Candidate, same: Evidence) -> Verdict:
    return Verdict(
        _plain(pair),
        Label.DUPLICATE,
        auto=True,
        probabilities=(1.0, 0.0, 0.0),
        entailment=(1.0, 1.0),
        evidence=(same,),
    )


def _verdict(
    pair: Candidate,
    texts: PairInput,
    scores: tuple[NDArray[np.float32], NDArray[np.float32]],
    differing: Evidence | None,
    limits: Thresholds,
    *,
    unread: bool,
) -> Verdict:
    row, directions = scores
    probabilities = (float(row[0]), float(row[1]), float(row[2]))
    evidence = () if differing is None else (differing,)
    if unread:
        return _unread(pair, texts, evidence)
    entailment = (float(directions[0]), float(directions[1]))
    rivals = contradicting(texts.a, texts.b)
    if rivals or decide(probabilities, (), limits)[0] is not Label.DISTINCT:
        evidence = (*differences(texts, entailment=entailment), *evidence)
    label, auto = decide(probabilities, evidence, limits, entailment=entailment)
    if label is not Label.CONTRADICTION and rivals is not Contradicting.NO:
        label = Label.CONTRADICTION if rivals is Contradicting.SURE else Label.UNSURE
    elif label is Label.CONTRADICTION and side_by_side(texts.a, texts.b, evidence):
        label = Label.DISTINCT
    elif label is Label.CONTRADICTION and _only_adds(texts.a, texts.b, evidence):
        label, evidence = Label.UNSURE, (*evidence, ADDS)
    elif label is Label.CONTRADICTION and _unstated(texts, probabilities, evidence):
        label = Label.UNSURE
    elif label is Label.UNSURE and _two_states(texts, probabilities, evidence):
        label = Label.CONTRADICTION
    return Verdict(
        _plain(pair),
        label,
        auto=auto and label is Label.DUPLICATE,
        probabilities=probabilities,
        entailment=entailment,
        evidence=evidence,
    )


def _unread(pair: Candidate, texts: PairInput, evidence: tuple[Evidence, ...]) -> Verdict:
    """The verdict on texts in a language that the scorer does not read: typed facts and denials decide."""
    opposed = contradicting(texts.a, texts.b) is Contradicting.SURE or only_denied(texts.a, texts.b)
    label = Label.CONTRADICTION if opposed else Label.DISTINCT
    told = (0.0, 1.0, 0.0) if opposed else (0.0, 0.0, 1.0)
    found = (*differences(texts), *evidence) if opposed else evidence
    return Verdict(_plain(pair), label, probabilities=told, evidence=(*found, FOREIGN))


def _suspect(verdict: Verdict, texts: PairInput, asks_from: float | None) -> Verdict:
    """The verdict; unsure where a rule of the original applies and the scorer says distinct."""
    if asks_from is None or verdict.label is not Label.DISTINCT:
        return verdict
    suspicion = suspected(texts.a, texts.b, cosine=verdict.pair.cosine, close=asks_from)
    return (
        replace(verdict, label=Label.UNSURE, evidence=(*verdict.evidence, suspicion))
        if suspicion
        else verdict
    )


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
_REVERSING = frozenset(table_words("grammar", "reversing"))
"""Words that can turn a fact round when they are all that one text has more than the other."""
