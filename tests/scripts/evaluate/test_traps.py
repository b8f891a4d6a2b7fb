from mem0_dream.models.guards import compare
from mem0_dream.models.registry import load_encoder
from mem0_dream.scripts.evaluate.labelled import LabelledPair
from mem0_dream.scripts.evaluate.quality import Models, measure
from mem0_dream.scripts.evaluate.traps import TRAPS, table, tallied
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeScorer

SURE = (0.99, 0.0, 0.01)
PAIRS = [
    LabelledPair("User reports to Anna", "Anna reports to the user", 2, "traps"),
    LabelledPair("User reports to Anna", "Anna manages the user", 0, "traps"),
    LabelledPair("Takes 20 mg", "Takes 40 mg", 2, "traps"),
]


def test_the_table_tells_what_each_kind_of_evidence_holds_back():
    scorer, words = FakeScorer({(pair.a, pair.b): SURE for pair in PAIRS}), load_encoder("words")
    models = Models("fake", scorer, words, Settings())
    tallies = tallied(measure(PAIRS, models), models)
    for same, counts in ((False, (2, 1, 0)), (True, (1, 1, 1))):
        assert tuple(tallies["traps", same][name] for name in ("pairs", "before", "after")) == counts
    assert "| binding | 1 (1) | 0 (0) |" in table(tallies)


def test_most_traps_are_held_back_without_a_scorer_and_most_duplicates_are_not():
    rows = [line.split("\t") for line in TRAPS.read_text(encoding="utf-8").splitlines()]
    held = {label: [0, 0] for label in ("duplicate", "contradiction", "distinct")}
    for label, a, b in rows:
        held[label][bool(compare(a, b))] += 1
    assert len({(a, b) for _, a, b in rows}) == sum(map(sum, held.values())) == 606
    assert (sum(held["duplicate"]), held["duplicate"][1] <= 32) == (85, True)
    assert held["contradiction"][1] + held["distinct"][1] >= 421
