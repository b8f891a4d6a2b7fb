"""Scopes that did not change: the plan of what is remembered is the plan of a fresh pass, and asks nobody."""

import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from builders import BOB, CONTRADICTION, NOW, memory, plan_of
from hypothesis import given, settings as examples, strategies as st
from mem0_dream.models.scorer import Thresholds
from mem0_dream.pipeline.judging import candidates
from mem0_dream.pipeline.judging.cache import _RULES, Cache
from mem0_dream.pipeline.planning import engine
from mem0_dream.pipeline.planning.plan_file import dump_plan, parse_plan
from mem0_dream.records import rejection_key, text_hash
from mem0_dream.settings import Settings
from mem0_dream.testing import InMemoryStore
from messy import (
    BOTH,
    DOG,
    DOG_NAME,
    SAILOR_A,
    SAILOR_B,
    messy_scorer,
    messy_store,
    moody_scorer,
    screening_scorer,
    stores,
    words,
)

CHANGES = (
    "nothing", "text", "date", "metadata", "gone", "new", "copy", "refused", "later", "single", "floor",
)  # fmt: skip


@examples(max_examples=30, deadline=None)
@given(
    store=stores(),
    seed=st.integers(0, 50),
    steps=st.lists(st.tuples(st.sampled_from(CHANGES), words, st.integers(0, 8)), max_size=4),
    scorer=st.sampled_from([moody_scorer, screening_scorer]),
)
def test_a_night_over_what_is_remembered_plans_what_a_fresh_one_does(store, seed, steps, scorer):
    scorer, more = scorer(seed), {"settings": Settings(floor=-1.0), "now": NOW, "rejected": frozenset()}
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        for change, text, number in [("nothing", [], 0), *steps]:
            _alter(store, change, " ".join(text), number, more)
            remembered, fresh = (plan_of(store, scorer, cache=each, **more) for each in (cache, None))
            assert dump_plan(remembered) == dump_plan(fresh)


@examples(max_examples=30, deadline=None)
@given(store=stores(), seed=st.integers(0, 50), scorer=st.sampled_from([moody_scorer, screening_scorer]))
def test_scopes_and_pairs_judged_one_at_a_time_give_the_plan_of_all_at_once(store, seed, scorer):
    more = {"settings": Settings(floor=-1.0), "now": NOW}
    whole = plan_of(store, scorer(seed), **more)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(engine, "MEMORIES_AT_ONCE", 1)
        patched.setattr(candidates, "PAIRS_AT_ONCE", 1)
        assert dump_plan(plan_of(store, scorer(seed), **more)) == dump_plan(whole)


def _alter(store, change, text, number, more):
    ids = sorted(store.rows)
    row = store.rows[ids[number % len(ids)]] if ids else None
    if change == "new":
        store.rows |= InMemoryStore([memory(f"n{number}", text)]).rows
    elif row and change == "copy":
        store.rows[f"z{number}"] = row | {
            "id": f"z{number}",
            "metadata": {"customer": text[:1]} if text else {},
        }
    elif change == "later":
        more["now"] += timedelta(days=40 * number)
    elif change == "single":
        more["settings"] = more["settings"].model_copy(update={"single": ("home",)})
    elif change == "floor":
        more["settings"] = more["settings"].model_copy(update={"floor": -1.0 + number / 5})
    elif row and change == "text":
        row["text"] = text
    elif row and change == "date":
        row["updated_at"] = (NOW - timedelta(days=number)).isoformat()
    elif row and change == "metadata":
        row["metadata"] = {"customer": text}
    elif row and change == "gone":
        del store.rows[ids[number % len(ids)]]
    elif row and change == "refused":
        other = store.rows[ids[0]]
        key = ":".join(sorted((text_hash(row["text"]), text_hash(other["text"]))))
        more["rejected"] |= {key}


@pytest.fixture
def night(tmp_path):
    cache = Cache(tmp_path)

    def run(store, **more):
        scorer = messy_scorer()
        return dump_plan(plan_of(store, scorer, cache=cache, **more)), len(scorer.asked)

    return run


