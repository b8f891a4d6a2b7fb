"""What follows from answers where one change leads to another: an index, a sentence, relations."""

from pathlib import Path

import pytest
from kinds import KINDS, NOW
from mem0_dream.pipeline.web.desk import ReviewDesk, ReviewObserver
from reviewing import desk_of

pytestmark = pytest.mark.store


class Files:
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world = KINDS["md"](folder, monkeypatch)
        self.desk = desk_of(self.world, folder / "state")
        self.memories = next(folder.rglob("MEMORY.md")).parent

    def say(self, kind: str, say: str) -> None:
        (card,) = [card for card in self.desk.data()["cards"] if card["kind"] == kind]
        self.desk.review.answer(card["key"], say, now=NOW)

    def apply(self) -> str:
        shown = self.desk.preview()
        self.desk.apply(shown["digest"])
        return "\n".join(shown["lines"])

    @property
    def index(self) -> str:
        return (self.memories / "MEMORY.md").read_text(encoding="utf-8")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """Thirteen files: a merge, a conflict, and an index that follows."""
    return Files(tmp_path, monkeypatch)


def test_an_index_follows_the_file_that_goes_and_is_shown_before(files: Files) -> None:
    files.say("merge", "yes")
    shown = files.apply()
    assert "Would rebuild: .claude/memory/MEMORY.md" in shown
    assert "tabs.md" not in files.index
    assert not (files.memories / "tabs.md").exists()
    assert (files.memories / "friday.md").exists()


def test_an_index_that_was_rejected_stays(files: Files) -> None:
    before = files.index
    files.say("merge", "yes")
    files.say("reindex", "no")
    assert "MEMORY.md" not in files.apply()
    assert files.index == before


def test_accepted_doubts_around_one_memory_are_one_change_that_is_shown(tmp_path: Path) -> None:
    from builders import MAYBE, memory
    from mem0_dream.testing import FakeScorer, InMemoryStore
    from reviewing import World as Memories

    texts = [f"Reads novels about the sea, volume {n}." for n in "abc"]
    pairs = {(texts[0], texts[1]): MAYBE, (texts[1], texts[2]): MAYBE}
    store = InMemoryStore([memory(name, text) for name, text in zip("abc", texts, strict=True)])
    world = Memories(store, FakeScorer(pairs), tmp_path)
    desk = ReviewDesk(world.access(), ReviewObserver())
    found = desk.data()["cards"]
    assert [card["shares"] for card in found] == [[1, 2], [2, 2]]
    for card in found:
        desk.review.answer(card["key"], "yes", now=NOW)
    shown = desk.preview()
    ((done,), notes) = (shown["done"], shown["notes"])
    assert (len(done["gone"]), set(done["gone"]) < set(texts), notes) == (2, True, [])


def test_a_run_notes_what_it_leaves_to_a_person(tmp_path: Path) -> None:
    from reviewing import small_world

    world = small_world(tmp_path)
    desk = ReviewDesk(world.access(), ReviewObserver())
    kinds = {card["kind"]: card["key"] for card in desk.data()["cards"] if "unsure" not in card}
    desk.review.answer(kinds["merge"], "yes", now=NOW)
    desk.review.answer(kinds["resolve"], "skip", now=NOW)
    desk.apply(desk.preview()["digest"])
    (run,) = desk.data()["history"]["runs"]
    assert (run["open"], run["unsure"]) == (1, 1)


def test_one_answer_to_several_takes_what_is_certain_alone(tmp_path: Path) -> None:
    """Whoever sends the request: neither a yes nor a no is taken for a pair that is merely likely."""
    from mem0_dream.errors import UsageError
    from reviewing import small_world

    desk = ReviewDesk(small_world(tmp_path).access(), ReviewObserver())
    keys = {card["kind"] + "?" * card.get("unsure", 0): card["key"] for card in desk.data()["cards"]}
    for say in ("yes", "no"):
        for likely in ("merge?", "resolve"):
            with pytest.raises(UsageError, match="answered by itself"):
                desk.review.answer_all([keys["merge"], keys[likely]], say, now=NOW)
    assert desk.live()["answers"] == {}
