"""The calibrator: hand-made trees give hand-computable probabilities, and fitted ones equal scikit-learn."""

from pathlib import Path

import numpy as np
import pytest
from mem0_dream.models.bundled.calibrator import Calibrator
from mem0_dream.scripts.train.calibrate import flatten


def stump(threshold=0.5, low=-1.0, high=1.0, *, missing_left=False) -> Calibrator:
    def ints(*row: int) -> np.ndarray:
        return np.array(row, np.int32)

    return Calibrator(
        ints(0, -1, -1), np.array([threshold, 0.0, 0.0]), ints(1, 0, 0), ints(2, 0, 0), np.array([0.0, low, high]),
        ints(0), ints(0), ints(0), np.zeros((1, 3)), np.array([missing_left, False, False]),
    )  # fmt: skip


def test_a_row_at_the_threshold_goes_left() -> None:
    found = stump().probabilities(np.array([[0.5], [0.51]]))
    left, right = np.exp(-1.0), np.exp(1.0)
    assert found[0] == pytest.approx([left / (left + 2), 1 / (left + 2), 1 / (left + 2)])
    assert found[1] == pytest.approx([right / (right + 2), 1 / (right + 2), 1 / (right + 2)])
    assert stump().probabilities(np.zeros((0, 1))).shape == (0, 3)


def test_saving_and_loading_changes_nothing(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "trees.npz", **stump(0.25, -0.125, 3.5).arrays())
    again = Calibrator.load(tmp_path / "trees.npz")
    rows = np.array([[0.2], [0.3]])
    assert np.array_equal(again.probabilities(rows), stump(0.25, -0.125, 3.5).probabilities(rows))


@pytest.mark.parametrize("missing_left", [False, True])
def test_a_missing_value_goes_where_the_tree_sends_it(missing_left: bool) -> None:
    trees = stump(missing_left=missing_left)
    gap, known = trees.probabilities(np.array([[np.nan], [0.0 if missing_left else 1.0]]))
    assert np.array_equal(gap, known)


def test_a_pickled_file_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "evil.npz", feature=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="pickle"):
        Calibrator.load(tmp_path / "evil.npz")


def test_flattened_boosters_predict_what_scikit_learn_predicts() -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(300, 5))
    gaps = rng.random(rows.shape) < 0.2
    label = (rows[:, 0] > 0).astype(int) + (rows[:, 1] + rows[:, 2] > 0.5)
    rows[gaps] = np.nan
    how = {"max_iter": 8, "max_leaf_nodes": 6}
    boosters = [
        ensemble.HistGradientBoostingClassifier(**how, random_state=seed).fit(rows, label) for seed in (1, 2)
    ]
    expected = np.mean([booster.predict_proba(rows) for booster in boosters], axis=0)
    assert flatten(boosters).probabilities(rows) == pytest.approx(expected, abs=1e-12)
