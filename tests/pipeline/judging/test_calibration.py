"""Fitting thresholds on a person's own labelled pairs."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from builders import memory
from hypothesis import given
from hypothesis import strategies as st
from mem0_dream.errors import UsageError
from mem0_dream.models.scorer import Thresholds
from mem0_dream.pipeline.judging.calibration import calibrate, fit_threshold, load_thresholds, save_thresholds
from mem0_dream.pipeline.judging.labelling import labelled_keys, most_informative, pair_line, read_pairs
from mem0_dream.records import Candidate, Label, Verdict

BASE = Thresholds(auto=0.9, duplicate=0.5, contradiction=0.7)


def test_the_threshold_lies_between_the_last_right_and_the_first_wrong():
    """Thirty right ones above 0.8 and one wrong at 0.5: halfway is 0.65."""
    scores = np.array([0.8] * 30 + [0.5], dtype=np.float32)
    right = np.array([True] * 30 + [False])
    reached = fit_threshold(scores, right, 1.0)
    assert reached.threshold == pytest.approx(0.65)
    assert (reached.precision, reached.recall, reached.predicted) == (1.0, 1.0, 30)


def test_equal_scores_are_never_torn_apart():
    """A threshold inside a tie would promise a precision it cannot keep."""
    scores = np.array([0.9] * 20 + [0.7] * 20, dtype=np.float32)
    right = np.array([True] * 20 + [True] * 10 + [False] * 10)
    assert fit_threshold(scores, right, 0.98).predicted == 20


def test_an_unreachable_precision_switches_off():
    """No threshold is better than a wrong one."""
    scores = np.linspace(1, 0, 40, dtype=np.float32)
    reached = fit_threshold(scores, np.array([False, True] * 20), 0.98)
    assert (reached.threshold, reached.predicted) == (0.999, 0)


def test_too_few_pairs_prove_nothing():
    """Nineteen right ones are not enough for a threshold of their own."""
    reached = fit_threshold(np.array([0.9] * 19, dtype=np.float32), np.array([True] * 19), 0.98)
    assert reached.predicted == 0


@given(st.lists(st.tuples(st.floats(0, 1, width=32), st.booleans()), max_size=80))
def test_the_promised_precision_is_kept(pairs):
    """Whatever the scores, the share above the threshold is at least what was asked for."""
    scores = np.array([score for score, _ in pairs], dtype=np.float32)
    right = np.array([truth for _, truth in pairs], dtype=bool)
    reached = fit_threshold(scores, right, 0.9)
    above = scores >= reached.threshold
    if reached.predicted:
        assert above.sum() == reached.predicted
        assert right[above].mean() >= 0.9


def test_a_veto_counts_as_never_merged():
    """Pairs that a guard holds back do not spoil the automatic threshold."""
    rows = np.array([[0.95, 0.0, 0.05]] * 25 + [[0.97, 0.0, 0.03]] * 5, dtype=np.float32)
    labels = [Label.DUPLICATE] * 25 + [Label.DISTINCT] * 5
    fitted = calibrate(rows, [False] * 25 + [True] * 5, labels, base=BASE)
    assert fitted.auto.precision == 1.0
    assert fitted.auto.predicted == 25
    assert calibrate(rows, [False] * 30, labels, base=BASE).auto.predicted == 0


def test_a_file_without_duplicates_fits_nothing():
    """The sentence says how many there are and how to get more."""
    with pytest.raises(UsageError, match="has 1; label more"):
        calibrate(np.ones((1, 3), dtype=np.float32), [False], [Label.DUPLICATE], base=BASE)


def test_thresholds_are_kept_per_scorer(tmp_path):
    """One scorer's thresholds say nothing about another's; forgetting brings the defaults back."""
    save_thresholds(tmp_path, "one", BASE)
    save_thresholds(tmp_path, "two", replace(BASE, auto=0.8))
    assert load_thresholds(tmp_path, "one") == BASE
    save_thresholds(tmp_path, "one", None)
    assert load_thresholds(tmp_path, "one") is None
    assert load_thresholds(tmp_path, "two") == replace(BASE, auto=0.8)


def test_a_damaged_file_is_named(tmp_path):
    """It is not silently ignored: the person calibrated for a reason."""
    (tmp_path / "thresholds.json").write_text("{")
    with pytest.raises(UsageError, match=r"thresholds\.json is damaged"):
        load_thresholds(tmp_path, "one")


def verdict(a, b, duplicate):
    """A judged pair."""
    return Verdict(Candidate(a, b, 0.5), Label.UNSURE, probabilities=(duplicate, 0.0, 1 - duplicate))


def test_the_nearest_to_a_decision_comes_first_and_memories_take_turns():
    """The second question about a memory waits until others had their first."""
    memories = {name: memory(name, f"text {name}") for name in "abcde"}
    verdicts = [verdict("a", "b", 0.51), verdict("a", "c", 0.52), verdict("d", "e", 0.55)]
    ordered = most_informative(verdicts, thresholds=BASE, done=frozenset(), memories=memories)
    assert [(v.pair.a, v.pair.b) for v in ordered] == [("a", "b"), ("d", "e"), ("a", "c")]


def test_labelled_pairs_are_read_back_and_not_asked_again(tmp_path):
    """What `label` writes, `calibrate` reads; unsure ones are kept but not used."""
    a, b, c = (
        memory("a", "Likes tea."),
        memory("b", "Likes green tea."),
        memory("c", "Owns a dog.", days=None),
    )
    file = tmp_path / "pairs.jsonl"
    file.write_text(pair_line(a, b, Label.DUPLICATE) + pair_line(a, c, Label.UNSURE))
    (pair,) = read_pairs(file)
    assert (pair.pair.a, pair.pair.b, pair.label) == ("Likes tea.", "Likes green tea.", Label.DUPLICATE)
    assert pair.pair.a_date == a.stated_at
    memories = {item.id: item for item in (a, b, c)}
    verdicts = [verdict("a", "b", 0.5), verdict("a", "c", 0.5), verdict("b", "c", 0.5)]
    left = most_informative(verdicts, thresholds=BASE, done=labelled_keys(file), memories=memories)
    assert [(v.pair.a, v.pair.b) for v in left] == [("b", "c")]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [("{", "is no JSON"), ("[]", "no JSON object"), (json.dumps({"a": "x"}), "no labelled pair")],
)
def test_a_wrong_line_is_named(tmp_path, line, complaint):
    """One sentence with the place."""
    file = tmp_path / "pairs.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(UsageError, match=complaint):
        read_pairs(file)


def test_a_missing_file_is_named(tmp_path):
    """For `calibrate`; `label` begins a new one."""
    with pytest.raises(UsageError, match="cannot be read"):
        read_pairs(tmp_path / "none.jsonl")
    assert labelled_keys(tmp_path / "none.jsonl") == frozenset()
