"""Bins and thresholds by hand, and the PNG files that are drawn of curves."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from mem0_dream.errors import MissingExtraError, UsageError
from mem0_dream.models.scorer import Thresholds
from mem0_dream.scripts.evaluate import plots
from mem0_dream.scripts.evaluate import quality as evaluate
from mem0_dream.scripts.evaluate.metrics import (
    Decisions,
    calibration_error,
    reliability,
    share_right,
    threshold_at,
)

LIMITS = Thresholds(auto=0.8, duplicate=0.5, contradiction=0.5)


def decisions(probabilities: list[list[float]], gold: list[int]) -> Decisions:
    rows, count = np.array(probabilities), len(gold)
    auto = rows[:, 0] >= LIMITS.auto
    return Decisions(np.array(gold), rows.argmax(axis=1), auto, rows, np.ones(count), np.arange(count))


FIVE = decisions(
    [[0.9, 0.0, 0.1], [0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8], [0.85, 0.05, 0.1]], [0, 0, 1, 2, 2]
)
NO_CONTRADICTION = decisions([[0.9, 0.0, 0.1], [0.2, 0.0, 0.8]], [0, 1])


def test_bins_by_hand_and_the_calibration_error_over_them():
    confidence, right = np.array([0.92, 0.94, 0.1, 0.16]), np.array([True, False, False, False])
    bins = reliability(confidence, right, np.array([1, 1, 1, 2.0]))
    assert bins.stated == pytest.approx([0.14, 0.93])
    assert bins.true.tolist() == [0.0, 0.5]
    assert bins.share == pytest.approx([0.6, 0.4])
    gaps = 0.6 * 0.14 + 0.4 * (0.93 - 0.5)
    assert calibration_error(confidence, right, np.array([1, 1, 1, 2.0])) == pytest.approx(gaps)
    assert calibration_error(np.full(2, 0.5), np.array([True, False]), np.ones(2)) == pytest.approx(0.0)
    for count, gap in ((9, 0.0), (5, 0.4)):
        assert calibration_error(np.full(10, 0.9), np.arange(10) < count, np.ones(10)) == pytest.approx(gap)


@pytest.mark.parametrize("case", [FIVE, NO_CONTRADICTION], ids=["all labels", "no contradiction scored"])
def test_two_pictures_are_written(tmp_path, case):
    pytest.importorskip("matplotlib")
    files = plots.write(tmp_path, case, scorer="nli:maker/model", name="dev", thresholds=LIMITS)
    assert [file.name for file in files] == [
        "nli-maker-model-dev-precision-recall.png", "nli-maker-model-dev-reliability.png",
    ]  # fmt: skip
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)


def test_curve_marks_threshold_and_outcome():
    pytest.importorskip("matplotlib")
    _, axes = plots._precision_recall(FIVE, LIMITS)
    said = axes.get_legend_handles_labels()[1]
    assert said[1] == "duplicate, auto threshold 0.800 alone: precision 0.500, recall 0.500"
    assert said[2].startswith("duplicate, merged by itself")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Recall", "Precision")


PAIR = {"id": "1", "a": "Likes green tea", "b": "likes green tea.", "label": "duplicate", "kind": "exact"}


@pytest.fixture
def pairs_file(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps(PAIR) + "\n" + json.dumps(PAIR | {"b": "Owns a boat", "label": "distinct"}))
    return path


def test_program_writes_plots_and_names_them(tmp_path, pairs_file, capsys):
    pytest.importorskip("matplotlib")
    folder = tmp_path / "new" / "plots"
    call = [str(pairs_file), "--scorer", "keywords", "--plots", str(folder)]
    assert evaluate.main([*call, "--json"]) == 0
    written = json.loads(capsys.readouterr().out)["plots"]
    assert sorted(written) == sorted(str(file) for file in folder.iterdir())
    assert len(written) == 2
    assert evaluate.main(call) == 0
    assert f"plots {written[0]}" in capsys.readouterr().out


def test_missing_matplotlib_is_one_sentence_before_anything_is_judged(
    tmp_path, pairs_file, capsys, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    call = [str(pairs_file), "--scorer", "bundled", "--plots", str(tmp_path / "plots")]
    assert evaluate.main(call) == MissingExtraError.exit_code == 8
    assert "pip install 'mem0-dream[plots]'" in capsys.readouterr().err
    assert not (tmp_path / "plots").exists()


def test_a_file_in_the_place_of_the_folder_is_a_usage_error(pairs_file):
    pytest.importorskip("matplotlib")
    with pytest.raises(UsageError, match="cannot be written"):
        plots.prepare(pairs_file)


SCORE, RIGHT, ONE = np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, True, False, True]), np.ones(4)


@pytest.mark.parametrize(("precision", "threshold"), [(1.0, 0.8), (0.75, 0.6), (1.01, np.inf)])
def test_a_threshold_is_the_lowest_that_keeps_the_precision(precision, threshold):
    assert threshold_at(SCORE, RIGHT, ONE, precision) == threshold
    assert threshold_at(SCORE, np.zeros(4, dtype=bool), ONE, precision) == np.inf


def test_equal_scores_stand_or_fall_together_and_weigh_as_much_as_they_say():
    """Precision 1 at 0.9, 0.8 at 0.5 (four of five by weight), 0.4 at 0.1."""
    parts = np.array([0.5, 0.9, 0.5, 0.1]), np.array([True, True, False, False]), np.array([3.0, 1, 1, 5])
    assert [threshold_at(*parts, share) for share in (0.81, 0.8, 0.41, 0.4)] == [0.9, 0.5, 0.5, 0.1]


def test_weights_count_as_pairs_and_nothing_chosen_is_precise_and_useless():
    found = share_right(SCORE, RIGHT, np.array([1.0, 1.0, 3.0, 1.0]), 0.65)
    assert found == pytest.approx((2 / 5, 2 / 3))
    assert share_right(SCORE, RIGHT, ONE, 2.0) == (1.0, 0.0)
