"""What `why` says of two memories is what a pass over their whole store does about them."""

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from builders import ALICE, BOB, CONTRADICTION, DUPLICATE, MAYBE, NOW, memory, session_on
from mem0_dream.errors import BudgetExceededError
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.fronts import Fates
from mem0_dream.pipeline.plan import Merge, Resolve
from mem0_dream.pipeline.reporting.pair import pair_lines, reasons
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.records import Candidate, Evidence, Label, Memory, Verdict
from mem0_dream.scripts.evaluate.labelled import read_world_file, world_store
from mem0_dream.testing import FakeScorer, InMemoryStore

Pairs = Iterable[tuple[str, str]]
EVERY, TEXTS_END = ScopeFilter(), 4  # lines of the two memories, above what is said of them
SAMPLES = Path(__file__).parents[2] / "scripts" / "data" / "worlds_sample"


def told(fates: Fates, a: Memory, b: Memory, *, turned: bool = False) -> str:
    one, other = (b, a) if turned else (a, b)
    return pair_lines("memory", one, other, fates.of(one, other), ())[TEXTS_END]


def compare(session: Session, now: datetime, *, scope=ALICE, pairs: Pairs = ()) -> Counter[str]:
    """Hold what is said of these pairs, and of those of each proposal, against the pass; then do it unattended."""
    memories = [each for each in session.read(EVERY).memories if each.scope == scope]
    fates = Fates(session, scope, memories, now=now)
    plan = session.propose(EVERY, now=now)
    said: dict[tuple[str, str], str] = {}
    proposed = [each for each in (*plan.actions, *plan.unsure) if each.scope == scope]
    asked = {frozenset(pair) for pair in pairs}
    for action in proposed:
        asked |= set(map(frozenset, itertools.combinations((member.id for member in action.members), 2)))
    by_id = {each.id: each for each in memories}
    for a, b in (tuple(by_id[name] for name in sorted(pair)) for pair in asked):
        together = [each for each in proposed if {a.id, b.id} <= {m.id for m in each.members}]
        said[a.id, b.id] = told(fates, a, b)
        for each in together:
            one_side = isinstance(each, Resolve) and ({a.id, b.id} <= {*each.a} or {a.id, b.id} <= {*each.b})
            if isinstance(each, Merge) and each in plan.actions:
                assert said[a.id, b.id].startswith("The same fact; a pass merges them"), (a.text, b.text)
            elif not one_side:
                assert " asks" in said[a.id, b.id] or "a person chooses" in said[a.id, b.id], (a.text, b.text)
        if not together:
            assert " asks" not in said[a.id, b.id], (a.text, b.text)
            assert "merges them" not in said[a.id, b.id], (a.text, b.text)
    auto = session.propose(EVERY, now=now, unattended=True)
    session.apply(auto, now=now, hold_back=True)
    alive = {each.id for each in session.read(EVERY).memories if not each.is_retired(now.date())}
    merged = [{m.id for m in merge.members} for merge in auto.merges]
    for (a_id, b_id), words in said.items():
        done = any({a_id, b_id} <= ids for ids in merged) and not {a_id, b_id} <= alive
        assert done == ("merges them by itself" in words), (a_id, b_id, words)
    return Counter(words.split(";")[0].split(",")[0] for words in said.values())


@pytest.mark.model
def test_on_a_labelled_store_each_pair_is_told_as_the_pass_treats_it(tmp_path: Path) -> None:
    store = world_store(read_world_file(SAMPLES / "w1_personal.txt")[0])
    held = InMemoryStore(store.inventory.memories)
    assert store.now is not None
    with Session(held, state_dir=tmp_path) as session:
        labelled = [each for group in store.gold.groups for each in itertools.combinations(sorted(group), 2)]
        labelled += [(a, b) for x, y in store.gold.contradictions for a in x for b in y]
        found = compare(
            session, store.now, scope=held.parse(held.fetch(["0000"])["0000"]).scope, pairs=labelled
        )
    assert found["The same fact"] >= 1
    assert found["A contradiction"] + found["Unsure"] >= 1


TEA, GREEN, NEVER, DOG = "Likes tea.", "Likes green tea at noon.", "Never drinks tea.", "Has a dog."

NEXT = "the next pass looks at what is left."


@pytest.fixture
def rows() -> list[Memory]:
    return [memory("a", TEA), memory("b", GREEN), memory("c", NEVER, days=1), memory("d", DOG)]


@pytest.mark.parametrize(
    ("answers", "pair", "words"),
    [
        ({(GREEN, TEA): DUPLICATE}, "ab", "The same fact; a pass merges them by itself."),
        ({(GREEN, TEA): MAYBE}, "ab", "Likely the same fact; a pass asks, and only a person may merge them."),
        ({(TEA, NEVER): CONTRADICTION}, "ac", "A contradiction; a person chooses."),
        ({}, "ad", "Different facts; both stay."),
        (
            {(GREEN, TEA): MAYBE, (TEA, NEVER): CONTRADICTION},
            "ab",
            f"Likely the same fact, but it is asked whether A or [memory:c] holds first; {NEXT}",
        ),
        (
            {(GREEN, TEA): DUPLICATE, (DOG, TEA): MAYBE},
            "ad",
            f"Likely the same fact, but A goes into [memory:b] first; {NEXT}",
        ),
    ],
)
def test_what_keeps_a_pass_from_a_pair_is_told(rows, answers, pair, words, tmp_path: Path) -> None:
    with session_on(InMemoryStore(rows), FakeScorer(answers), tmp_path) as session:
        fates = Fates(session, ALICE, rows, now=NOW)
        a, b = (next(row for row in rows if row.id == name) for name in pair)
        assert told(fates, a, b) == words
        if words.endswith("by itself."):
            assert told(fates, a, b, turned=True) == words
        compare(session, NOW)


def test_what_no_scorer_thinks_likely_is_not_called_so():
    named = Evidence("name", "one name in two spellings")
    verdict = Verdict(Candidate("a", "b", 0.9), Label.UNSURE, evidence=(named,))
    assert "likely" not in reasons(verdict, (TEA, GREEN))
    likely = replace(verdict, probabilities=(0.4, 0.0, 0.6))
    assert "only 40% likely that they say the same" in reasons(likely, (TEA, GREEN))


def test_an_answer_a_budget_a_category_and_a_pin_are_told(rows, tmp_path: Path) -> None:
    rows += [memory("e", GREEN, category="food"), memory("p", TEA, pinned=True), memory("x", TEA, scope=BOB)]
    scorer = FakeScorer({(GREEN, TEA): DUPLICATE})
    a, b, e, p = rows[0], rows[1], rows[4], rows[5]
    with session_on(InMemoryStore(rows), scorer, tmp_path, max_delete=0.0) as session:
        fates = Fates(session, ALICE, rows, now=NOW)
        assert told(fates, a, b) == "The same fact; a pass merges them once the delete budget allows it."
        with pytest.raises(BudgetExceededError):
            session.apply(session.propose(EVERY, now=NOW), now=NOW)
        assert (
            told(fates, a, e) == "Never compared by a pass: they are of different categories, note and food."
        )
        assert told(fates, a, p) == "Not compared by a pass: B is pinned."
        session.reject(a, b, now=NOW)
        fates = Fates(session, ALICE, rows, now=NOW)
        assert "a pass merges" not in told(fates, a, b)
