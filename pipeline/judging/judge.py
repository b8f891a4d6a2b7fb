"""From scores to verdicts: thresholds decide, guards may only hold back.

An attribute that has one value at a time because a person says so cannot hold two.

What is one statement by its words alone needs no model. Everything else is scored in both directions,
compared detail by detail, and called a duplicate only if nothing load-bearing differs. No verdict is ever
inferred from another pair.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import lru_cache

from ...models import agreement
from ...models import doubts as doubting
from ...models.belief import Said, believed
from ...models.bindings import HALF_SAID, relation
from ...models.guards import Contradicting, compare, contradicting
from ...models.keywords import CONTRADICTION_OVERLAP, opposed
from ...models.same_statement import same_statement, sameness, statement_key, told_by_a_sign
from ...models.scorer import (
    CONTRADICTION,
    DUPLICATE,
    PairInput,
    PairScorer,
    Thresholds,
    english_only,
    limits_for,
    needs_words,
)
from ...models.text.tables import pattern, table_lines, table_words
from ...models.text.words import exact_key, is_english, only_denied, overlap, significant_words, tokens
from ...models.whose import WHOSE
from ...records import Candidate, Evidence, Label, Memory, Verdict
from .candidates import Near
from .subjects import (
    NO_KEYS,
    UNCLEAR,
    KeysOf,
    MetadataKeys,
    apart,
    judged_text,
    keys_by_scope,
    unnamed,
)

EXACT = Evidence("exact", "same text but for case, white space or final punctuation")
SAME = "same"  # kind of evidence: one statement, written differently; the detail says in what

ADDS = Evidence("adds", "one text has all words of the other, and no detail differs")


RULE = "rule"  # of the evidence that names a rule of the original skill; such a pair becomes a question
FOREIGN = Evidence("language", "not in English, which is all that the scorer reads")
ORDER = "order"
_ASKED = doubting.DOUBTS | {UNCLEAR, WHOSE, "narrower"}  # forbids nothing, but leaves a merge to a person
RIVALS = frozenset({"rival", "progress", "binding", "stage", "past", RULE})
"""Evidence that two texts give rival values: if they are about one thing, one is wrong, so they never become
one text."""
STAGES = frozenset({"stage", "past"})  # those of them at which one thing may be told to be, twice
HINTED = 0.9  # contradiction probability from which two texts conflict though they only hint at why
UNSTATED, UNSHARED = 0.95, 0.98
"""The same where no word of them does, and where besides less than half of their words is shared."""
CLOSE, CLOSE_IN_WORDS = 0.65, 0.25
"""Cosine of two preferences about one thing, and where an encoder only counts words: one of four in common.
On 18 pairs written for it, pairs about one thing had 0.69 and more, pairs about two things 0.61 and less."""
_RANKING = frozenset(["prefer", "favor", "favour", "favourit", "favorit", "better", "rather"])
_TASTE = _RANKING | frozenset(["lik", "lov", "enjoy", "hat", "dislik", "fond"])
_CODE = re.compile(r"(?<!\w)[A-Z]{1,2}[+-](?!\w)")
"""Blood types and grades: their words say nothing, since "a" is an article."""
CACHED_PAIRS = 1 << 15  # a draft moves the places of pairs, round after round, and not what their words say
_alike, _opposed = lru_cache(maxsize=CACHED_PAIRS)(sameness), lru_cache(maxsize=CACHED_PAIRS)(contradicting)
_LEFT_OUT = ContextVar[Collection[str]]("_LEFT_OUT", default=())
_REVERSING = frozenset(table_words("grammar", "reversing"))  # when they are all that one text has more


def decide(
    probabilities: Sequence[float],
    evidence: Iterable[Evidence],
    thresholds: Thresholds,
    *,
    entailment: Sequence[float] = (1.0, 1.0),
) -> tuple[Label, bool]:
    """Turn the probabilities of one pair into a label, and whether a merge needs no person."""
    evidence = tuple(evidence)
    duplicate, contradiction = probabilities[DUPLICATE], probabilities[CONTRADICTION]
    if contradiction >= thresholds.contradiction and contradiction >= duplicate:
        return Label.CONTRADICTION, False
    if duplicate >= thresholds.duplicate:
        if any(item.veto for item in evidence):
            return Label.UNSURE, False
        return Label.DUPLICATE, duplicate >= thresholds.auto and not left_to_person(evidence, entailment)
    if max(probabilities) in (duplicate, contradiction):
        return Label.UNSURE, False
    return Label.DISTINCT, False


def left_to_person(evidence: Iterable[Evidence], entailment: Sequence[float] = (1.0, 1.0)) -> bool:
    """Whether there is a reason against a merge without a person, whatever a scorer thinks."""
    evidence = tuple(evidence)
    kinds = {item.kind for item in evidence}
    turned = ORDER in kinds and min(entailment) < doubting.BOTH_ENTAIL
    return turned or bool(kinds & _ASKED) or any(item.veto for item in evidence)


@contextmanager
def leaving_out(kinds: Collection[str]) -> Iterator[None]:
    """Judge without some kinds of evidence, to measure what these are worth."""
    token = _LEFT_OUT.set(kinds)
    try:
        yield
    finally:
        _LEFT_OUT.reset(token)


def are_rivals(verdict: Verdict) -> bool:
    """Whether two texts give rival values, or one denies the other: they never become one text.

    Two stages do where a scorer rather thinks so: "seeks to" and "is looking to" are told as different ones.
    """
    likely = verdict.probabilities[DUPLICATE] >= verdict.probabilities[CONTRADICTION]
    rivals = RIVALS - STAGES if likely else RIVALS
    return any(
        item.kind in rivals
        or (item.veto and item.kind == "denial")
        or (item.veto and item.kind == "negation" and pattern("stated_denial").search(item.detail))
        for item in verdict.evidence
    )


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
    """One verdict for each candidate, in their order; memories about different subjects are distinct.

    Args:
        candidates: Pairs of ids; those of one statement are not scored.
        memories: By id; every id of a candidate must be in it.
        scorer: Gives the probabilities, once for each pair.
        thresholds: Instead of the scorer's own.
        keys: What the metadata keys of each scope mean; read from the given memories if omitted.
        asks_from: Ask about pairs that a rule of the original would report and the scorer calls distinct;
            two preferences from this cosine on.
        single: Attributes of which a person says that they have one value.
    """
    known = keys_by_scope(memories.values()) if keys is None else keys
    english, words = english_only(scorer), needs_words(scorer)
    verdicts: dict[Candidate, Verdict] = {}
    asked: dict[Candidate, tuple[PairInput, Evidence | None]] = {}
    for pair in candidates:
        same = EXACT if pair.exact else None
        if not pair.exact or {pair.a, pair.b} <= memories.keys():
            a, b = memories[pair.a], memories[pair.b]
            said = None if _silent(pair) else same_evidence(a, b, keys=known.get(a.scope, NO_KEYS))
            same = said or (same if same and not told_by_a_sign(a.text, b.text) else None)
        differing = _apart(pair, memories, known)
        if differing is not None and differing.veto:
            verdicts[pair] = Verdict(_plain(pair), Label.DISTINCT, evidence=(differing,))
        elif same is not None:
            verdicts[pair] = one_statement(pair, same, differing)
        else:
            asked[pair] = pair_input(pair, memories, known), differing
    scores = scorer.score([texts for texts, _ in asked.values()])
    for (pair, (texts, differing)), *row in zip(
        asked.items(), scores.probabilities.tolist(), scores.entailment.tolist(), strict=True
    ):
        evidence = () if differing is None else (differing,)
        if english and not (is_english(texts.a) and is_english(texts.b)):
            verdict = _unread(pair, texts, evidence)
        else:
            limits = thresholds or limits_for(scorer, texts)
            verdict = _verdict(pair, texts, row, evidence, limits, words=words)
        if asks_from is not None and verdict.label is Label.DISTINCT and not _silent(pair):
            rule = suspected(texts.a, texts.b, cosine=verdict.pair.cosine, close=asks_from)
            if rule:
                verdict = replace(verdict, label=Label.UNSURE, evidence=(*verdict.evidence, rule))
        verdicts[pair] = verdict if _silent(pair) else _one_value(verdict, memories, single)
    return tuple(verdicts[pair] for pair in candidates)


def _one_value(verdict: Verdict, memories: Mapping[str, Memory], single: Collection[str]) -> Verdict:
    said = two_values(memories[verdict.pair.a].text, memories[verdict.pair.b].text, single) if single else ""
    if not said or verdict.label is Label.CONTRADICTION:
        return verdict
    evidence = (*verdict.evidence, Evidence("rival", said, veto=True))
    told = (0.0, 1.0, 0.0)
    return replace(verdict, label=Label.CONTRADICTION, auto=False, probabilities=told, evidence=evidence)


def same_evidence(a: Memory, b: Memory, *, keys: MetadataKeys = NO_KEYS) -> Evidence | None:
    """Why two memories are one statement by their words alone; None where they are not."""
    if exact_key(a.text) == exact_key(b.text) and not told_by_a_sign(a.text, b.text):
        return EXACT
    texts = a.text, b.text
    judged = keys.names.read(a.text), keys.names.read(b.text)
    said = _alike(*judged, a_date=a.stated_at, b_date=b.stated_at)
    if said is not None and judged != texts and not same_statement(*texts):
        said = f"{', '.join(keys.names.own)} is the user"
    return None if said is None else Evidence(SAME, said)


def pair_input(pair: Candidate, memories: Mapping[str, Memory], keys: KeysOf | None = None) -> PairInput:
    """What a scorer may read of a candidate: the texts with the subjects that only the metadata names."""
    a, b = memories[pair.a], memories[pair.b]
    meaning = (keys or {}).get(a.scope, NO_KEYS)
    return PairInput(
        a=judged_text(a, meaning),
        b=judged_text(b, meaning),
        cosine=pair.cosine,
        category=a.category,
        a_date=a.stated_at,
        b_date=b.stated_at,
        context=pair.context if isinstance(pair, Near) else None,
        group=a.scope.ids,
        worth=pair.worth if isinstance(pair, Near) else None,
    )


def _apart(pair: Candidate, memories: Mapping[str, Memory], keys: KeysOf) -> Evidence | None:
    a, b = memories.get(pair.a), memories.get(pair.b)
    if a is None or b is None:
        return None
    meaning = keys.get(a.scope, NO_KEYS)
    found = apart(a, b, meaning)
    if found or not (a.metadata or b.metadata):
        return found
    first, second = (statement_key(meaning.names.read(memory.text)) for memory in (a, b))
    return unnamed(a, b, meaning) if not pair.exact and first == second else None


def differences(
    texts: PairInput, *, entailment: Sequence[float] = (1.0, 1.0), said: Said | None = None
) -> tuple[Evidence, ...]:
    """What the guards find, and what leaves a merge to a person; see `doubting.doubts` for the numbers."""
    return _differences(texts.a, texts.b, texts.told, tuple(entailment), said)


@lru_cache(maxsize=CACHED_PAIRS)
def _differences(
    a: str,
    b: str,
    told: doubting.Told,
    entailment: tuple[float, ...],
    said: Said | None,
) -> tuple[Evidence, ...]:
    found = compare(a, b, a_date=told[0], b_date=told[1])
    if any(item.kind == "place" for item in found) and doubting.settled(a, b, entailment):
        found = tuple(item for item in found if item.kind != "place")
    if believed(a, b, entailment, said):
        read = doubting.BOUND | doubting.READ if min(entailment) >= doubting.BOTH_ENTAIL else doubting.READ
        found = tuple(item for item in found if item.kind not in read)
    known = {item.kind for item in found}
    doubted = doubting.doubts(a, b, found, entailment=entailment, said=said)
    return (*found, *(item for item in doubted if item.kind not in known))


def _two_states(texts: PairInput, probabilities: Sequence[float], evidence: Iterable[Evidence]) -> bool:
    """Whether vetoes show that both texts cannot hold: exchanged places, or two states of one thing.

    Of labelled pairs with two states 105 are contradictions, 19 distinct and 4 duplicates.
    """
    found, bindings = tuple(evidence), relation(texts.a, texts.b)
    if bindings.excludes and any(item.veto and item.kind == "binding" for item in found):
        return True
    return min(bindings.said) >= HALF_SAID and probabilities[CONTRADICTION] > probabilities[DUPLICATE] and (
        doubting.two_states(texts.a, texts.b, found, texts.told)
    )  # fmt: skip


def _unstated(texts: PairInput, probabilities: Sequence[float], evidence: Iterable[Evidence]) -> bool:
    """Whether a conflict among a person's memories is the scorer's alone, and no text states it."""
    found, sure = tuple(evidence), probabilities[CONTRADICTION]
    if not texts.placed or sure >= UNSHARED or doubting.stated_conflict(texts.a, texts.b, found, texts.told):
        return False
    if sure >= UNSTATED and min(relation(texts.a, texts.b).said) >= HALF_SAID:
        return False
    return sure < HINTED or not doubting.hinted_conflict(texts.a, texts.b, found, texts.told)


def _silent(pair: Candidate) -> bool:
    """Whether the words of a pair are known to say nothing by themselves."""
    return isinstance(pair, Near) and pair.silent


def _plain(pair: Candidate) -> Candidate:
    return Candidate(pair.a, pair.b, pair.cosine, pair.exact)


def one_statement(pair: Candidate, same: Evidence, differing: Evidence | None = None) -> Verdict:
    """The verdict on one statement written twice; a person decides where it may be about two subjects."""
    return Verdict(
        _plain(pair),
        Label.DUPLICATE,
        auto=differing is None,
        probabilities=(1.0, 0.0, 0.0),
        entailment=(1.0, 1.0),
        evidence=(same,) if differing is None else (same, differing),
    )


def _verdict(
    pair: Candidate,
    texts: PairInput,
    row: Sequence[Sequence[float]],
    evidence: tuple[Evidence, ...],
    limits: Thresholds,
    *,
    words: bool,
) -> Verdict:
    (duplicate, contradiction, distinct), (there, back) = row
    probabilities, entailment = (duplicate, contradiction, distinct), (there, back)
    rivals = Contradicting.NO if _silent(pair) else _opposed(texts.a, texts.b)
    if rivals or decide(probabilities, (), limits)[0] is not Label.DISTINCT:
        said = Said(duplicate, texts.placed) if words else None
        evidence = (*differences(texts, entailment=entailment, said=said), *evidence)
        evidence = tuple(item for item in evidence if item.kind not in _LEFT_OUT.get())
    label, auto = decide(probabilities, evidence, limits, entailment=entailment)
    if label is not Label.CONTRADICTION and rivals is not Contradicting.NO:
        label = Label.CONTRADICTION if rivals is Contradicting.SURE else Label.UNSURE
    elif label is Label.CONTRADICTION and doubting.side_by_side(texts.a, texts.b, evidence):
        label = Label.DISTINCT
    elif label is Label.CONTRADICTION and _only_adds(texts.a, texts.b, evidence):
        label, evidence = Label.UNSURE, (*evidence, ADDS)
    elif label is Label.CONTRADICTION and _unstated(texts, probabilities, evidence):
        label = Label.UNSURE
    elif label is Label.UNSURE and _two_states(texts, probabilities, evidence):
        label = Label.CONTRADICTION
    auto = auto and label is Label.DUPLICATE
    if words and not auto and rivals is not Contradicting.SURE:
        label = _in_common(texts, label, probabilities, evidence)
    return Verdict(_plain(pair), label, auto, probabilities, entailment, evidence)


def _in_common(
    texts: PairInput, label: Label, probabilities: Sequence[float], evidence: Sequence[Evidence]
) -> Label:
    """The label of a pair of which a scorer alone may not say that there is anything to decide."""
    pair = texts.a, texts.b, texts.cosine
    if label is Label.CONTRADICTION and not agreement.agree(*pair, evidence):
        wish = agreement.wish_beside_state(texts.a, texts.b)
        return Label.UNSURE if agreement.shared(texts.a, texts.b) and not wish else Label.DISTINCT
    against = probabilities[CONTRADICTION] > probabilities[DUPLICATE]
    if label in (Label.UNSURE, Label.DUPLICATE) and not agreement.touch(*pair, against=against):
        return Label.DISTINCT
    return label


def _unread(pair: Candidate, texts: PairInput, evidence: tuple[Evidence, ...]) -> Verdict:
    opposed = contradicting(texts.a, texts.b) is Contradicting.SURE or only_denied(texts.a, texts.b)
    label = Label.CONTRADICTION if opposed else Label.DISTINCT
    told = (0.0, 1.0, 0.0) if opposed else (0.0, 0.0, 1.0)
    found = (*differences(texts), *evidence) if opposed else evidence
    return Verdict(_plain(pair), label, probabilities=told, evidence=(*found, FOREIGN))


def _only_adds(a: str, b: str, evidence: Iterable[Evidence]) -> bool:
    """Whether one text merely adds to the other, so that a conflict is for a person to suspect.

    On the real development pairs nearly all such pairs are duplicates. An added word that turns a
    fact round ("stop using", "until May", "only") is no mere addition.
    """
    codes = [set(_CODE.findall(text)) for text in (a, b)]
    evidence = tuple(evidence)
    denied = any(
        item.kind == "negation" and pattern("stated_denial").search(item.detail) for item in evidence
    )
    if denied or any(item.veto for item in evidence) or (all(codes) and codes[0] != codes[1]):
        return False
    first, second = significant_words(a), significant_words(b)
    if len(first ^ second) == len(first - second) * 2 == 2:
        (x,), (y,) = first - second, second - first  # "3.12" and "3.12.4"
        if x[0].isdigit() and y[0].isdigit() and (x.startswith(f"{y}.") or y.startswith(f"{x}.")):
            return True
    if not (first <= second or second <= first):
        return False
    mine, theirs = (set(re.findall(r"[\w'’]+", text.lower())) for text in (a, b))
    return not (mine ^ theirs) & _REVERSING


def suspected(a: str, b: str, *, cosine: float, close: float = CLOSE) -> Evidence | None:
    """The rule by which two statements of one category would be reported, if any."""
    shared = overlap(a, b)
    if shared >= CONTRADICTION_OVERLAP and opposed(a, b):
        return Evidence(RULE, f"turned against each other, with {shared:.0%} of their words in common")
    if cosine < close:
        return None
    first, second = ({token.stem for token in tokens(text)} for text in (a, b))
    if first & _TASTE and second & _TASTE and (first | second) & _RANKING:
        return Evidence(RULE, "two preferences about one thing, at least one of which ranks it")
    return None


def close_for(encoder: str) -> float:
    """The cosine that fits an encoder, by its name."""
    return CLOSE_IN_WORDS if encoder.startswith("words-") else CLOSE


_NOBODY = frozenset(
    ("user", "i", "the", "my", "our", "we", "a", "an", "user's", "current", "currently", "now", "also")
)
_KNOWN = ("home", "employer")
_ENDING = "(?:e|s|es|ed|ing|ments?)"
_STEM = 4  # letters that are left of a word without its ending, so that it is still that word


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
    return found[0] if len(found) == 1 and not pattern("not_claimed_now").search(text) else None


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
