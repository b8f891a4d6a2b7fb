"""The writer: nothing is lost, whatever happens in between."""

import copy
import itertools
from dataclasses import replace
from datetime import date, timedelta

import pytest
from builders import ALICE, BOB, NOW, duplicates, memory, plan_of
from hypothesis import HealthCheck, given, settings, strategies as st
from killing import dies
from mem0_dream.errors import BudgetExceededError, JournalError, StoreError
from mem0_dream.pipeline.plan import Merge, Prune, Resolve, Rewrite, RunResult
from mem0_dream.pipeline.planning.budget import check_budget
from mem0_dream.pipeline.stores.base import Restore
from mem0_dream.pipeline.writing.access import AccessLog
from mem0_dream.pipeline.writing.journal import Journal, RunState
from mem0_dream.pipeline.writing.writer import Writer
from mem0_dream.settings import Settings
from mem0_dream.testing import InMemoryStore
from messy import DOG, DOG_LONG, messy_plan, messy_store, moody_scorer, stores

KILLED = pytest.mark.parametrize(("step", "after"), [*itertools.product(range(1, 8), (False, True))])
"""At which write a run dies, and whether that was made."""
DRAWN = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def whole(store):
    return copy.deepcopy((store.rows, store.vectors))


class Night:
    """A run over the messy store: what it held before, the plan, and the writer."""

    def __init__(self, journal):
        self.store, self.journal = messy_store(), journal
        self.before, self.plan = whole(self.store), messy_plan(self.store)
        self.writer = Writer(self.store, journal)

    def apply(self, **options):
        return self.writer.apply(self.plan, run="r1", at=NOW, **options)

    def undo(self, **options):
        return self.writer.undo(self.journal.run("r1"), at=NOW, **options)

    def resume(self):
        return self.writer.resume(self.journal.run("r1"), at=NOW)

    def as_before(self):
        return whole(self.store) == self.before


@pytest.fixture
def night(journal):
    return Night(journal)


def facts(store):
    """What is alive, without the ids of what was added."""
    return sorted((row["text"], row["expires_on"] or "") for row in store.rows.values())


def test_a_run_merges_resolves_and_prunes_and_undo_gives_the_store_back_as_it_was(night):
    result, rows = night.apply(), night.store.rows
    assert (result.merged, result.resolved, result.pruned, result.skipped) == (2, 1, 1, 0)
    assert (result.removed, result.added) == (6, 1)
    assert {"d3", "t2", "pin", "x"} < set(rows)
    assert not {"d1", "d2", "s1", "s2", "t1", "old"} & set(rows)
    added = rows["new-1"]
    assert set(added["metadata"]["merged_from"]) == {"s1", "s2"}
    assert added["metadata"]["source"] == "chat"
    assert added["created_at"] == (NOW - timedelta(days=20)).isoformat()
    undone = night.undo()
    assert night.as_before()
    assert (undone.restored, undone.withdrawn, undone.kept) == (6, 1, ())
    assert night.journal.run("r1").state is RunState.UNDONE


@pytest.mark.parametrize("retire_on", [None, date(2026, 11, 20)])
@KILLED
def test_a_run_killed_anywhere_is_finished_by_resume(night, tmp_path, step, after, retire_on):
    unkilled = Night(Journal(tmp_path))
    unkilled.apply(retire_on=retire_on)
    assert dies(night.store, step, lambda: night.apply(retire_on=retire_on), after=after)
    assert night.journal.interrupted(night.store.fingerprint).id == "r1"
    result = night.resume()
    assert facts(night.store) == facts(unkilled.store)
    assert isinstance(result, RunResult)
    assert (result.merged, result.resolved, result.pruned, result.removed, result.added) == (2, 1, 1, 6, 1)
    assert night.journal.interrupted(night.store.fingerprint) is None


@KILLED
def test_a_killed_run_can_be_undone_instead(night, step, after):
    assert dies(night.store, step, night.apply, after=after)
    night.undo()
    assert night.as_before()


