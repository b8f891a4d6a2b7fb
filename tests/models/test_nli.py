"""The NLI scorer on tiny real cross-encoders with random weights, made here."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from mem0_dream.errors import ModelError
from mem0_dream.models.nli import NliScorer, blend, label_columns
from mem0_dream.models.scorer import PairInput

LABELS = ("entailment", "neutral", "contradiction")
WORDS = [
    "user", "likes", "hates", "green", "black", "tea", "coffee", "lives", "in", "rome", "oslo", "not",
    "never", "a", "dog", "cat",
]  # fmt: skip


def tiny_model(folder: Path, labels: tuple[str, ...] | None, *, order: tuple[int, ...] = (0, 1, 2)) -> str:
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64, num_labels=len(labels or order), initializer_range=1.0,
    )  # fmt: skip
    torch.manual_seed(7)
    model = BertForSequenceClassification(config)
    if labels:
        model.config.id2label = dict(enumerate(labels))
        model.config.label2id = {label: number for number, label in enumerate(labels)}
        with torch.no_grad():
            for parameter in (model.classifier.weight, model.classifier.bias):
                parameter.copy_(parameter[list(order)[: len(labels)]])
    model.save_pretrained(folder)
    BertTokenizerFast(vocab={word: number for number, word in enumerate(vocabulary)}).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def scorer(tmp_path_factory) -> NliScorer:
    return NliScorer(tiny_model(tmp_path_factory.mktemp("nli") / "tiny", LABELS))


PAIRS = [
    PairInput("user likes green tea", "user hates green tea", 0.9),
    PairInput("user likes tea", "user likes tea", 1.0),
    PairInput("a dog", "user lives in rome not oslo", 0.3),
    PairInput("", "a cat", 0.0),
]


def test_rows_are_probabilities_of_which_order_and_company_change_only_the_sides_of_entailment(scorer):
    scores, none = scorer.score(PAIRS), scorer.score([])
    assert (scores.probabilities.shape, scores.entailment.shape) == ((4, 3), (4, 2))
    assert (none.probabilities.shape, none.entailment.shape) == ((0, 3), (0, 2))
    assert scores.probabilities.dtype == scores.entailment.dtype == np.float32
    np.testing.assert_allclose(scores.probabilities.sum(axis=1), 1, atol=1e-6)
    mirrored = scorer.score([replace(pair, a=pair.b, b=pair.a) for pair in PAIRS])
    np.testing.assert_array_equal(scores.probabilities, mirrored.probabilities)
    np.testing.assert_array_equal(scores.entailment, mirrored.entailment[:, ::-1])
    alone = np.vstack([scorer.score([pair]).probabilities for pair in PAIRS])
    np.testing.assert_array_equal(scores.probabilities, alone)


def test_answers_are_those_of_transformers(scorer, tmp_path):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = tiny_model(tmp_path / "same", LABELS)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for pair, found in zip(PAIRS, scorer.score(PAIRS).entailment, strict=True):
        for (premise, hypothesis), entails in zip([(pair.a, pair.b), (pair.b, pair.a)], found, strict=True):
            with torch.no_grad():
                logits = model(**tokenizer([premise], [hypothesis], return_tensors="pt")).logits
            assert entails == pytest.approx(float(torch.softmax(logits[0], 0)[0]), abs=1e-5)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_order_of_labels_plays_no_part(scorer, tmp_path, order):
    labels = tuple(LABELS[number].upper() for number in order)
    other = NliScorer(tiny_model(tmp_path / "m", labels, order=order))
    np.testing.assert_allclose(other.score(PAIRS).probabilities, scorer.score(PAIRS).probabilities, atol=1e-6)


@given(a=st.text(st.characters(exclude_categories=[]), max_size=40), b=st.text(max_size=300))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_scores(scorer, a, b):
    scores = scorer.score([PairInput(a, b, 0.0), PairInput(a * 200, b, 0.0)])
    assert np.isfinite(scores.probabilities).all()


@pytest.mark.parametrize(
    "labels", [("entailment", "not_entailment"), ("positive", "neutral", "negative"), None]
)
def test_other_labels_are_refused(tmp_path, labels):
    folder = tiny_model(tmp_path / "m", labels)
    with pytest.raises(ModelError, match=r"^The NLI model .* has the labels .*; entailment, neutral and"):
        NliScorer(folder)
    with pytest.raises(ModelError, match="has the labels"):
        label_columns(dict(enumerate([*LABELS, "neutral"])), what="It")
    with pytest.raises(ModelError, match=r"^The NLI model .* cannot be loaded: [^\n]*\.$"):
        NliScorer(str(tmp_path))


def test_blend_by_hand():
    scores = blend(np.array([[0.9, 0.1, 0.0]]), np.array([[0.2, 0.7, 0.1]]))
    np.testing.assert_allclose(scores.probabilities, [[0.855, 0.05, 0.095]], atol=1e-6)
    np.testing.assert_allclose(scores.entailment, [[0.9, 0.2]], atol=1e-6)


def test_name_is_model_and_content(scorer, tmp_path):
    again = NliScorer(tiny_model(tmp_path / "tiny", LABELS))
    assert again.name == scorer.name
    assert scorer.name.startswith("nli:tiny@")
    assert scorer.thresholds.auto >= 0.98
