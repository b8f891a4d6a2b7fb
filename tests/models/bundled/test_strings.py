"""The bundled scorer on a few hundred strings that hypothesis makes; `make strings` draws 5,000."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from mem0_dream.models.bundled.scorer import BundledScorer
from mem0_dream.models.scorer import PairInput

STRINGS = int(os.environ.get("MEM0_DREAM_TEST_STRINGS", "200"))
PAIRS_PER_CALL = 25
CALLS = max(1, STRINGS // (2 * PAIRS_PER_CALL))

LONGEST = 10_000
WORDS = (  # noqa: SIM905  (words in lines read better than a column of strings)
    "Ana lives in Porto with two cats and never eats fish since 2019 prefers tabs over spaces v1.2.3 "
    "5 ft 11 180 cm 0.5 GiB 512 MiB /etc/hosts https://example.org 18 August not on Fridays staging "
    "живёт в Москве 住在东京 日本語のメモ يسكن في القاهرة גר בחיפה दिल्ली में रहता है กรุงเทพ 서울에 산다 Ελλάδα "
    "naïve e\u0301 İstanbul ß ﬁ 🙂 👩\u200d👩\u200d👧 🇵🇹 \u200b \u202e \ufeff ½ ٣ Ⅳ !!! ... - \u2014 ; , : ( ) [ ] { } \\ \" '"
).split(" ")
"""What memories are made of, in many scripts, with joiners, marks and signs that trip tokenizers."""

sentences = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)
controls = st.text(st.characters(categories=["Cc", "Cf", "Zs", "Zl", "Zp"]), max_size=12)
anything = st.text(st.characters(), max_size=60)
"""Every code point, lone surrogates too: a JSON store can hold them."""
odd = st.sampled_from(
    ["", " ", "\n", "\x00", "\ud800", "\udfff\ud800", "🙂", "\N{VARIATION SELECTOR-16}", "."]
)
long = st.builds(
    lambda unit, length: (unit * length)[:length],
    st.one_of(sentences, anything).filter(bool),
    st.sampled_from([1_999, 2_001, LONGEST]),
)
strings = st.one_of(sentences, sentences, sentences, anything, controls, odd)
pairs = st.tuples(strings, strings)
cosines = st.floats(allow_nan=True)


@pytest.fixture(scope="module")
def loads() -> tuple[BundledScorer, BundledScorer]:
    return BundledScorer(), BundledScorer()


@pytest.mark.model
@settings(max_examples=CALLS, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    texts=st.lists(pairs, min_size=PAIRS_PER_CALL - 1, max_size=PAIRS_PER_CALL - 1),
    lengthy=st.tuples(long, strings),
    cosine=cosines,
)
def test_any_string_is_scored_alike_from_both_sides_and_in_every_load(loads, texts, lengthy, cosine):
    first, second = loads
    drawn = [*texts, lengthy]
    forward = first.score([PairInput(a, b, cosine) for a, b in drawn])
    backward = second.score([PairInput(b, a, cosine) for a, b in drawn])
    for found in (forward.probabilities, forward.entailment):
        assert np.isfinite(found).all()
        assert ((found >= 0) & (found <= 1)).all()
    assert forward.probabilities.sum(axis=1) == pytest.approx(np.ones(len(drawn)), abs=1e-5)
    assert forward.probabilities.tobytes() == backward.probabilities.tobytes()
    assert forward.entailment.tobytes() == backward.entailment[:, ::-1].tobytes()
