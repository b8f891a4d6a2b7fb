"""The writer: nothing is lost, whatever happens in between."""

from __future__ import annotations

import copy
from dataclasses import replace
from datetime import date, timedelta

import pytest
from builders import NOW, duplicates, memory, plan_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mem0_dream.errors import BudgetExceededError, IncompleteListingError, JournalError, PlanFileError
from mem0_dream.pipeline.planning.budget import check_budget
from mem0_dream.pipeline.results import RunResult
from mem0_dream.pipeline.writing.access import AccessLog
from mem0_dream.pipeline.writing.journal import Journal, RunState
from mem0_dream.pipeline.writing.writer import Writer
from mem0_dream.testing import InMemoryStore
from messy import (
    DOG,
    DOG_LONG,
    messy_plan,
    messy_scorer,
    messy_store,
    moody_scorer,
    stores,
)


@pytest.fixture
def journal(own_state):
    """A journal in the test's own state directory."""
    opened = Journal(own_state)
    yield opened
    opened.close()


def whole(store):
    """Everything a store holds, for comparison."""
    return copy.deepcopy((store.rows, store.vectors))


def facts(store):
    """What is alive, without the ids of what was added."""
    return sorted((row["text"], row["expires_on"] or "") for row in store.rows.values())


def test_a_run_merges_resolves_and_prunes(journal):
    """Survivors stay, losers go, fused text is added, pinned and unrelated memories are untouched."""
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
    """Rows and vectors are equal to what they were, and nothing is left behind."""
    store = messy_store()
    before = whole(store)
    writer = Writer(store, journal)
    writer.apply(messy_plan(store), run="r1", at=NOW)
    result = writer.undo(journal.run("r1"), at=NOW)
    assert whole(store) == before
    assert (result.restored, result.withdrawn, result.kept) == (6, 1, ())
    assert journal.run("r1").state is RunState.UNDONE


def test_retiring_hides_and_undo_brings_back(journal):
    """With a retire day nothing is deleted; undo clears the expiry."""
    store = messy_store()
    before = whole(store)
    writer = Writer(store, journal)
    writer.apply(messy_plan(store), run="r1", at=NOW, retire_on=date(2026, 11, 20))
    assert store.rows["d1"]["expires_on"] == "2026-11-20"
    assert set(before[0]) < set(store.rows)
    writer.undo(journal.run("r1"), at=NOW)
    assert whole(store) == before


class Killed(BaseException):
    """The process dies here."""


def kill_at(store, step, *, after):
    """Let the process die at the n-th write, just before or just after it."""
    count = {"n": 0}

    def hook(_change):
        count["n"] += 1
        if count["n"] == step:
            raise Killed

    setattr(store, "after_write" if after else "before_write", hook)


def revive(store):
    """The next process has no hooks."""
    store.before_write = store.after_write = lambda _: None


@pytest.mark.parametrize("retire_on", [None, date(2026, 11, 20)])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(1, 8))
def test_a_run_killed_anywhere_is_finished_by_resume(journal, step, after, retire_on):
    """Kill at every write, before or after it; resume gives what an unkilled run gives."""
    unkilled = messy_store()
    Writer(unkilled, Journal(journal._path.parent)).apply(
        messy_plan(unkilled), run="r0", at=NOW, retire_on=retire_on
    )
    journal.set_state("r0", RunState.UNDONE, at=NOW)
    store = messy_store()
    plan = messy_plan(store)
    kill_at(store, step, after=after)
    with pytest.raises(Killed):
        Writer(store, journal).apply(plan, run="r1", at=NOW, retire_on=retire_on)
    revive(store)
    assert journal.interrupted(store.fingerprint).id == "r1"
    result = Writer(store, journal).resume(journal.run("r1"), at=NOW)
    assert facts(store) == facts(unkilled)
    assert isinstance(result, RunResult)
    assert (result.merged, result.resolved, result.pruned, result.removed, result.added) == (2, 1, 1, 6, 1)
    assert journal.interrupted(store.fingerprint) is None


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(1, 8))
def test_a_killed_run_can_be_undone_instead(journal, step, after):
    """Undo of a half-done run gives the store back as it was."""
    store = messy_store()
    before = whole(store)
    plan = messy_plan(store)
    kill_at(store, step, after=after)
    with pytest.raises(Killed):
        Writer(store, journal).apply(plan, run="r1", at=NOW)
    revive(store)
    Writer(store, journal).undo(journal.run("r1"), at=NOW)
    assert whole(store) == before


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(1, 8))
def test_an_undo_killed_anywhere_is_finished_by_resume(journal, step, after):
    """Undo survives being killed at each of its own writes."""
    store = messy_store()
    before = whole(store)
    writer = Writer(store, journal)
    writer.apply(messy_plan(store), run="r1", at=NOW)
    kill_at(store, step, after=after)
    with pytest.raises(Killed):
        writer.undo(journal.run("r1"), at=NOW)
    revive(store)
    writer.resume(journal.run("r1"), at=NOW)
    assert whole(store) == before
    assert journal.run("r1").state is RunState.UNDONE