@KILLED
def test_an_undo_killed_anywhere_is_finished_by_resume(night, step, after):
    night.apply()
    assert dies(night.store, step, night.undo, after=after)
    night.resume()
    assert night.as_before()
    assert night.journal.run("r1").state is RunState.UNDONE


def test_a_killed_run_blocks_the_next_one(night):
    assert dies(night.store, 2, night.apply, after=True)
    with pytest.raises(JournalError, match="r1 was interrupted"):
        night.writer.apply(night.plan, run="r2", at=NOW)


SINCE_THE_PLAN = {
    "its text": (lambda s: s.rows["d1"].update(text="Two dogs."), "m1", "d1 changed since", "d1 d2 d3"),
    "its date": (lambda s: s.rows["old"].update(updated_at=NOW.isoformat()), "p1", "old changed", "old"),
    "a pin": (lambda s: s.rows["old"].update(pinned=True), "p1", "old was pinned", "old"),
    "the survivor is gone": (lambda s: s.rows.pop("d3"), "m1", "memory d3 is gone", "d1 d2"),
    "the survivor is not found": (lambda s: s.lost_in_search.add("d3"), "m1", "not find", "d1 d2 d3"),
    "what was added is not found": (lambda s: s.lost_in_search.add("new-1"), "m2", "not find", "s1 s2"),
}
"""What happened meanwhile, the action that is left out, why, and what stays."""


@pytest.mark.parametrize("case", SINCE_THE_PLAN)
def test_what_is_not_as_planned_is_left_alone(night, case):
    happened, name, reason, staying = SINCE_THE_PLAN[case]
    happened(night.store)
    ((moved, why),) = night.apply().moved
    assert (moved, reason in why) == (name, True)
    assert set(staying.split()) <= set(night.store.rows)
    assert ("new-1" in night.store.rows) == (name != "m2")


def test_a_fact_is_never_absent(night):
    def watch(_change):
        texts = " ".join(row["text"] for row in night.store.rows.values())
        assert all(word in texts for word in ("walks", "Leeds", "Gdansk", "30 years", "Never uses tabs"))

    night.store.after_write = watch
    assert night.apply().merged == 2


def test_what_a_person_decided_goes_before_a_merge_into_what_lost(journal):
    """Else a merge takes away what says the same as the loser, and the conflict then the loser."""
    texts = {"dog": DOG, "loser": DOG_LONG, "winner": "Has a cat."}
    store = InMemoryStore([memory(name, text) for name, text in texts.items()])
    dog, loser, winner = (store.parse(store.fetch([name])[name]) for name in texts)
    merge = Merge.of(dog, loser, name="m1", survivor="loser", text=DOG_LONG)
    conflict = Resolve.of(loser, winner, name="c1", a=("loser",), b=("winner",), topic="pet", choice="b")
    plan = replace(plan_of(store, duplicates()), actions=(merge, conflict))
    result = Writer(store, journal).apply(plan, run="r1", at=NOW)
    assert set(store.rows) == {"dog", "winner"}
    assert (result.resolved, result.merged, result.moved) == (1, 0, (("m1", "memory loser is gone"),))


def test_a_plan_line_may_not_name_a_memory_of_somebody_else(journal):
    store = InMemoryStore(
        [memory("mine", DOG), memory("mine too", DOG_LONG), memory("theirs", DOG_LONG, scope=BOB)]
    )
    mine, too, theirs = (store.parse(row) for row in store.fetch(list(store.rows)).values())
    actions = (
        Prune.of(theirs, name="p1", reason="vague"),
        Merge.of(mine, theirs, name="m1", survivor="mine", text=DOG),
        Merge.of(too, theirs, name="m2", survivor=None, text=DOG_LONG),
        Resolve.of(mine, theirs, name="c1", a=("mine",), b=("theirs",), topic="dog", choice="a"),
        Rewrite.of(theirs, name="w1", text="Has nothing.", reason="edited"),
    )
    before = whole(store)
    plan = replace(plan_of(store, duplicates()), actions=tuple(replace(a, scope=ALICE) for a in actions))
    result = Writer(store, journal).apply(plan, run="r1", at=NOW)
    assert dict(result.moved) == dict.fromkeys(
        ("p1", "m1", "m2", "c1", "w1"), "memory theirs is of another scope than the plan says"
    )
    assert whole(store) == before


