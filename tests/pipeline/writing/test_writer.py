"""The writer: nothing is lost, whatever happens in between."""

import copy
from dataclasses import replace
from datetime import date, timedelta

import pytest
from builders import NOW, duplicates, memory, plan_of
from hypothesis import HealthCheck, given, settings, strategies as st
from killing import dies
from mem0_dream.errors import BudgetExceededError, IncompleteListingError, JournalError
from mem0_dream.pipeline.plan import RunResult
from mem0_dream.pipeline.planning.budget import check_budget
from mem0_dream.pipeline.writing.access import AccessLog
from mem0_dream.pipeline.writing.journal import Journal, RunState
from mem0_dream.pipeline.writing.writer import Writer
from mem0_dream.settings import Settings
from mem0_dream.testing import InMemoryStore
from messy import DOG, DOG_LONG, messy_plan, messy_store, moody_scorer, stores


@pytest.fixture
def journal(own_state):
    opened = Journal(own_state)
    yield opened
    opened.close()


def whole(store):
    return copy.deepcopy((store.rows, store.vectors))


def facts(store):
    """What is alive, without the ids of what was added."""
    return sorted((row["text"], row["expires_on"] or "") for row in store.rows.values())


def test_a_run_merges_resolves_and_prunes(journal):
    store = messy_store()
    result = Writer(store, journal).apply(messy_plan(store), run="r1", at=NOW)
    assert (result.merged, result.resolved, result.pruned, result.skipped) == (2, 1, 1, 0)
    assert (result.removed, result.added) == (6, 1)
    assert {"d3", "t2", "pin", "x"} < set(store.rows)
    assert not {"d1", "d2", "s1", "s2", "t1", "old"} & set(store.rows)
    added = store.rows["new-1"]
    assert set(added["metadata"]["merged_from"]) == {"s1", "s2"}
    assert added["metadata"]["source"] == "chat"
    assert added["created_at"] == (NOW - timedelta(days=20)).isoformat()


def test_undo_gives_the_store_back_as_it_was(journal):
    store = messy_store()
    before = whole(store)
    writer = Writer(store, journal)
    writer.apply(messy_plan(store), run="r1", at=NOW)
    result = writer.undo(journal.run("r1"), at=NOW)
    assert whole(store) == before
    assert (result.restored, result.withdrawn, result.kept) == (6, 1, ())
    assert journal.run("r1").state is RunState.UNDONE


def test_retiring_hides_and_undo_brings_back(journal):
    store = messy_store()
    before = whole(store)
    writer = Writer(store, journal)
    writer.apply(messy_plan(store), run="r1", at=NOW, retire_on=date(2026, 11, 20))
    assert store.rows["d1"]["expires_on"] == "2026-11-20"
    assert set(before[0]) < set(store.rows)
    writer.undo(journal.run("r1"), at=NOW)
    assert whole(store) == before


@pytest.mark.parametrize("retire_on", [None, date(2026, 11, 20)])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(1, 8))
def test_a_run_killed_anywhere_is_finished_by_resume(journal, step, after, retire_on):
    unkilled = messy_store()
    Writer(unkilled, Journal(journal.path.parent)).apply(
        messy_plan(unkilled), run="r0", at=NOW, retire_on=retire_on
    )
    journal.set_state("r0", RunState.UNDONE, at=NOW)
    store = messy_store()
    plan = messy_plan(store)
    writer = Writer(store, journal)
    assert dies(store, step, lambda: writer.apply(plan, run="r1", at=NOW, retire_on=retire_on), after=after)
    assert journal.interrupted(store.fingerprint).id == "r1"
    result = writer.resume(journal.run("r1"), at=NOW)
    assert facts(store) == facts(unkilled)
    assert isinstance(result, RunResult)
    assert (result.merged, result.resolved, result.pruned, result.removed, result.added) == (2, 1, 1, 6, 1)
    assert journal.interrupted(store.fingerprint) is None


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(1, 8))
def test_a_killed_run_can_be_undone_instead(journal, step, after):
    store = messy_store()
    before, plan, writer = whole(store), messy_plan(store), Writer(store, journal)
    assert dies(store, step, lambda: writer.apply(plan, run="r1", at=NOW), after=after)
    writer.undo(journal.run("r1"), at=NOW)
    assert whole(store) == before


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(1, 8))
def test_an_undo_killed_anywhere_is_finished_by_resume(journal, step, after):
    store = messy_store()
    before = whole(store)
    writer = Writer(store, journal)
    writer.apply(messy_plan(store), run="r1", at=NOW)
    assert dies(store, step, lambda: writer.undo(journal.run("r1"), at=NOW), after=after)
    writer.resume(journal.run("r1"), at=NOW)
    assert whole(store) == before
    assert journal.run("r1").state is RunState.UNDONE


