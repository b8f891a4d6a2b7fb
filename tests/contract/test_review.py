"""What holds of a review and of a report for every kind of store."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from kinds import NOW, World
from mem0_dream.errors import MovedOnError
from mem0_dream.pipeline.cli.main import main
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.web.desk import ReviewDesk
from reviewing import data_of, desk_of
from typed import on_store

pytestmark = pytest.mark.store


@pytest.fixture
def desk(world: World, tmp_path: Path) -> ReviewDesk:
    return desk_of(world, tmp_path / "state")


def key_of(desk: ReviewDesk, kind: str) -> str:
    return next(str(card["key"]) for card in desk.data()["cards"] if card["kind"] == kind)


def test_nothing_is_done_that_was_not_accepted(world: World, desk: ReviewDesk) -> None:
    before, content = world.texts(), world.content()
    desk.review.answer(key_of(desk, "merge"), "yes", now=NOW)
    done = desk.apply(desk.preview()["digest"])
    gone = set(before) - set(world.texts())
    assert len(gone) == 1
    assert gone <= set(world.pair)
    desk.undo(done["run"])
    assert sorted(world.texts().values()) == sorted(before.values())  # ids may be the service's own
    assert world.content() == content


def test_all_that_is_applied_was_shown_and_undo_brings_it_back(world: World, desk: ReviewDesk) -> None:
    content = world.content()
    for card in desk.data()["cards"]:
        desk.review.answer(card["key"], "b" if card["kind"] == "resolve" else "yes", now=NOW)
    shown = desk.preview()
    done = desk.apply(shown["digest"])
    assert world.content() != content
    assert desk.live()["changes"] == 0
    with world.session(desk.directory) as session:
        run = session.journal.run(done["run"])
        outcomes = session.journal.outcomes(run.id)
    assert len(outcomes) == len(shown["done"])
    assert {str(outcome) for outcome, _ in outcomes.values()} == {"applied"}
    assert "taken back" in desk.undo(done["run"])
    assert world.content() == content


def test_an_answer_outlives_the_program_and_a_rejected_pair_is_not_proposed_until_that_is_withdrawn(
    world: World, desk: ReviewDesk
) -> None:
    key = key_of(desk, "merge")
    desk.review.answer(key, "yes", now=NOW)
    again = desk_of(world, desk.directory)
    assert again.live()["answers"] == {key: {"say": "yes", "text": None}}
    again.review.withdraw(key)
    assert again.live()["answers"] == {}
    again.review.answer(key, "no", now=NOW)
    assert key not in {card["key"] for card in desk_of(world, desk.directory).data()["cards"]}
    again.review.withdraw(key)
    assert key in {card["key"] for card in desk_of(world, desk.directory).data()["cards"]}


def test_a_pinned_memory_is_left_alone_by_this_review_and_by_later_passes(world, desk):
    key = key_of(desk, "merge")
    desk.review.answer(key, "yes", now=NOW)
    desk.review.pin(world.pair[0], pinned=True, now=NOW)
    assert desk.live()["changes"] == 0
    with world.session(desk.directory) as session:
        plan = session.propose(ScopeFilter(), now=NOW)
    assert not {m.id for action in plan.actions for m in action.members} & {world.pair[0]}
    desk.review.pin(world.pair[0], pinned=False, now=NOW)
    assert desk.live()["changes"] == 1


def test_what_was_not_shown_is_not_applied_nor_is_anything_to_a_store_that_changed(world, desk):
    desk.review.answer(key_of(desk, "merge"), "yes", now=NOW)
    shown, conflict = desk.preview(), key_of(desk, "resolve")
    desk.review.answer(conflict, "b", now=NOW)
    with pytest.raises(MovedOnError, match="have changed since they were shown"):
        desk.apply(shown["digest"])
    shown = desk.preview()
    world.add_words(world.pair[0], "Every other week only.")
    texts = world.texts()
    with pytest.raises(MovedOnError, match="1 answer no longer fits"):
        desk.apply(shown["digest"])
    assert world.texts() == texts
    assert set(desk.live()["answers"]) == {conflict}


def test_the_report_of_the_command_line_holds_every_proposal(world: World, tmp_path: Path) -> None:
    state, out = ("--state-dir", str(tmp_path / "state")), tmp_path / "report.html"
    world.call("report", *state, "-o", str(out))
    data = data_of(out.read_text(encoding="utf-8"))
    planned = json.loads(world.call("--json", "--dry-run", *state).output)["plan"]
    ids = [card["id"] for card in data["cards"]]
    assert ids[: len(planned["actions"])] == [action["id"] for action in planned["actions"]]
    assert sorted(ids) == sorted(a["id"] for a in (*planned["actions"], *planned["unsure"]))
    assert data["memories"]
    assert out.stat().st_mode & 0o077 == 0
    world.call("--auto", *state)
    with world.session(tmp_path / "state") as session:
        run = session.journal.runs(session.store.fingerprint)[0].id
    done = CliRunner().invoke(main, on_store(["report", run, "-o", str(out), *world.words, *state]))
    assert done.exit_code == 0, done.output
    shown = data_of(out.read_text(encoding="utf-8"))
    assert shown["run"]["id"] == run
    assert run in shown["run"]["undo"]
    assert {card["outcome"][0] for card in shown["cards"] if "unsure" not in card} <= {"applied", "skipped"}
    assert len(shown["history"]["runs"]) == 1