ODD_COPIES = {
    "there is none": lambda found: found.pop("old"),
    "it is of another": lambda found: found.update(old=replace(found["x"], id="old")),
}


@pytest.mark.parametrize("case", ODD_COPIES)
def test_what_was_not_copied_as_it_was_planned_is_not_touched(night, monkeypatch, case):
    """An undo would have nothing else to bring it back from."""
    fetch, first = night.store.fetch, []

    def once(ids):
        found = fetch(ids)
        if not first:
            found |= fetch(["x"])
            ODD_COPIES[case](found)
            found.pop("x")
            first.append(1)
        return found

    monkeypatch.setattr(night.store, "fetch", once)
    result = night.apply()
    ((name, why),) = result.moved
    assert (name, result.merged, result.pruned) == ("p1", 2, 0)
    assert "could not be copied" in why or "is not what the plan saw" in why
    assert "old" in night.store.rows
    assert night.undo().lost == ()
    assert night.as_before()


def test_an_undo_goes_on_after_what_it_cannot_bring_back_and_names_it(night, monkeypatch):
    night.apply()
    night.journal.tell("DELETE FROM snapshots WHERE memory = 'old'")
    broken, write = {"t1"}, night.store.write

    def failing(change):
        if isinstance(change, Restore) and change.snapshot.id in broken:
            raise StoreError("The store did not keep memory t1.", ids=("t1",))
        return write(change)

    monkeypatch.setattr(night.store, "write", failing)
    undone = night.undo()
    assert (undone.restored, undone.kept) == (4, ())
    assert dict(undone.lost) == {
        "old": "Run r1 holds no copy of memory old.",
        "t1": "The store did not keep memory t1.",
    }
    assert night.before[0].keys() - night.store.rows.keys() == {"old", "t1"}
    assert night.journal.run("r1").state is RunState.APPLIED  # so that it can be tried again
    broken.clear()
    assert [name for name, _ in night.undo().lost] == ["old"]
    assert night.before[0].keys() - night.store.rows.keys() == {"old"}
    assert night.journal.run("r1").state is RunState.UNDONE


def test_an_undo_stops_where_the_store_is_gone(night, monkeypatch):
    night.apply()

    def down(_change):
        raise StoreError("Nothing answers.")

    with monkeypatch.context() as patch:
        patch.setattr(night.store, "write", down)
        with pytest.raises(StoreError, match="Nothing answers"):
            night.undo()
    night.resume()
    assert night.as_before()


@pytest.mark.parametrize("order", ["mpc", "cpm", "pcm"])
def test_parts_of_a_run_are_taken_back_one_by_one_until_nothing_is_left(night, order):
    night.apply()
    kinds = {"m": night.plan.merges, "p": night.plan.prunes, "c": night.plan.conflicts}
    for number, kind in enumerate(order):
        night.undo(part={action.id for action in kinds[kind]})
        assert {name for action in kinds[kind] for name in action.removes} <= set(night.store.rows)
        assert night.journal.run("r1").state is (RunState.APPLIED if number < 2 else RunState.UNDONE)
    assert night.as_before()
    with pytest.raises(JournalError, match="undone already"):
        night.undo()


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(1, 4))
def test_a_part_that_is_killed_while_it_is_taken_back_is_finished_by_resume(night, step, after):
    night.apply()
    part = {action.id for action in night.plan.merges}
    assert dies(night.store, step, lambda: night.undo(part=part), after=after)
    with pytest.raises(JournalError, match="was interrupted"):
        night.undo(part={night.plan.prunes[0].id})
    night.resume()
    assert {"d1", "d2", "s1", "s2"} <= set(night.store.rows)
    assert not {"t1", "old", "new-1"} & set(night.store.rows)
    assert {item.what for item in night.journal.answers(night.store.fingerprint)} == {"merge"}
    night.undo()
    assert night.as_before()


