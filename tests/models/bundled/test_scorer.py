"""The bundled scorer as shipped: symmetric, deterministic, checked, and unmoved by strange input."""

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from mem0_dream.errors import ModelError
from mem0_dream.models.bundled.scorer import FOLDER, BundledScorer
from mem0_dream.models.guards import FACTS_VERSION
from mem0_dream.models.scorer import PairContext, PairInput
from mem0_dream.pipeline.judging.cache import Cache, Remembered

LARGEST_FOLDER = 25_000_000

PAIRS = (
    PairInput("Lives in Porto.", "Moved from Porto to Faro in May.", 0.7),
    PairInput("Ana is a nurse and has two cats.", "Ana works as a nurse.", 0.8),
    PairInput("Deploys on Fridays are fine.", "Never deploy on a Friday.", 0.75),
    PairInput("Likes hiking.", "Likes climbing.", 0.6),
)


@pytest.fixture(scope="module")
def scorer() -> BundledScorer:
    return BundledScorer()


@pytest.mark.model
def test_a_pair_inside_a_store_that_one_reading_is_sure_of_is_distinct(tmp_path: Path) -> None:
    place = PairContext(9, 7, -0.3, -0.2, 0.4, 0.4, 0.3, 8)
    apart = PairInput("The build server runs Debian.", "Her aunt bakes sourdough bread.", 0.1, context=place)
    scorer = BundledScorer()
    scorer._screens = False
    stages: list[str] = []
    remember = Remembered("screen", Cache(tmp_path), lambda stage, done, total: stages.append(stage))
    found = scorer.score_with([apart, replace(apart, context=None)], remember)
    assert list(dict.fromkeys(stages)) == ["judge", "judge alone"]
    assert found.probabilities[0].tolist() == [0.0, 0.0, 1.0]
    assert 0 < found.probabilities[1, 2] < 1
    assert found.entailment[0].tolist() == found.entailment[1].tolist()


@pytest.mark.model
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_two_runs_give_equal_bytes_on_any_number_of_threads(scorer: BundledScorer, threads: int) -> None:
    first, before = scorer.score(PAIRS), torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        second = BundledScorer().score(PAIRS)
    finally:
        torch.set_num_threads(before)
    assert first.probabilities.tobytes() == second.probabilities.tobytes()
    assert first.entailment.tobytes() == second.entailment.tobytes()


@pytest.mark.model
def test_rows_are_probabilities_and_the_fuller_memory_entails_the_shorter_one(scorer: BundledScorer) -> None:
    found = scorer.score(PAIRS)
    assert found.probabilities.dtype == found.entailment.dtype == np.float32
    assert found.probabilities.sum(axis=1) == pytest.approx(np.ones(len(PAIRS)), abs=1e-5)
    assert ((found.entailment >= 0) & (found.entailment <= 1)).all()
    assert found.entailment[1, 0] > found.entailment[1, 1]


def test_no_pairs_need_no_model_and_thresholds_are_ordered() -> None:
    found, limits = BundledScorer().score([]), BundledScorer().thresholds
    assert (found.probabilities.shape, found.entailment.shape) == ((0, 3), (0, 2))
    assert 0 < limits.duplicate <= limits.auto <= 1
    assert 0 < limits.contradiction <= 1


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "w"))


def test_a_changed_byte_or_no_file_is_refused_and_other_sums_are_another_name(weights, tmp_path) -> None:
    assert BundledScorer(weights).name == BundledScorer().name
    with (weights / "calibrator.npz").open("ab") as file:
        file.write(b"\0")
    with pytest.raises(ModelError, match=r"calibrator\.npz"):
        BundledScorer(weights).score(PAIRS)
    with pytest.raises(ModelError, match="reinstall"):
        BundledScorer(tmp_path / "nothing")
    sums = weights / "SHA256SUMS"
    sums.write_text(sums.read_text(encoding="utf-8") + "00  x\n", encoding="utf-8")
    assert BundledScorer(weights).name != BundledScorer().name


@pytest.mark.parametrize("changed", [{"features": ["cosine"]}, {"facts": FACTS_VERSION - 1}])
def test_weights_of_another_version_are_refused(weights: Path, changed: dict[str, object]) -> None:
    path, sums = weights / "config.json", weights / "SHA256SUMS"
    before = path.read_bytes()
    path.write_text(json.dumps({**json.loads(before), **changed}), encoding="utf-8")
    old, new = (hashlib.sha256(data).hexdigest() for data in (before, path.read_bytes()))
    sums.write_text(sums.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(ModelError, match="another version"):
        BundledScorer(weights).score(PAIRS)


def test_the_weights_fit_into_the_wheel() -> None:
    files = [path for path in FOLDER.iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in files) < LARGEST_FOLDER
    assert {path.suffix for path in files} <= {".json", ".safetensors", ".npz", ".md", ""}
