"""Each benchmark runs, and what it asserts holds; times are not looked at."""

import pytest
from mem0_dream.models.keywords import LexicalEncoder
from mem0_dream.models.registry import load_scorer
from mem0_dream.models.text.words import exact_key
from mem0_dream.scripts import benchmark
from mem0_dream.scripts.benchmark import made_up, run


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (
            ["pass", "--memories", "300"],
            ("encode", "candidates", "judge", "pass, unchanged", "pass, some changed"),
        ),
        (["nights", "--memories", "200", "--scopes", "20"], ("nothing changed", "1% changed", "in 1 scopes")),
        (["store", "--memories", "40"], ("qdrant", "cold", "unchanged", "1% changed")),
        (["undone", "--memories", "300", "--scopes", "12"], ("prepared", "consolidated", "undone")),
        (["check", "--memories", "40"], ("learn", "ms of a processor a text over 43 memories")),
    ],
)
def test_what_a_benchmark_asserts_holds(words, shown, capsys):
    assert benchmark.main([*words, "--threads", "1", "--encoder", "words"]) == 0
    out = capsys.readouterr().out
    assert all(part in out for part in shown)


def test_a_store_is_seeded_and_holds_what_was_planted():
    store = made_up(400, seed=1)
    assert store == made_up(400, seed=1) != made_up(400, seed=2)
    texts = {memory.id: memory.text for memory in store.memories}
    assert len(texts) == 400
    assert store.copies
    assert all(exact_key(texts[a]) == exact_key(texts[b]) for a, b in store.copies)
    assert all(exact_key(texts[a]) != exact_key(texts[b]) for a, b in store.reordered)


def test_a_missed_duplicate_stops_the_run():
    store = made_up(50, seed=1)
    wrong = store._replace(copies=frozenset({(store.memories[0].id, "nowhere")}))
    with pytest.raises(SystemExit, match="every planted copy"):
        run(wrong, LexicalEncoder(), load_scorer("keywords"))
