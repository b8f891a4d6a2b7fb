"""The language model as scorer, against a real HTTP server of the test's own."""

import json

import numpy as np
import pytest
from llm_server import LanguageModel, Reply
from mem0_dream.errors import ModelError, UsageError
from mem0_dream.models.llm import PAIRS_PER_REQUEST, OpenAIJudge
from mem0_dream.models.registry import load_scorer
from mem0_dream.models.scorer import PairInput

TEA = PairInput("Likes tea.", "Likes green tea.", 0.9)


class Endpoint(LanguageModel):  # type: ignore[misc]
    """Judges every pair it is asked about, or says what `answers` holds."""

    answers = None

    @property
    def pairs(self):
        return [each["pairs"] for each in self.asked]

    def _reply(self, request):
        said = json.dumps({"verdicts": [verdict(pair["number"]) for pair in self.pairs[-1]]})
        self.decide = lambda *_: Reply(said if self.answers is None else self.answers)
        return super()._reply(request)


def verdict(number, label="duplicate", confidence=0.9, *, forward=True, backward=False):
    told = {"number": number, "label": label, "confidence": confidence}
    return {**told, "a_says_all_of_b": forward, "b_says_all_of_a": backward}


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    running = Endpoint()
    yield running
    running.close()


def test_a_confidence_becomes_probabilities_and_swapping_swaps_only_the_entailment(endpoint):
    scores = OpenAIJudge(f"m@{endpoint.url}").score([TEA, TEA.swapped()])
    assert scores.probabilities[0].tolist() == pytest.approx([0.9, 0.05, 0.05])
    assert scores.probabilities.dtype == np.float32
    assert scores.probabilities[0].tolist() == scores.probabilities[1].tolist()
    assert scores.entailment.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_many_pairs_travel_together(endpoint):
    judge = OpenAIJudge(f"m@{endpoint.url}")
    judge.score([TEA] * (PAIRS_PER_REQUEST + 1))
    assert [len(pairs) for pairs in endpoint.pairs] == [PAIRS_PER_REQUEST, 1]
    assert judge.score([]).probabilities.shape == (0, 3)
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize(
    "content",
    [
        *("no json", "[]", '{"verdicts": 3}', '{"verdicts": [1]}'),
        json.dumps({"verdicts": [verdict(2)]}),
        json.dumps({"verdicts": [verdict(1, label="same")]}),
        json.dumps({"verdicts": [verdict(1, confidence=7)]}),
        json.dumps({"verdicts": [verdict(1, confidence="high")]}),
    ],
)
def test_an_answer_that_does_not_fit_is_no_opinion(endpoint, content):
    endpoint.answers = content
    scores = OpenAIJudge(f"m@{endpoint.url}").score([TEA])
    assert scores.probabilities[0].tolist() == pytest.approx([1 / 3] * 3)


def test_a_text_that_cannot_be_sent_as_it_is_is_judged(endpoint):
    scores = OpenAIJudge(f"m@{endpoint.url}").score([PairInput("lone \ud800", "Likes tea.", 0.5)])
    assert scores.probabilities[0][0] == pytest.approx(0.9)


def test_a_passing_fault_is_tried_again_and_a_refusal_is_one_sentence(endpoint):
    endpoint.replies = [Reply(status=503), Reply(status=429)]
    scores = OpenAIJudge(f"m@{endpoint.url}").score([TEA])
    assert scores.probabilities[0][0] == pytest.approx(0.9)
    assert len(endpoint.asked) == 3
    endpoint.replies = [Reply(status=401)]
    with pytest.raises(ModelError, match="answered 401"):
        OpenAIJudge(f"m@{endpoint.url}").score([TEA])
    assert len(endpoint.asked) == 4


def test_the_key_comes_from_the_environment(endpoint, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("MEM0_DREAM_API_KEY", raising=False)
    judge = OpenAIJudge(f"m@{endpoint.url}")
    judge.score([TEA])
    for name, key in (("OPENAI_API_KEY", "general"), ("MEM0_DREAM_API_KEY", "own")):
        monkeypatch.setenv(name, key)
        judge.score([TEA])
    assert endpoint.keys == [None, "Bearer general", "Bearer own"]


@pytest.mark.parametrize("spec", ["openai:m", "openai:@http://x", "openai:m@ftp://x"])
def test_a_spec_without_model_or_address_is_refused(spec, endpoint):
    with pytest.raises(UsageError, match="openai:MODEL@URL"):
        load_scorer(spec)
    assert load_scorer(f"openai:m@{endpoint.url}").name == f"openai-1:m@{endpoint.url}"