def test_a_killed_run_blocks_the_next_one(journal):
    store = messy_store()
    plan, writer = messy_plan(store), Writer(store, journal)
    assert dies(store, 2, lambda: writer.apply(plan, run="r1", at=NOW), after=True)
    with pytest.raises(JournalError, match="r1 was interrupted"):
        writer.apply(plan, run="r2", at=NOW)


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
def test_what_is_not_as_planned_is_left_alone(journal, case):
    happened, name, reason, staying = SINCE_THE_PLAN[case]
    store = messy_store()
    plan = messy_plan(store)
    happened(store)
    result = Writer(store, journal).apply(plan, run="r1", at=NOW)
    assert [moved for moved, why in result.moved if reason in why] == [name]
    assert len(result.moved) == 1
    assert set(staying.split()) <= set(store.rows)
    assert ("new-1" in store.rows) == (name != "m2")


def test_a_fact_is_never_absent(journal):
    store = messy_store()
    plan = messy_plan(store)

    def watch(_change):
        texts = " ".join(row["text"] for row in store.rows.values())
        assert all(word in texts for word in ("Rex", "Leeds", "Gdansk", "30 years", "Never uses tabs"))

    store.after_write = watch
    assert Writer(store, journal).apply(plan, run="r1", at=NOW).merged == 2


def test_an_incomplete_listing_is_read_only(journal):
    store = messy_store()
    before = whole(store)
    plan = replace(messy_plan(store), gaps=("the store returned 20 of 45",))
    with pytest.raises(IncompleteListingError, match="20 of 45"):
        Writer(store, journal).apply(plan, run="r1", at=NOW)
    assert whole(store) == before
    assert journal.runs() == ()


@pytest.mark.parametrize("order", ["mpc", "cpm", "pcm"])
def test_parts_of_a_run_are_taken_back_one_by_one_until_nothing_is_left(journal, order):
    store = messy_store()
    before, plan, writer = whole(store), messy_plan(store), Writer(store, journal)
    writer.apply(plan, run="r1", at=NOW)
    kinds = {"m": plan.merges, "p": plan.prunes, "c": plan.conflicts}
    for number, kind in enumerate(order):
        actions = kinds[kind]
        writer.undo(journal.run("r1"), at=NOW, part={action.id for action in actions})
        gone = {name for action in actions for name in action.removes}
        assert gone <= set(store.rows)
        assert journal.run("r1").state is (RunState.APPLIED if number < 2 else RunState.UNDONE)
    assert whole(store) == before
    with pytest.raises(JournalError, match="undone already"):
        writer.undo(journal.run("r1"), at=NOW)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(1, 4))
def test_a_part_that_is_killed_while_it_is_taken_back_is_finished_by_resume(journal, step, after):
    store = messy_store()
    before, plan, writer = whole(store), messy_plan(store), Writer(store, journal)
    writer.apply(plan, run="r1", at=NOW)
    part = {action.id for action in plan.merges}
    assert dies(store, step, lambda: writer.undo(journal.run("r1"), at=NOW, part=part), after=after)
    with pytest.raises(JournalError, match="was interrupted"):
        writer.undo(journal.run("r1"), at=NOW, part={plan.prunes[0].id})
    writer.resume(journal.run("r1"), at=NOW)
    assert {"d1", "d2", "s1", "s2"} <= set(store.rows)
    assert not {"t1", "old", "new-1"} & set(store.rows)
    assert {item.what for item in journal.answers(store.fingerprint)} == {"merge"}
    writer.undo(journal.run("r1"), at=NOW)
    assert whole(store) == before


def test_a_run_that_changed_nothing_is_not_kept(journal):
    store = messy_store()
    plan = messy_plan(store)
    for row in store.rows.values():
        row["text"] += " Changed."
    result = Writer(store, journal).apply(plan, run="r1", at=NOW)
    assert (result.run, len(result.moved)) == ("", 4)
    assert journal.runs() == ()


def test_a_run_of_another_store_is_not_undone_here(journal):
    store = messy_store()
    Writer(store, journal).apply(messy_plan(store), run="r1", at=NOW)
    other = InMemoryStore(fingerprint="other")
    with pytest.raises(JournalError, match="another store"):
        Writer(other, journal).undo(journal.run("r1"), at=NOW)


def test_a_restated_fact_is_in_use(journal, own_state):
    store = InMemoryStore([memory("a", DOG_LONG, days=300), memory("b", DOG, days=2)])
    plan = plan_of(store, duplicates([DOG, DOG_LONG]))
    assert [merge.survivor for merge in plan.merges] == ["a"]
    access = AccessLog(own_state)
    Writer(store, journal, access=access).apply(plan, run="r1", at=NOW)
    assert access.last(store.fingerprint)["a"] == NOW - timedelta(days=2)


def test_the_budget_counts_what_is_taken_away(journal):
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


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
