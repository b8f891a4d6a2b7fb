"""SemHash as a row of the quality tables: its own rule, run for real over fixed vectors."""

import json
import sys

import numpy as np
import pytest
from mem0_dream.errors import MissingExtraError
from mem0_dream.models.scorer import PairInput
from mem0_dream.records import Candidate, Label, Memory, Scope
from mem0_dream.scripts.evaluate import quality as evaluate
from mem0_dream.scripts.evaluate.quality import SemHashScorer, judge_alone
from mem0_dream.testing import FakeEncoder

SCOPE = Scope.of(user_id="u")


def at(degrees: float) -> list[float]:
    return [float(np.cos(np.radians(degrees))), float(np.sin(np.radians(degrees)))]


VECTORS = {"a": at(0), "near": at(20), "far": at(30), "Owns 2 boats": at(0), "Owns 3 boats": at(5)}
"""Cosines to "a": 0.940 and 0.866, on the two sides of SemHash's default threshold of 0.9."""


@pytest.fixture
def scorer() -> SemHashScorer:
    pytest.importorskip("semhash")
    return SemHashScorer(FakeEncoder(VECTORS))


def test_semhash_drops_one_of_two_above_its_default_threshold(scorer):
    found = scorer.score([PairInput("a", other, 0.0) for other in ("near", "far", "a")])
    assert found.probabilities.tolist() == [[1, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert scorer.score([]).probabilities.shape == (0, 3)


def test_the_order_of_a_pair_does_not_matter_and_each_text_is_encoded_once(scorer):
    there = scorer.score([PairInput("a", "near", 0.0), PairInput("a", "far", 0.0)])
    assert sorted(scorer._encoder.asked) == ["a", "far", "near"]
    back = scorer.score([PairInput("near", "a", 0.0), PairInput("far", "a", 0.0)])
    assert there.probabilities.tolist() == back.probabilities.tolist()


def test_no_guard_holds_it_back(scorer):
    memories = {text: Memory(text, text, SCOPE) for text in ("Owns 2 boats", "Owns 3 boats")}
    (verdict,) = judge_alone([Candidate(*memories, 0.99)], memories, scorer)
    assert (verdict.label, verdict.auto, verdict.evidence) == (Label.DUPLICATE, True, ())


def test_missing_semhash_is_one_sentence(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "semhash", None)
    (tmp_path / "pairs.jsonl").write_text('{"id": "1", "a": "x", "b": "y", "label": "distinct"}')
    call = [str(tmp_path / "pairs.jsonl"), "--scorer", "semhash", "--encoder", "words"]
    assert evaluate.main(call) == MissingExtraError.exit_code == 8
    assert "pip install 'mem0-dream[semhash]'" in capsys.readouterr().err


def test_program_measures_semhash_on_pairs_and_refuses_stores(tmp_path, capsys):
    pytest.importorskip("semhash")
    pairs, store = tmp_path / "pairs.jsonl", tmp_path / "store.json"
    pairs.write_text('{"id": "1", "a": "Owns a red boat", "b": "owns a red boat", "label": "duplicate"}')
    gold = {"duplicate_groups": [], "contradictions": [], "prune": {"stale": [], "vague": []}, "keep": []}
    store.write_text(json.dumps({"user_id": "u", "memories": [], "gold": gold}))
    call = [str(pairs), "--scorer", "semhash", "--encoder", "words"]
    assert evaluate.main(call) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["model"].startswith("semhash-")
    assert report["auto"]["merges"] == 1
    assert evaluate.main([str(store), *call]) == 2
    assert "judges pairs only" in capsys.readouterr().err