def test_a_run_that_changed_nothing_is_not_kept(night):
    for row in night.store.rows.values():
        row["text"] += " Changed."
    result = night.apply()
    assert (result.run, len(result.moved)) == ("", 4)
    assert night.journal.runs() == ()


def test_a_run_of_another_store_is_not_undone_here(night):
    night.apply()
    with pytest.raises(JournalError, match="another store"):
        Writer(InMemoryStore(fingerprint="other"), night.journal).undo(night.journal.run("r1"), at=NOW)


def test_a_restated_fact_is_in_use(journal, own_state):
    store = InMemoryStore([memory("a", DOG_LONG, days=300), memory("b", DOG, days=2)])
    plan = plan_of(store, duplicates([DOG, DOG_LONG]))
    assert [merge.survivor for merge in plan.merges] == ["a"]
    access = AccessLog(own_state)
    Writer(store, journal, access=access).apply(plan, run="r1", at=NOW)
    assert access.last(store.fingerprint)["a"] == NOW - timedelta(days=2)


def test_the_budget_counts_what_is_taken_away():
    copies = InMemoryStore([memory(f"c{i}", "Has a dog named Rex.") for i in range(10)])
    check_budget(plan_of(copies, duplicates()), Settings(max_delete=0.1, min_delete=0))
    store = messy_store()
    plan = messy_plan(store)
    check_budget(plan, Settings(max_delete=0.5, min_delete=0))
    with pytest.raises(BudgetExceededError, match="5 of 10 memories of user_id=alice"):
        check_budget(plan, Settings(max_delete=0.49, min_delete=0))
    check_budget(plan, Settings(max_delete=0.1, min_delete=5))
    with pytest.raises(BudgetExceededError):
        check_budget(plan, Settings(max_delete=0.0, min_delete=5))


@DRAWN
@given(store=stores(), seed=st.integers(0, 50), retire=st.booleans())
def test_apply_then_undo_is_identity(tmp_path_factory, store, seed, retire):
    journal = Journal(tmp_path_factory.mktemp("journal"))
    before = whole(store)
    plan = plan_of(store, moody_scorer(seed))
    answered = plan.with_choices({conflict.id: "b" for conflict in plan.conflicts})
    writer = Writer(store, journal)
    result = writer.apply(answered, run="r", at=NOW, retire_on=date(2026, 11, 20) if retire else None)
    if result.run:
        writer.undo(journal.run("r"), at=NOW)
    assert whole(store) == before
    journal.close()


@DRAWN
@given(store=stores(), seed=st.integers(0, 50))
def test_a_second_pass_proposes_nothing(tmp_path_factory, store, seed):
    directory = tmp_path_factory.mktemp("state")
    journal, access = Journal(directory), AccessLog(directory)
    scorer = moody_scorer(seed)
    plan = plan_of(store, scorer)
    Writer(store, journal, access=access).apply(plan, run="r", at=NOW)
    again = plan_of(store, scorer, accessed=access.last(store.fingerprint))
    assert again.merges == ()
    assert again.prunes == ()
    journal.close()
    access.close()


@DRAWN
@given(store=stores(), seed=st.integers(0, 50), step=st.integers(1, 12), after=st.booleans())
def test_any_run_killed_anywhere_resumes_to_the_same_end(tmp_path_factory, store, seed, step, after):
    journal = Journal(tmp_path_factory.mktemp("journal"))
    plan = plan_of(store, moody_scorer(seed))
    twin = InMemoryStore()
    twin.rows, twin.vectors = whole(store)
    Writer(twin, Journal(tmp_path_factory.mktemp("journal"))).apply(plan, run="r", at=NOW)
    writer = Writer(store, journal)
    if dies(store, step, lambda: writer.apply(plan, run="r", at=NOW), after=after):
        writer.resume(journal.run("r"), at=NOW)
    assert facts(store) == facts(twin)
    journal.close()
