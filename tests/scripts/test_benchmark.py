"""The benchmark runs, and what it asserts holds; times are not looked at."""

from __future__ import annotations

import pytest
from mem0_dream.models.lexical import LexicalEncoder
from mem0_dream.models.registry import load_scorer
from mem0_dream.models.words import exact_key
from mem0_dream.scripts import benchmark, benchmark_graph, benchmark_nights
from mem0_dream.scripts.benchmark import Store, made_up, run
from mem0_dream.settings import Settings


def test_quick_run_holds(capsys):
    """A quick run finds what was planted and gives one plan with and without the cache."""
    assert benchmark.main(["--quick", "--threads", "1"]) == 0
    shown = capsys.readouterr().out
    assert all(stage in shown for stage in ("encode", "candidates", "judge", "pass, cached", "peak memory"))


def test_store_is_seeded_and_holds_what_was_planted():
    """The same seed makes the same store; copies are exact copies, reordered ones are not."""
    store = made_up(400, seed=1)
    assert store == made_up(400, seed=1)
    assert store != made_up(400, seed=2)
    texts = {memory.id: memory.text for memory in store.memories}
    assert len(texts) == 400
    assert store.copies
    assert all(exact_key(texts[a]) == exact_key(texts[b]) for a, b in store.copies)
    assert all(exact_key(texts[a]) != exact_key(texts[b]) for a, b in store.reordered)


def test_a_missed_duplicate_stops_the_run(capsys):
    """A result that does not hold ends the run with a sentence."""
    store = made_up(50, seed=1)
    wrong = Store(store.memories, frozenset({(store.memories[0].id, "nowhere")}), frozenset())
    with pytest.raises(SystemExit, match="every planted copy"):
        run(wrong, LexicalEncoder(), load_scorer("keywords"), Settings(scorer="keywords"))


def test_the_graph_benchmark_holds(capsys):
    """Every planted pair of a made-up graph is found, and nothing else is merged."""
    assert benchmark_graph.main(["--entities", "60", "--scorer", "keywords"]) == 0
    shown = capsys.readouterr().out
    assert all(row in shown for row in ("first pass, seconds", "second pass, seconds", "questions"))


def test_the_nights_hold(capsys):
    """What is remembered plans what is planned afresh, in many scopes and in one."""
    words = ["--memories", "200", "--scopes", "20", "--scorer", "keywords", "--encoder", "words"]
    assert benchmark_nights.main(words) == 0
    shown = capsys.readouterr().out
    assert shown.count("nothing changed") == shown.count("1% changed") == 2
