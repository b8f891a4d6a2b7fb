"""Fitting thresholds on a person's own labelled pairs."""

import json
from dataclasses import replace

import numpy as np
import pytest
from builders import NOW
from hypothesis import given, strategies as st
from mem0_dream.errors import UsageError
from mem0_dream.models.scorer import Thresholds
from mem0_dream.pipeline.judging import calibration
from mem0_dream.pipeline.judging.calibration import calibrate, fit_threshold
from mem0_dream.pipeline.plan import Member
from mem0_dream.records import Label

BASE = Thresholds(auto=0.9, duplicate=0.5, contradiction=0.7)


@pytest.mark.parametrize(
    ("scores", "right", "precision", "threshold", "predicted"),
    [
        ([0.8] * 30 + [0.5], [True] * 30 + [False], 1.0, 0.65, 30),
        # A threshold inside a tie would promise a precision it cannot keep.
        ([0.9] * 20 + [0.7] * 20, [True] * 30 + [False] * 10, 0.98, 0.8, 20),
        (np.linspace(1, 0, 40), [False, True] * 20, 0.98, 0.999, 0),
        ([0.9] * 19, [True] * 19, 0.98, 0.999, 0),
    ],
    ids=["between the last right and the first wrong", "a tie", "unreachable", "too few pairs"],
)
def test_a_threshold_keeps_the_precision_or_switches_off(scores, right, precision, threshold, predicted):
    reached = fit_threshold(np.array(scores, dtype=np.float32), np.array(right), precision)
    assert (reached.threshold, reached.predicted) == (pytest.approx(threshold), predicted)
    assert not predicted or reached.precision == 1.0


@given(st.lists(st.tuples(st.floats(0, 1, width=32), st.booleans()), max_size=80))
def test_the_promised_precision_is_kept(pairs):
    scores = np.array([score for score, _ in pairs], dtype=np.float32)
    right = np.array([truth for _, truth in pairs], dtype=bool)
    reached = fit_threshold(scores, right, 0.9)
    above = scores >= reached.threshold
    if reached.predicted:
        assert above.sum() == reached.predicted
        assert right[above].mean() >= 0.9


def test_a_veto_counts_as_never_merged():
    rows = np.array([[0.95, 0.0, 0.05]] * 25 + [[0.97, 0.0, 0.03]] * 5, dtype=np.float32)
    labels = [Label.DUPLICATE] * 25 + [Label.DISTINCT] * 5
    fitted = calibrate(rows, [False] * 25 + [True] * 5, labels, base=BASE)
    assert fitted.auto.precision == 1.0
    assert fitted.auto.predicted == 25
    assert calibrate(rows, [False] * 30, labels, base=BASE).auto.predicted == 0
    with pytest.raises(UsageError, match="has 1; answer more"):
        calibrate(np.ones((1, 3), dtype=np.float32), [False], [Label.DUPLICATE], base=BASE)


def test_thresholds_are_kept_per_scorer(tmp_path):
    calibration.save_thresholds(tmp_path, "one", BASE)
    calibration.save_thresholds(tmp_path, "two", replace(BASE, auto=0.8))
    assert calibration.load_thresholds(tmp_path, "one") == BASE
    calibration.save_thresholds(tmp_path, "one", None)
    assert calibration.load_thresholds(tmp_path, "one") is None
    assert calibration.load_thresholds(tmp_path, "two") == replace(BASE, auto=0.8)
    # A damaged file is not silently ignored: the person calibrated for a reason.
    (tmp_path / "thresholds.json").write_text("{")
    with pytest.raises(UsageError, match=r"thresholds\.json is damaged"):
        calibration.load_thresholds(tmp_path, "one")


@pytest.mark.parametrize("tea", ["Likes tea.", "Likes\u2028tea.", "Likes tea \ud83d"])
def test_labelled_pairs_are_read_back(tmp_path, tea):
    a, b, c = Member("a", tea, stated_at=NOW), Member("b", "Likes green tea."), Member("c", "Owns a dog.")
    labels = [(a, b, Label.DISTINCT), (a, c, Label.UNSURE), (b, a, Label.DUPLICATE)]
    file = tmp_path / "pairs.jsonl"
    file.write_text(
        "".join(calibration.pair_line(*each, category="note") for each in labels), encoding="utf-8"
    )
    (pair,) = calibration.read_pairs(file)
    assert (pair.pair.a, pair.pair.b, pair.label) == ("Likes green tea.", tea, Label.DUPLICATE)
    assert (pair.pair.a_date, pair.pair.b_date, pair.pair.category) == (None, NOW, "note")


@pytest.mark.parametrize("line", ["{", "[]", json.dumps({"a": "x"})])
def test_a_wrong_line_is_named(tmp_path, line):
    file = tmp_path / "pairs.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(UsageError, match=rf"Line 1 of {file} is no labelled pair"):
        calibration.read_pairs(file)
    with pytest.raises(UsageError, match="cannot be read"):
        calibration.read_pairs(tmp_path / "none.jsonl")