def test_a_scope_as_it_was_is_not_judged_again(night, caplog):
    caplog.set_level("INFO", logger="mem0_dream")
    store = messy_store()
    first, asked = night(store)
    assert asked
    assert not caplog.messages
    assert night(store) == (first, 0)
    told = "9 of 9 memories are in scopes that did not change since they were judged: 1 of 1 scopes"
    assert caplog.messages == [told]
    store.rows |= InMemoryStore([memory("b1", "Rows on Sundays.", scope=BOB)]).rows
    assert night(store)[1] == 0  # a single memory has no pairs
    store.rows["d1"]["text"] = "Has a dog and a cat."
    assert night(store)[1]


def test_copies_of_a_scope_as_it_was_go_and_stay_apart_as_before(night):
    told = ("a", "Likes tea.", {}), ("b", "likes  tea", {}), ("c", "Owns a boat.", {"customer": "Kestrel"})
    rows = [memory(name, text, metadata=about) for name, text, about in told]
    store = InMemoryStore([*rows, memory("d", "Owns a boat.", metadata={"customer": "Vellum"})])
    first, _ = night(store)
    assert night(store) == (first, 0)
    plan = parse_plan(first)
    assert [member.id for merge in plan.merges for member in merge.members] == ["a", "b"]
    assert plan.apart == (("c", "d", "customer: Kestrel / Vellum"),)


@pytest.mark.parametrize(
    "more",
    [
        {"thresholds": Thresholds(auto=0.99, duplicate=0.9, contradiction=0.9)},
        {"settings": Settings(floor=-0.5)},
        {"settings": Settings(floor=-1.0, single=("pet",))},
        {"rejected": {rejection_key(memory("", DOG), memory("", DOG_NAME))}},
        {"rejected": {"of:texts that are gone"}},
        {"settings": Settings(floor=-1.0, subject_keys=("boat",))},
    ],
    ids=["thresholds", "floor", "single", "refused", "refused of what is gone", "a key that names a subject"],
)
def test_whatever_decides_makes_a_night_judge_anew(night, more):
    store = messy_store()
    store.rows["d1"]["metadata"] = {"boat": "Kestrel"}
    night(store, settings=Settings(floor=-1.0))
    assert night(store, **{"settings": Settings(floor=-1.0)} | more)[1]


def test_a_refusal_elsewhere_leaves_a_scope_as_it_was_and_other_rules_judge_anew(night, monkeypatch):
    store = messy_store()
    others = [memory("b1", "Rows on Sundays.", scope=BOB), memory("b2", "Rows every Sunday.", scope=BOB)]
    store.rows |= InMemoryStore(others).rows
    night(store)
    asked = night(store, rejected=frozenset({rejection_key(*others)}))[1]
    assert asked == 0  # the refused pair is the only one of its scope
    assert all((Path(engine.__file__).parents[2] / name).exists() for name in _RULES)
    monkeypatch.setattr(engine, "rules_digest", lambda: "another version")
    assert night(store)[1]


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Has a dog and a cat."}, {"category": "pet"}, {"updated_at": "2026-11-01T00:00:00+00:00"},
        {"created_at": "2026-11-01T00:00:00+00:00"}, {"metadata": {"customer": "Kestrel"}},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_whatever_a_memory_says_of_itself_makes_a_night_judge_its_scope_anew(night, change):
    store = messy_store()
    store.rows["d1"]["metadata"] = {"customer": "Heron"}
    night(store)
    store.rows["d1"] |= change
    assert night(store)[1]


def test_what_turns_old_no_longer_stands_in_the_way_of_what_is_remembered(night, monkeypatch):
    told = "Came home and was not for sailing."
    scorer = messy_scorer()
    for fused in BOTH:
        scorer._pairs |= {(told, fused): CONTRADICTION, (fused, told): CONTRADICTION}
    monkeypatch.setattr(sys.modules[__name__], "messy_scorer", lambda: scorer)
    store = InMemoryStore([memory("a", SAILOR_A), memory("b", SAILOR_B), memory("old", told, days=150)])
    unread = Settings(floor=-1.0, assume_unread=True)
    later = {"now": NOW + timedelta(days=40), "settings": unread}
    (first, _), (second, _) = night(store, settings=unread), night(store, **later)
    assert second == dump_plan(plan_of(store, scorer, **later))
    assert [len(parse_plan(each).merges) for each in (first, second)] == [0, 1]
