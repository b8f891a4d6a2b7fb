"""Stores in which everything happens, what a judge says about them, and any small store, drawn."""

from dataclasses import replace

from builders import ALICE, CONTRADICTION, duplicates, memory, plan_of
from hypothesis import strategies as st
from mem0_dream.records import text_hash
from mem0_dream.testing import FakeScorer, InMemoryStore

DOG, DOG_NAME, DOG_LONG = ("Has a dog.", "Has a dog named Rex.", "Has a brown dog named Rex from Leeds.")
SAILOR_A, SAILOR_B = "Dad was a sailor. Dad came from Gdansk.", "Dad was a sailor. Sailed for 30 years."
BOTH = {
    "Dad was a sailor. Sailed for 30 years. Dad came from Gdansk.",
    "Dad was a sailor. Dad came from Gdansk. Sailed for 30 years.",
}
words = st.lists(
    st.sampled_from(["tea", "dog", "Rex", "run", "blue", "car", "Ann", "rain"]), min_size=1, max_size=5
)


def messy_store() -> InMemoryStore:
    """A merge with a survivor, a fused merge, a conflict, a prune, and bystanders."""
    return InMemoryStore(
        [
            memory("d1", DOG),
            memory("d2", DOG_NAME),
            memory("d3", DOG_LONG),
            memory("s1", SAILOR_A, metadata={"source": "chat"}),
            memory("s2", SAILOR_B, days=20),
            memory("t1", "Uses tabs in Go code.", days=30),
            memory("t2", "Never uses tabs in Go code.", days=3),
            memory("old", "Is looking for a plumber in Leeds for the tap.", days=400),
            memory("pin", "[PINNED] Has a dog.", pinned=True, days=900),
            memory("x", "Shoe size 39"),
        ]
    )


def messy_scorer():
    scorer = duplicates([DOG, DOG_NAME, DOG_LONG], [SAILOR_A, SAILOR_B, *BOTH])
    scorer._pairs["Never uses tabs in Go code.", "Uses tabs in Go code."] = CONTRADICTION
    return scorer


def messy_plan(store):
    plan = plan_of(store, messy_scorer())
    assert [len(plan.merges), len(plan.conflicts), len(plan.prunes)] == [2, 1, 1]
    return plan.with_choices({"c1": "b"})


@st.composite
def stores(draw):
    """Any small store: texts that share words, dates known or not, two scopes and categories."""
    count = draw(st.integers(0, 9))
    return InMemoryStore(
        memory(
            f"m{number}",
            " ".join(draw(words)),
            days=draw(st.one_of(st.none(), st.integers(-5, 500))),
            scope=draw(st.sampled_from([ALICE, replace(ALICE, ids=(("user_id", "bob"),))])),
            category=draw(st.sampled_from(["note", None])),
            pinned=draw(st.booleans()) and draw(st.booleans()),
        )
        for number in range(count)
    )


def moody_scorer(seed):
    """A scorer whose answers are arbitrary but fixed."""
    answers = [(0.97, 0.0, 0.03), (0.02, 0.95, 0.03), (0.7, 0.0, 0.3), (0.0, 0.0, 1.0)]

    def answer(a, b):
        return answers[int(text_hash(f"{seed}{a}|{b}")[:4], 16) % len(answers)]

    return FakeScorer(default=answer)