def test_a_killed_run_blocks_the_next_one(journal):
    """Two half-done runs on top of each other could not be told apart."""
    store = messy_store()
    plan = messy_plan(store)
    kill_at(store, 2, after=True)
    with pytest.raises(Killed):
        Writer(store, journal).apply(plan, run="r1", at=NOW)
    revive(store)
    with pytest.raises(JournalError, match="r1 was interrupted"):
        Writer(store, journal).apply(plan, run="r2", at=NOW)


def test_a_memory_that_changed_is_left_alone(journal):
    """A changed text means the action is skipped, with the reason, and the others go on."""
    store = messy_store()
    plan = messy_plan(store)
    store.rows["d1"]["text"] = "Has two dogs."
    result = Writer(store, journal).apply(plan, run="r1", at=NOW)
    assert {"d1", "d2", "d3"} < set(store.rows)
    assert result.merged == 1
    assert result.moved == (("m1", "memory d1 changed since the plan was made"),)


def test_a_memory_that_was_touched_is_left_alone(journal):
    """The same text with another update date is not what was planned."""
    store = messy_store()
    plan = messy_plan(store)
    store.rows["old"]["updated_at"] = NOW.isoformat()
    assert Writer(store, journal).apply(plan, run="r1", at=NOW).moved[0][0] == "p1"
    assert "old" in store.rows


def test_a_memory_that_was_pinned_meanwhile_is_left_alone(journal):
    """A pin set between plan and apply counts."""
    store = messy_store()
    plan = messy_plan(store)
    store.rows["old"]["pinned"] = True
    Writer(store, journal).apply(plan, run="r1", at=NOW)
    assert "old" in store.rows


def test_a_missing_survivor_keeps_its_duplicates(journal):
    """If the memory that should stay is gone, nothing is removed for it."""
    store = messy_store()
    plan = messy_plan(store)
    del store.rows["d3"]
    result = Writer(store, journal).apply(plan, run="r1", at=NOW)
    assert {"d1", "d2"} < set(store.rows)
    assert ("m1", "memory d3 is gone") in result.moved


def test_a_survivor_that_search_does_not_find_keeps_its_duplicates(journal):
    """Alive but not findable is not good enough."""
    store = messy_store()
    plan = messy_plan(store)
    store.lost_in_search.add("d3")
    Writer(store, journal).apply(plan, run="r1", at=NOW)
    assert {"d1", "d2", "d3"} < set(store.rows)


def test_a_merged_memory_that_search_does_not_find_is_withdrawn(journal):
    """The new text goes again, its sources stay."""
    store = messy_store()
    plan = messy_plan(store)
    store.lost_in_search.add("new-1")
    Writer(store, journal).apply(plan, run="r1", at=NOW)
    assert {"s1", "s2"} < set(store.rows)
    assert "new-1" not in store.rows


def test_a_fact_is_never_absent(journal):
    """After every single write each fact is still stated by somebody."""
    store = messy_store()
    plan = messy_plan(store)

    def watch(_change):
        texts = " ".join(row["text"] for row in store.rows.values())
        assert all(word in texts for word in ("Rex", "Leeds", "Gdansk", "30 years", "Never uses tabs"))

    store.after_write = watch
    assert Writer(store, journal).apply(plan, run="r1", at=NOW).merged == 2


def test_an_open_conflict_changes_nothing(journal):
    """Without a choice both sides stay."""
    store = messy_store()
    plan = plan_of(store, messy_scorer())
    result = Writer(store, journal).apply(plan, run="r1", at=NOW)
    assert {"t1", "t2"} < set(store.rows)
    assert (result.resolved, result.skipped) == (0, 1)


