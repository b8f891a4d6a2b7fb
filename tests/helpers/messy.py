"""Stores in which everything happens, what a judge says about them, and any small store, drawn."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from builders import ALICE, CONTRADICTION, NOW, duplicates, memory, plan_of
from hypothesis import strategies as st
from mem0_dream.pipeline.plan import Member, Merge, Plan, Prune, Resolve, ScopeTotal
from mem0_dream.records import Candidate, Evidence, Label, Memory, Verdict, text_hash
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeScorer, InMemoryStore

DOG, DOG_NAME, DOG_LONG = ("Has a dog.", "Has a dog and walks it.", "Has a brown dog and walks it in Leeds.")
TABS, NO_TABS = "Uses tabs in Go code.", "Never uses tabs in Go code."
OLD = "Is looking for a plumber in Leeds for the tap."
SAILOR_A, SAILOR_B = "Dad was a sailor. Dad came from Gdansk.", "Dad was a sailor. He sailed for 30 years."
BOTH = {
    "Dad was a sailor. He sailed for 30 years. Dad came from Gdansk.",
    "Dad was a sailor. Dad came from Gdansk. He sailed for 30 years.",
}
TEXTS = st.text(max_size=40)
words = st.lists(
    st.sampled_from(["tea", "dog", "Rex", "run", "blue", "car", "Ann", "rain"]), min_size=1, max_size=5
)


def messy_store(only: str = "", more: Iterable[Memory] = ()) -> InMemoryStore:
    """A merge with a survivor, a fused merge, a conflict, a prune, and bystanders; or some of these."""
    rows = [
        memory("d1", DOG),
        memory("d2", DOG_NAME),
        memory("d3", DOG_LONG),
        memory("s1", SAILOR_A, metadata={"source": "chat"}),
        memory("s2", SAILOR_B, days=20),
        memory("t1", TABS, days=30),
        memory("t2", NO_TABS, days=3),
        memory("old", OLD, days=400),
        memory("pin", "[PINNED] Has a dog.", pinned=True, days=900),
        memory("x", "Shoe size 39"),
    ]
    return InMemoryStore([*(row for row in rows if not only or row.id in only.split()), *more])


def messy_scorer():
    scorer = duplicates([DOG, DOG_NAME, DOG_LONG], [SAILOR_A, SAILOR_B, *BOTH])
    scorer._pairs[NO_TABS, TABS] = CONTRADICTION
    return scorer


def messy_plan(store):
    plan = plan_of(store, messy_scorer(), settings=Settings(floor=-1.0, assume_unread=True))
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


class _Screening(FakeScorer):
    """Reads every third pair of a store: of the others the words alone are looked at."""

    reads_context = True

    def worth(self, table):
        ends = ([table.texts[row] for row in pair] for pair in table.rows.tolist())
        return np.array([float(int(text_hash("|".join(sorted(both)))[:4], 16) % 3 == 0) for both in ends])


def screening_scorer(seed):
    """The same with a screen before it."""
    return _Screening(default=moody_scorer(seed)._default)


@st.composite
def plans(draw, sorts, *, kind="memory", name="{}-{}", text=TEXTS, form=lambda _, text: text, more=None):
    """Any plan of these sorts of actions, each about memories of its own; the last ones are questions.

    `form` makes a text one of a name, `more` says what an action of another sort than these has besides.
    """
    found = []
    for place, what in enumerate(draw(st.lists(st.sampled_from(sorts), max_size=6))):
        ids = [name.format(place, n) for n in range(draw(st.integers(2, 4)))]
        members = tuple(Member(each, form(each, draw(text)), NOW, NOW, NOW) for each in ids)
        evidence = (Evidence("number", draw(text), veto=True),)
        pair = Candidate(ids[0], ids[1], 0.5)
        verdict = Verdict(pair, Label.UNSURE, probabilities=(0.5, 0.3, 0.2), evidence=evidence)
        about = {"id": f"x{place}", "scope": ALICE, "category": draw(st.none() | text), "members": members}
        if what is Merge:
            survivor = draw(st.sampled_from([None, *ids] if kind == "memory" else ids))
            about |= {"survivor": survivor, "text": form(ids[0], draw(text)), "verdicts": (verdict,)}
            about["exact"] = tuple(ids[2:]) if survivor == ids[0] else ()
        elif what is Resolve:
            said = draw(st.sampled_from([(), (draw(text), draw(text))])) if kind == "memory" else ()
            about |= {"a": (ids[0],), "b": tuple(ids[1:]), "topic": draw(text), "said": said}
            about |= {"verdicts": (verdict,), "choice": draw(st.sampled_from(["a", "b", None]))}
        elif what is Prune:
            about |= {"members": members[:1], "reason": "stale", "detail": draw(text)}
        else:
            about |= {"members": members[:1], "text": form(ids[0], draw(text)), "reason": draw(text)}
            about |= more(draw, what, ids[0]) if more else {}
        found.append(what(**about))
    doubts = (
        tuple(item for item in found[4:] if isinstance(item, Merge | Resolve)) if kind == "memory" else ()
    )
    done = tuple(item for item in found if item not in doubts)
    return Plan("s", kind, NOW, "fake", (ScopeTotal(ALICE, 99),), done, unsure=doubts)
