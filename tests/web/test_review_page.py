"""The live review in a real Chromium, against a real server on a loopback port."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mem0_dream.pipeline.judging.labelling import read_pairs
from mem0_dream.pipeline.planning.doubts import ANSWERS_FILE
from mem0_dream.pipeline.stores.base import Delete, ScopeFilter
from mem0_dream.records import Label
from page_checks import cards, violations
from reviewing import NOW, World, many_world, served, small_world

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
from mem0_dream.pipeline.web.progress import ReviewObserver

pytestmark = pytest.mark.web


@pytest.fixture
def world(tmp_path: Path) -> World:
    """The small store."""
    return small_world(tmp_path / "state")


@pytest.fixture
def address(world: World) -> Iterator[str]:
    """A review of it, and the link that the terminal would print."""
    watched = ReviewObserver()
    with served(world.ways(watched), watched) as link:
        yield link


@pytest.fixture
def review(page: Page, address: str) -> Page:
    """The review in a tab."""
    page.goto(address)
    return page


def card(page: Page, words: str) -> Locator:
    """The proposal that holds these words."""
    return page.locator("article.card", has_text=words)


def status(page: Page) -> str:
    """What the bar at the bottom says."""
    return page.locator("#bar").inner_text()


def answers(world: World) -> list[str]:
    """What is kept, read from the disk as another program would."""
    from mem0_dream.pipeline.web.pending import PendingAnswers

    return sorted(str(given.say) for given in PendingAnswers(world.state, "in-memory").all().values())


def apply(page: Page) -> None:
    """Press Apply, and agree."""
    page.click('[data-do="apply"]')
    page.click('[data-do="confirm"]')
    page.get_by_text("Dream complete").wait_for()


class TestAnswers:
    def test_accept_reject_and_undo_an_answer(self, review: Page, world: World) -> None:
        """Each is kept before the page shows it."""
        dog = card(review, "Pickle")
        dog.locator('[data-say="accept"]').click()
        dog.get_by_text("Accepted").wait_for()
        assert answers(world) == ["accept"]
        assert "Apply 1 change" in status(review)
        dog.locator('[data-say="undo"]').click()
        dog.locator('[data-say="reject"]').click()
        dog.get_by_text("Rejected").wait_for()
        assert answers(world) == ["reject"]
        with world.session() as session:
            assert [str(answer.kind) for answer in session.answered] == ["rejected"]
        dog.locator('[data-say="undo"]').click()
        dog.locator('[data-say="accept"]').wait_for()
        with world.session() as session:
            assert session.answered == ()
        assert answers(world) == []

    @pytest.mark.parametrize(
        ("say", "words"), [("a", "A stays"), ("b", "B stays"), ("both", "Both hold"), ("skip", "Left open")]
    )
    def test_a_conflict_takes_four_answers(self, review: Page, world: World, say: str, words: str) -> None:
        """A, B, both, and another time."""
        conflict = review.locator("article.resolve")
        conflict.locator(f'[data-say="{say}"]').click()
        conflict.locator(".said", has_text=words).wait_for()
        assert answers(world) == [say]
        assert conflict.locator(".side.chosen").count() == (say in "ab")

    def test_keys_do_what_the_buttons_do(self, review: Page, world: World) -> None:
        """j, a, r, u, e, and on to the next proposal by itself."""
        keys = review.keyboard
        keys.press("j")
        first = review.evaluate("document.activeElement.id")
        keys.press("a")
        review.locator(f"#{first}").get_by_text("Accepted").wait_for()
        review.wait_for_timeout(100)
        second = review.evaluate("document.activeElement.id")
        assert second != first
        keys.press("r")
        review.locator(f"#{second}").get_by_text("Rejected").wait_for()
        review.wait_for_timeout(100)
        keys.press("k")
        keys.press("u")
        review.locator(f'#{second} [data-say="accept"]').wait_for()
        keys.press("e")
        assert review.evaluate("document.activeElement.tagName") == "TEXTAREA"
        keys.type("a")
        keys.press("Escape")
        assert answers(world) == ["accept"]

    def test_the_guards_look_at_a_text_as_it_is_typed(self, review: Page, world: World) -> None:
        """What would be lost is named, and such a text cannot be accepted."""
        run = card(review, "marathon")
        run.locator('[data-say="edit"]').click()
        box = run.locator("textarea")
        assert box.input_value() == "Runs the Leeds marathon every spring. Wears carbon shoes."
        box.fill("Runs the marathon every spring, trains on hills, wears carbon shoes.")
        run.get_by_text("This would lose").wait_for()
        assert "Leeds" in run.locator(".lost-list").inner_text()
        assert run.locator('[data-do="save"]').is_disabled()
        mine = "Trains on hills, wears carbon shoes, and runs the Leeds marathon every spring."
        box.fill(mine)
        run.get_by_text("Nothing is lost.").wait_for()
        run.locator('[data-do="save"]').click()
        run.get_by_text("Accepted, in your words").wait_for()
        apply(review)
        assert mine in [row["text"] for row in world.store.rows.values()]

    def test_a_pinned_memory_is_taken_out_of_every_proposal(self, review: Page, world: World) -> None:
        """And put back by the same button."""
        dog = card(review, "Pickle")
        dog.locator('[data-say="accept"]').click()
        dog.get_by_text("Accepted").wait_for()
        dog.locator('[data-pin="dog1"]').click()
        dog.get_by_text("Pinned: this is not touched").wait_for()
        assert "Apply 0 changes" in status(review)
        dog.locator('[data-pin="dog1"]').click()
        dog.get_by_text("Accepted").wait_for()
        assert "Apply 1 change" in status(review)

    def test_unanswered_only_hides_what_is_done(self, review: Page) -> None:
        """So that one sees what is left."""
        everything = len(cards(review))
        dog = card(review, "Pickle")
        dog.locator('[data-say="accept"]').click()
        dog.get_by_text("Accepted").wait_for()
        review.check('[data-filter="open"]')
        assert len(cards(review)) == everything - 1

    def test_the_line_accepts_all_merges_above_it(self, review: Page, world: World) -> None:
        """At once, the doubt among them."""
        review.click("#line-panel summary")
        review.locator("#line").fill("0.75")
        review.click('[data-do="accept-line"]')
        review.get_by_text("Apply 3 changes").wait_for()
        assert answers(world) == ["accept"] * 3

    def test_answers_teach_the_thresholds(self, review: Page, world: World) -> None:
        """A calibration is offered from fifty on; here the file is filled by hand."""
        doubt = card(review, "sea voyages")
        doubt.locator('[data-say="accept"]').click()
        doubt.get_by_text("Accepted").wait_for()
        assert [pair.label for pair in read_pairs(world.state / ANSWERS_FILE)] == [Label.DUPLICATE]
        assert review.locator('[data-do="calibrate"]').count() == 0
        doubt.locator('[data-say="undo"]').click()
        doubt.locator('[data-say="reject"]').wait_for()
        assert read_pairs(world.state / ANSWERS_FILE) == ()
        lines = "".join(
            json.dumps({"key": str(n), "a": "x", "b": "y", "label": "distinct"}) + "\n" for n in range(50)
        )
        (world.state / ANSWERS_FILE).write_text(lines)
        doubt.locator('[data-say="reject"]').click()
        review.click('[data-do="calibrate"]')
        review.get_by_text("Fitted.").wait_for()


class TestApply:
    def test_what_will_be_done_is_shown_then_done_then_taken_back(self, review: Page, world: World) -> None:
        """The dialog holds every change; the command and the button take it back."""
        before = copy.deepcopy(world.store.rows)
        for words in ("Pickle", "plumber"):
            card(review, words).locator('[data-say="accept"]').click()
            card(review, words).get_by_text("Accepted").wait_for()
        review.locator("article.resolve").locator('[data-say="b"]').click()
        review.click('[data-do="apply"]')
        told = review.locator("dialog pre").inner_text()
        for words in ("Merges (1)", "Conflicts (1)", "[B stays]", "Prune (1)", "kitchen tap"):
            assert words in told
        review.locator('dialog [data-do="cancel"]').click()
        assert world.store.rows == before
        apply(review)
        assert set(before) - set(world.store.rows) == {"dog1", "tabs1", "tap"}
        assert "mem0-dream undo 2026" in review.locator("#notices code").inner_text()
        assert "0 of 4 proposals answered" in status(review)
        review.click('[data-do="undo-run"]')
        review.get_by_text("taken back — restored").wait_for()
        assert "Conflicts that had been answered are open again." in review.locator("#notices").inner_text()
        assert review.locator('article.resolve [data-say="b"]').is_visible()
        assert world.store.rows == before

    def test_a_run_draws_a_point(self, review: Page) -> None:
        """Over time: the table names it."""
        card(review, "Pickle").locator('[data-say="accept"]').click()
        review.get_by_text("Apply 1 change").wait_for()
        apply(review)
        review.click("#tab-history")
        assert review.locator("table.runs tbody tr").count() == 1
        assert review.locator("svg.chart polyline").count() == 2

    def test_a_store_that_changed_meanwhile_is_looked_at_again(self, review: Page, world: World) -> None:
        """Nothing is done; the answer that still holds is kept, the other proposal is gone."""
        for words in ("Pickle", "marathon"):
            card(review, words).locator('[data-say="accept"]').click()
            card(review, words).get_by_text("Accepted").wait_for()
        review.click('[data-do="apply"]')
        review.locator("dialog pre").wait_for()
        world.store.write(Delete("dog1"))
        rows = copy.deepcopy(world.store.rows)
        review.click('[data-do="confirm"]')
        review.get_by_text("The store has changed meanwhile").wait_for()
        assert world.store.rows == rows
        assert card(review, "Pickle").count() == 0
        assert card(review, "marathon").get_by_text("Accepted").is_visible()
        assert "1 answer no longer fits" in review.locator("#notices").inner_text()
        apply(review)

    def test_another_run_under_way_is_told(self, review: Page, world: World) -> None:
        """The lock is taken only while applying, and respected then."""
        card(review, "Pickle").locator('[data-say="accept"]').click()
        review.click('[data-do="apply"]')
        review.locator("dialog pre").wait_for()
        with world.session() as session, session.locked():
            review.click('[data-do="confirm"]')
            review.get_by_text("Another mem0-dream run").wait_for()
        apply(review)

    def test_progress_is_told_while_it_goes_on(self, page: Page, tmp_path: Path) -> None:
        """The page asks how far it is, and the store is slow."""
        import time

        world = many_world(24, tmp_path / "state")
        world.store.before_write = lambda _change: time.sleep(0.1)
        watched = ReviewObserver()
        with served(world.ways(watched), watched) as link:
            page.goto(link)
            page.click("#line-panel summary")
            page.click('[data-do="accept-line"]')
            page.get_by_text("Apply 12 changes").wait_for()
            page.click('[data-do="apply"]')
            page.click('[data-do="confirm"]')
            page.get_by_text("apply: ").wait_for()
            page.get_by_text("Dream complete — merged: 12").wait_for()


class TestLooking:
    def test_look_again_shows_what_the_store_says_now(self, review: Page, world: World) -> None:
        """The answers that fit stay; the note can be closed."""
        for words in ("Pickle", "marathon"):
            card(review, words).locator('[data-say="accept"]').click()
            card(review, words).get_by_text("Accepted").wait_for()
        world.store.write(Delete("dog2"))
        review.click('[data-do="refresh"]')
        review.get_by_text("Looked again. 1 answer no longer fits.").wait_for()
        assert card(review, "Pickle").count() == 0
        assert card(review, "marathon").get_by_text("Accepted").is_visible()
        review.click('#notices [aria-label="Close"]')
        assert review.locator("#notices").inner_text() == ""

    def test_the_other_controls_do_what_they_say(self, page: Page, tmp_path: Path) -> None:
        """Nearest first, turning back, cancelling a text, undoing by key, the map and back."""
        world = many_world(60, tmp_path / "state")
        watched = ReviewObserver()
        with served(world.ways(watched), watched) as link:
            page.goto(link)
            page.click('[data-do="next"]')
            page.click('[data-do="next"]')
            page.click('[data-do="previous"]')
            assert "Page 2 of 3" in page.locator("#pages").inner_text()
            page.click("#line-panel summary")
            page.check('[data-do="near"]')
            page.locator("#line").fill("0.8")
            assert cards(page)[0] == "May be the same"
            page.uncheck('[data-do="near"]')
            page.click('[data-kind="merge"]')
            first = page.locator("article.card").first
            first.locator('[data-say="edit"]').click()
            first.locator('[data-do="cancel"]').click()
            assert first.locator("textarea").count() == 0
            page.click("#tab-map")
            page.click("#tab-proposals")
            assert set(cards(page)) == {"Merge"}


class TestHolds:
    def test_a_reload_in_the_middle_loses_nothing(self, review: Page) -> None:
        """What was answered stays answered."""
        card(review, "Pickle").locator('[data-say="accept"]').click()
        card(review, "Pickle").get_by_text("Accepted").wait_for()
        review.reload()
        assert card(review, "Pickle").get_by_text("Accepted").is_visible()
        assert "1 of 7 proposals answered" in status(review)

    def test_a_review_begun_anew_knows_the_answers(self, page: Page, world: World) -> None:
        """The program was ended; its answers were on the disk."""
        for _ in range(2):
            watched = ReviewObserver()
            with served(world.ways(watched), watched) as link:
                page.goto(link)
                if not answers(world):
                    card(page, "Pickle").locator('[data-say="accept"]').click()
                card(page, "Pickle").get_by_text("Accepted").wait_for()

    def test_the_second_tab_takes_over(self, review: Page, address: str) -> None:
        """The first is read-only then, and says why."""
        other = review.context.new_page()
        other.goto(address)
        card(review, "Pickle").locator('[data-say="accept"]').click()
        review.locator("#notices").get_by_text("open in another tab").wait_for()
        assert review.locator('[data-say="accept"]').count() == 0
        card(other, "Pickle").locator('[data-say="accept"]').click()
        card(other, "Pickle").get_by_text("Accepted").wait_for()

    def test_a_second_review_of_the_same_store_is_refused(self, address: str, world: World) -> None:
        """One session at a time."""
        from mem0_dream.errors import StoreLockedError

        assert address
        with pytest.raises(StoreLockedError, match="open already"), served(world.ways(), ReviewObserver()):
            pass

    def test_a_wrong_token_is_shown_nothing(self, page: Page, address: str) -> None:
        """Another link, and a link without a token."""
        page.goto(address[:-4] + "XXXX")
        assert page.inner_text("body").strip() == "This link is not the one that the terminal printed."
        page.goto(address.partition("?")[0])
        assert "Read-only" in status(page)
        assert cards(page) == []
        assert "Pickle" not in page.content()

    def test_a_server_that_is_gone_is_told(self, page: Page, world: World) -> None:
        """In a sentence, and the answer is not shown as kept."""
        watched = ReviewObserver()
        with served(world.ways(watched), watched) as link:
            page.goto(link)
        card(page, "Pickle").locator('[data-say="accept"]').click()
        page.get_by_text("The review has ended").wait_for()
        assert card(page, "Pickle").locator('[data-say="accept"]').is_visible()

    def test_hostile_text_is_text_here_too(self, review: Page) -> None:
        """In the card, in the preview and after it was applied."""
        evil = card(review, "onerror")
        evil.locator('[data-say="accept"]').click()
        evil.get_by_text("Accepted").wait_for()
        review.click('[data-do="apply"]')
        assert "<script>" in review.locator("dialog pre").inner_text()
        review.click('[data-do="confirm"]')
        review.get_by_text("Dream complete").wait_for()
        assert review.title() != "run"

    def test_five_hundred_proposals_are_turned_page_by_page(self, page: Page, tmp_path: Path) -> None:
        """Keys go over the edge of a page; filters and answers work on the last one."""
        world = many_world(500, tmp_path / "state")
        watched = ReviewObserver()
        with served(world.ways(watched), watched) as link:
            page.goto(link)
            assert "500" in page.locator(".chip").first.inner_text()
            assert len(cards(page)) == 25
            for _ in range(26):
                page.keyboard.press("j")
            assert "Page 2 of 20" in page.locator("#pages").inner_text()
            page.click('[data-kind="resolve"]')
            assert set(cards(page)) == {"Conflict"}
            page.click('[data-do="next"]')
            last = page.locator("article.card").last
            last.locator('[data-say="b"]').click()
            last.get_by_text("B stays").wait_for()
            page.click('[data-kind="all"]')
            page.click("#line-panel summary")
            page.click('[data-do="accept-line"]')
            page.get_by_text("Apply 251 changes").wait_for()
            assert "251 of 500 proposals answered" in status(page)

    def test_the_agent_may_work_while_a_review_is_open(self, address: str, world: World) -> None:
        """Between the looks the store is closed and not locked."""
        assert address
        with world.session() as session, session.locked():
            assert session.read(ScopeFilter()).memories


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(review: Page, axe: str, scheme: str) -> None:
    """With answers given, a text being written, and the dialog open."""
    review.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    card(review, "Pickle").locator('[data-say="accept"]').click()
    card(review, "Pickle").get_by_text("Accepted").wait_for()
    review.locator("article.resolve").locator('[data-say="a"]').click()
    card(review, "marathon").locator('[data-say="edit"]').click()
    card(review, "marathon").locator("textarea").fill("Runs.")
    review.get_by_text("This would lose").wait_for()
    found = violations(review, axe)
    review.click('[data-do="apply"]')
    review.locator("dialog pre").wait_for()
    assert [*found, *violations(review, axe)] == []


@pytest.mark.parametrize("kind", ["md", "graph"])
def test_files_and_graphs_are_reviewed_on_the_same_page(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Accept the merge, see what follows, apply, take back."""
    from kinds import KINDS, SETTINGS
    from mem0_dream.pipeline.cli.options import Options
    from mem0_dream.pipeline.cli.web import _ways

    built = KINDS[kind](tmp_path, monkeypatch)
    config = tmp_path / "settings.yaml"
    config.write_text(json.dumps({"mem0_dream": SETTINGS}))
    before = built.content()
    options = Options(config=config, store_kind=kind, state_dir=tmp_path / "state", now=NOW)
    options.root = built.folder / "shop" if kind == "md" else None
    options.graph_file = built.folder / "memory.jsonl" if kind == "graph" else None
    watched = ReviewObserver()
    with served(_ways(options, watched), watched) as link:
        page.goto(link)
        merge = page.locator("article.merge").first
        merge.locator('[data-say="accept"]').click()
        merge.get_by_text("Accepted").wait_for()
        apply(page)
        assert built.content() != before
        assert f"--store {kind}" in page.locator("#notices code").inner_text()
        page.click('[data-do="undo-run"]')
        page.get_by_text("taken back — restored").wait_for()
        assert built.content() == before
