"""No text of a merge, done or proposed, says one thing twice or two things that exclude each other."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import CONTRADICTION, DUPLICATE, MAYBE, NOW, duplicates, memory, plan_of, session_on
from hypothesis import event, given, strategies as st
from mem0_dream.models.text.statements import sentences, split_statements
from mem0_dream.pipeline.answers import Say
from mem0_dream.pipeline.judging.judge import judge
from mem0_dream.pipeline.plan import Merge, Plan
from mem0_dream.pipeline.review import Review
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.records import Candidate, Label, text_hash
from mem0_dream.testing import FakeScorer, InMemoryStore

SAID = (
    "Dad sailed for 30 years.", "Dad went to Gdansk.", "Mum is called Ann.", "Has 2 cats.", "Rex barks at night.",
    "Takes 20 mg of iron.", "Paid 90 euros.", "Flew to Leeds in May.", "Lives near Porto.",
)  # fmt: skip


def _scorer(seed: int) -> FakeScorer:
    """Memories that share a sentence are duplicates; what two sentences are is arbitrary, but fixed."""

    def answer(a: str, b: str) -> tuple[float, float, float]:
        if len(sentences(a)) > 1 or len(sentences(b)) > 1:
            return DUPLICATE if set(sentences(a)) & set(sentences(b)) else (0.0, 0.0, 1.0)
        return (DUPLICATE, CONTRADICTION, (0.0, 0.0, 1.0))[int(text_hash(f"{seed}{a}|{b}")[:4], 16) % 3]

    return FakeScorer(default=answer)


def _together(text: str, sources: list[str]) -> Iterator[tuple[str, str]]:
    for one, other in itertools.combinations(sentences(text), 2):
        if not any({one, other} <= set(sentences(source)) for source in sources):
            yield from itertools.product(split_statements(one), split_statements(other))


def _drafts(plan: Plan) -> list[Merge]:
    return [action for action in (*plan.actions, *plan.unsure) if isinstance(action, Merge)]


@given(
    st.lists(st.lists(st.sampled_from(SAID), min_size=1, max_size=3, unique=True), max_size=5), st.integers()
)
def test_no_draft_joins_what_says_one_thing_or_excludes_each_other(texts, seed) -> None:
    rows = [memory(f"m{number}", " ".join(text), days=number) for number, text in enumerate(texts)]
    scorer = _scorer(seed)
    for merge in _drafts(plan_of(InMemoryStore(rows), scorer)):
        sources = [member.text for member in merge.members]
        for one, other in () if merge.text in sources else _together(merge.text, sources):
            (said,) = judge(
                [Candidate("1", "2", 0.5)], {"1": memory("1", one), "2": memory("2", other)}, scorer
            )
            assert said.label in (Label.DISTINCT, Label.UNSURE), merge.text
            event("joined")


def test_what_two_memories_add_to_each_other_is_joined_unless_it_excludes_each_other() -> None:
    first, gdansk, sailed = "Dad was a sailor.", "Dad came from Gdansk.", "Dad sailed for 30 years."
    a, b = f"{first} {gdansk}", f"{first} {sailed}"
    both = {f"{first} {gdansk} {sailed}", f"{first} {sailed} {gdansk}"}
    store, scorer = InMemoryStore([memory("a", a), memory("b", b)]), duplicates([a, b, *both])
    (merge,) = plan_of(store, scorer).merges
    assert merge.text in both
    scorer._pairs[gdansk, sailed] = CONTRADICTION
    plan = plan_of(store, scorer)
    assert plan.merges == ()
    assert {doubt.text for doubt in plan.unsure if isinstance(doubt, Merge)} <= {a, b}


@pytest.mark.parametrize(
    ("a", "b", "kept", "left_out"),
    [
        ("Had stew with 3 fillings at a new place.", "Had the best stew at a place.", "a", []),
        ("Had stew at a new place.", "Had 3 bowls of stew in Faro.", "b", []),
        ("Had stew in Porto on Monday.", "Had 3 bowls of stew in Faro.", "b", ["Monday", "Porto"]),
    ],
)
def test_of_two_that_may_be_one_fact_a_person_keeps_one_wording(a, b, kept, left_out, tmp_path: Path) -> None:
    store = InMemoryStore([memory("a", a), memory("b", b)])
    with session_on(store, FakeScorer({(a, b): MAYBE, (b, a): MAYBE}), tmp_path) as session:
        plan = session.propose(ScopeFilter(), now=NOW)
        (doubt,) = plan.unsure
        assert (doubt.survivor, doubt.text) == (kept, {"a": a, "b": b}[kept])
        review = Review(session, plan)
        assert sorted(review.leaves_out(doubt)) == left_out
        review.answer(doubt.id, Say.YES, now=NOW)
        review.apply(session, review.planned(session), now=NOW, retire=False)
        assert set(store.rows) == {kept}
        session.undo(now=NOW)
        assert set(store.rows) == {"a", "b"}


def test_what_a_person_answered_hides_no_question(tmp_path: Path) -> None:
    tea, green, never = "Likes tea.", "Likes green tea at noon.", "Never drinks tea."
    store = InMemoryStore([memory("a", tea), memory("b", green), memory("c", never)])
    scorer = FakeScorer({(tea, never): CONTRADICTION, (green, tea): MAYBE})
    with session_on(store, scorer, tmp_path) as session:
        plan = session.propose(ScopeFilter(), now=NOW)
        assert (len(plan.conflicts), plan.unsure) == (1, ())
        Review(session, plan).answer("c1", Say.BOTH, now=NOW)
        plan = session.propose(ScopeFilter(), now=NOW)
        assert (plan.conflicts, [{m.id for m in doubt.members} for doubt in plan.unsure]) == (
            (),
            [{"a", "b"}],
        )