def test_an_incomplete_listing_is_read_only(journal):
    """A plan with gaps is refused before anything is written."""
    store = messy_store()
    before = whole(store)
    plan = replace(messy_plan(store), gaps=("the store returned 20 of 45",))
    with pytest.raises(IncompleteListingError, match="20 of 45"):
        Writer(store, journal).apply(plan, run="r1", at=NOW)
    assert whole(store) == before
    assert journal.runs() == ()


def test_a_plan_of_another_store_is_refused(journal):
    """A plan names its store."""
    store = messy_store()
    plan = replace(messy_plan(store), store="elsewhere")
    with pytest.raises(PlanFileError, match="another store"):
        Writer(store, journal).apply(plan, run="r1", at=NOW)


def test_a_run_is_undone_once(journal):
    """Undoing an undone run is an error, not a second change."""
    store = messy_store()
    writer = Writer(store, journal)
    writer.apply(messy_plan(store), run="r1", at=NOW)
    writer.undo(journal.run("r1"), at=NOW)
    with pytest.raises(JournalError, match="undone already"):
        writer.undo(journal.run("r1"), at=NOW)


def test_undo_leaves_what_was_written_anew(journal):
    """A memory that came back under its old id with another text is not overwritten."""
    store = messy_store()
    writer = Writer(store, journal)
    writer.apply(messy_plan(store), run="r1", at=NOW)
    store.rows["old"] = copy.deepcopy(store.rows["x"])
    result = writer.undo(journal.run("r1"), at=NOW)
    assert store.rows["old"]["text"] == "Shoe size 39"
    assert result.kept == (("old", "it was written anew since the run"),)


def test_a_run_of_another_store_is_not_undone_here(journal):
    """Runs belong to the store they were made on."""
    store = messy_store()
    Writer(store, journal).apply(messy_plan(store), run="r1", at=NOW)
    other = InMemoryStore(fingerprint="other")
    with pytest.raises(JournalError, match="another store"):
        Writer(other, journal).undo(journal.run("r1"), at=NOW)


def test_a_restated_fact_is_in_use(journal, own_state):
    """The survivor keeps its old dates; the access log learns when its duplicate was stated."""
    store = InMemoryStore([memory("a", DOG_LONG, days=300), memory("b", DOG, days=2)])
    plan = plan_of(store, duplicates([DOG, DOG_LONG]))
    assert [merge.survivor for merge in plan.merges] == ["a"]
    access = AccessLog(own_state)
    Writer(store, journal, access=access).apply(plan, run="r1", at=NOW)
    assert access.last(store.fingerprint)["a"] == NOW - timedelta(days=2)


def test_the_budget_counts_what_is_taken_away(journal):
    """Exact copies are free; anything else counts against the share of its scope."""
    copies = InMemoryStore([memory(f"c{i}", "Has a dog named Rex.") for i in range(10)])
    check_budget(plan_of(copies, duplicates()), max_share=0.1, min_count=0)
    store = messy_store()
    plan = messy_plan(store)
    check_budget(plan, max_share=0.5, min_count=0)
    with pytest.raises(BudgetExceededError, match="5 of 10 memories of user_id=alice"):
        check_budget(plan, max_share=0.49, min_count=0)
    check_budget(plan, max_share=0.1, min_count=5)
    with pytest.raises(BudgetExceededError):
        check_budget(plan, max_share=0.0, min_count=5)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(store=stores(), seed=st.integers(0, 50), retire=st.booleans())
def test_apply_then_undo_is_identity(tmp_path_factory, store, seed, retire):
    """Whatever is planned for whatever store, undo gives every byte back."""
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
    """Merges and prunes of a consolidated store are empty, whatever the scorer says."""
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
    """For arbitrary plans too: kill, resume, and the facts are those of an unkilled run."""
    journal = Journal(tmp_path_factory.mktemp("journal"))
    plan = plan_of(store, moody_scorer(seed))
    twin = InMemoryStore()
    twin.rows, twin.vectors = whole(store)
    Writer(twin, Journal(tmp_path_factory.mktemp("journal"))).apply(plan, run="r", at=NOW)
    kill_at(store, step, after=after)
    try:
        Writer(store, journal).apply(plan, run="r", at=NOW)
    except Killed:
        revive(store)
        Writer(store, journal).resume(journal.run("r"), at=NOW)
    assert facts(store) == facts(twin)
    journal.close()
