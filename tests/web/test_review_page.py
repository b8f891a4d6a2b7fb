"""The live review in a real Chromium, against a real server on a loopback port."""

import contextlib
import copy
import json

import pytest
from builders import memory
from mem0_dream.errors import StoreError
from mem0_dream.pipeline.answers import Answer, Say
from mem0_dream.pipeline.judging.calibration import parse_pairs
from mem0_dream.pipeline.stores.base import Delete, ScopeFilter
from mem0_dream.pipeline.writing.journal import Journal
from mem0_dream.records import Label
from mem0_dream.testing import InMemoryStore
from page_checks import answer_some, answers, apply, card, cards, do, findings, preview, reviewed, say, status
from reviewing import NOW, World, many_world, served

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
from mem0_dream.pipeline.web.desk import ReviewObserver

pytestmark = pytest.mark.web


def taught(world: World) -> list[Label]:
    with contextlib.closing(Journal(world.state)) as journal:
        return [pair.label for pair in parse_pairs(journal.pairs(), source="the journal")]


class TestAnswers:
    def test_accept_reject_and_undo_an_answer(self, review, world):
        dog = say(review, "Pickle")
        assert answers(world) == ["yes"]
        assert "Apply 1 change" in status(review)
        dog.locator('[data-say="undo"]').click()
        say(review, "Pickle", "no", "Rejected")
        assert answers(world) == ["no"]
        with world.session() as session:
            assert [str(answer.say) for answer in session.answered] == ["no"]
        dog.locator('[data-say="undo"]').click()
        dog.locator('[data-say="yes"]').wait_for()
        with world.session() as session:
            assert session.answered == ()
        assert answers(world) == []

    def test_a_conflict_takes_five_answers(self, review, world):
        conflict, said = (
            review.locator("article.resolve"),
            {"a": "A stays", "b": "B stays", "both": "Both hold"},
        )
        for choice, words in (said | {"skip": "Left open", "still": "Still true"}).items():
            conflict.locator(f'[data-say="{choice}"]').click()
            conflict.locator(".said", has_text=words).wait_for()
            assert answers(world) == [choice]
            assert conflict.locator(".side.chosen").count() == (choice in "ab")
            for key in ("u", {"both": "o", "still": "t", "skip": "s"}.get(choice, choice)):
                review.keyboard.press(key)
                conflict.locator('[data-say="skip"]' if key == "u" else ".said").first.wait_for()
            conflict.locator('[data-say="undo"]').click()
            conflict.locator('[data-say="skip"]').wait_for()

    def test_what_is_kept_after_the_tab_was_left_is_in_the_list_of_answers(self, review):
        slow = "async (...given) => { await new Promise((done) => setTimeout(done, 300)); return plain(...given); }"
        review.evaluate(f"() => {{ const plain = window.fetch; window.fetch = {slow}; }}")
        review.locator('article.prune [data-say="still"]').first.click()
        review.click("#tab-answered")
        review.locator("article.prune .said", has_text="Still true").wait_for()

    def test_of_two_that_may_be_one_fact_either_is_kept(self, review, world):
        rows = card(review, "sea voyages").locator(".row").all()
        shown = {row.locator(".tag").inner_text()[-1]: row.locator(".text").inner_text() for row in rows}
        say(review, "sea voyages", "both", "Both hold")
        card(review, "sea voyages").locator('[data-say="undo"]').click()
        say(review, "sea voyages", "a", "A stays")
        apply(review)
        hidden = {row["text"]: row["metadata"] for row in world.store.rows.values() if row["expires_on"]}
        assert (shown["A"] in hidden, hidden[shown["B"]]["superseded_reason"]) == (False, "same fact")

    def test_what_a_settled_conflict_made_untrue_is_a_card(self, review, world):
        text = f"{world.store.rows['tabs1']['text'].rstrip('.')}, in the editor of Bob."
        world.store.rows |= InMemoryStore([memory("old", text, days=2)]).rows
        review.locator('article.resolve [data-say="b"]').click()
        review.get_by_text("Apply 1 change").wait_for()
        apply(review)
        asked = card(review, "May be out of date")
        assert [each.get_attribute("data-say") for each in asked.locator(".do button").all()] == [
            "still", "yes", "skip"
        ]  # fmt: skip
        asked.locator('[data-say="yes"]').click()
        card(review, "editor of Bob").get_by_text("Accepted").wait_for()
        apply(review)
        assert world.store.rows["old"]["expires_on"]

    def test_keys_do_what_the_buttons_do(self, review, world):
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
        review.locator(f'#{second} [data-say="yes"]').wait_for()
        keys.press("e")
        assert review.evaluate("document.activeElement.tagName") == "TEXTAREA"
        keys.type("a")
        keys.press("Escape")
        assert answers(world) == ["yes"]

    def test_the_guards_look_at_a_text_as_it_is_typed(self, review, world):
        run = card(review, "marathon")
        run.locator('[data-say="edit"]').click()
        box = run.locator("textarea")
        assert box.input_value() == "Runs the Leeds marathon every spring. Wears carbon shoes."
        box.fill("Runs the marathon every spring, trains on hills, wears carbon shoes.")
        run.get_by_text("This would lose").wait_for()
        assert "Leeds" in run.locator(".lost-list").inner_text()
        assert run.locator('[data-do="save"]').is_disabled()
        box.fill("Trains on hills, wears shoes, and runs the Leeds marathon every autumn.")
        run.locator(".warn").get_by_text("carbon").wait_for()  # words are a warning
        assert "spring" in run.locator(".edit [role=status]").inner_text()
        assert run.get_by_text("Nothing is lost.").count() == 0
        mine = "Trains on hills, wears carbon shoes, and runs the Leeds marathon every spring."
        box.fill(mine)
        run.get_by_text("Nothing is lost.").wait_for()
        run.locator('[data-do="save"]').click()
        run.get_by_text("Accepted, in your words").wait_for()
        apply(review)
        assert mine in [row["text"] for row in world.store.rows.values()]

    def test_a_pinned_memory_is_taken_out_of_every_proposal(self, review, world):
        dog = say(review, "Pickle")
        dog.locator("summary").first.click()
        dog.locator(".why summary").click()
        dog.locator('.why [data-pin="dog1"]').click()
        dog.get_by_text("Pinned: this is not touched").wait_for()
        assert "Apply 0 changes" in status(review)
        dog.get_by_role("button", name="Unpin", exact=True).click()
        dog.get_by_text("Accepted").wait_for()
        assert "Apply 1 change" in status(review)

    def test_answers_teach_the_thresholds(self, review, world):
        """A calibration is offered from fifty on; here the journal is filled by hand."""
        doubt = say(review, "sea voyages", "same")
        assert taught(world) == [Label.DUPLICATE]
        assert review.locator('[data-do="calibrate"]').count() == 0
        doubt.locator('[data-say="undo"]').click()
        doubt.locator('[data-say="both"]').wait_for()
        assert taught(world) == []
        lines = [json.dumps({"key": str(n), "a": "x", "b": "y", "label": "distinct"}) for n in range(50)]
        with contextlib.closing(Journal(world.state)) as journal:
            given = [Answer(Say.NO, "", frozenset(), (), NOW, key=line, pair=line) for line in lines]
            journal.answer("elsewhere", given)
        doubt.locator('[data-say="both"]').click()
        do(review, "calibrate", told="Fitted.")


class TestApply:
    def test_what_will_be_done_is_shown_then_done_then_taken_back(self, review, world):
        before = copy.deepcopy(world.store.rows)
        for words in ("Pickle", "plumber"):
            say(review, words)
        review.locator("article.resolve").locator('[data-say="b"]').click()
        review.click('[data-do="apply"]')
        assert review.locator("dialog .tally").inner_text() == "2 deleted, 1 expired, 0 rewritten, 0 added"
        gone = review.locator("dialog .gone").first.inner_text()
        assert "kitchen tap" in gone
        assert "brindle" not in gone
        told = review.locator("dialog pre").text_content() or ""
        for words in ("Merges (1)", "Conflicts (1)", "[B stays]", "Prunes (1)", "kitchen tap"):
            assert words in told
        review.locator('dialog [data-do="cancel"]').click()
        assert world.store.rows == before
        apply(review)
        assert set(before) - set(world.store.rows) == {"dog1", "tap"}
        assert world.store.rows["tabs1"] != before["tabs1"]
        assert "mem0-dream undo 2026" in review.locator("#notices code").inner_text()
        assert "0 of 4 proposals answered" in status(review)
        do(review, "undo-last", told="taken back — restored")
        assert "Conflicts that had been answered are open again." in review.locator("#notices").inner_text()
        assert review.locator('article.resolve [data-say="b"]').is_visible()
        assert world.store.rows == before

    def test_a_store_that_changed_meanwhile_is_looked_at_again(self, review, world):
        for words in ("Pickle", "marathon"):
            say(review, words)
        preview(review)
        world.store.write(Delete("dog1"))
        rows = copy.deepcopy(world.store.rows)
        do(review, "confirm", told="The store has changed meanwhile")
        assert world.store.rows == rows
        assert card(review, "Pickle").count() == 0
        assert card(review, "marathon").get_by_text("Accepted").is_visible()
        assert "1 answer no longer fits" in review.locator("#notices").inner_text()
        apply(review)

    def test_another_run_under_way_is_told(self, review, world):
        card(review, "Pickle").locator('[data-say="yes"]').click()
        preview(review)
        with world.session() as session, session.locked():
            do(review, "confirm", told="Another mem0-dream run")
        apply(review)

    def test_progress_is_told_while_it_goes_on(self, page, tmp_path):
        import time

        world = many_world(24, tmp_path / "state")
        world.store.before_write = lambda _change: time.sleep(0.1)
        with reviewed(page, world):
            do(page, "yes-all", "sure", told="Apply 12 changes")
            do(page, "apply", "confirm", told="apply: ")
            assert page.evaluate("document.getElementById('main').inert")
            page.get_by_text("Done: 12 deleted, 0 rewritten, 0 added.").wait_for()


class TestTrouble:
    def test_an_answer_that_was_not_kept_does_not_move_on(self, review):
        review.route("**/answer", lambda route: route.abort())
        review.keyboard.press("j")
        first = review.evaluate("document.activeElement.id")
        review.keyboard.press("a")
        review.locator("#bar [role=alert]").get_by_text("cannot be reached").wait_for()
        assert review.evaluate("document.activeElement.id") == first
        assert review.locator("#bar [role=alert]").is_visible()
        mine = "Trains on hills, wears carbon shoes, and runs the Leeds marathon every spring."
        run = card(review, "marathon")
        run.locator('[data-say="edit"]').click()
        run.locator("textarea").fill(mine)
        run.get_by_text("Nothing is lost.").wait_for()
        run.locator('[data-do="save"]').click()
        review.wait_for_timeout(200)
        assert run.locator("textarea").input_value() == mine
        assert run.locator('[data-do="save"]').is_enabled()
        review.unroute("**/answer")
        run.locator('[data-do="save"]').click()
        run.get_by_text("Accepted, in your words").wait_for()
        assert review.locator("#bar [role=alert]").count() == 0

    def test_over_the_budget_is_asked_twice(self, page, world):
        world.limits = world.limits.model_copy(update={"max_delete": 0.01, "min_delete": 0})
        with reviewed(page, world):
            card(page, "Pickle").locator('[data-say="yes"]').click()
            page.get_by_text("Apply 1 change").wait_for()
            page.click('[data-do="apply"]')
            page.locator("dialog .warn").get_by_text("more than the delete budget of 1%").wait_for()
            page.click('[data-do="confirm"]')
            assert "dog1" in world.store.rows
            do(page, "over", told="Done: 1 deleted")
            assert "dog1" not in world.store.rows

    @pytest.mark.parametrize("way", ["resume-run", "undo-run"])
    def test_a_run_that_was_cut_off_is_named_first(self, review, world, way):
        before, written = copy.deepcopy(world.store.rows), list[object]()

        def fails(change: object) -> None:
            written.append(change)
            if len(written) == 2:
                raise StoreError("The disk is full.")

        answer_some(review)
        world.store.before_write = fails
        do(review, "apply", "confirm")
        review.locator("#bar [role=alert]").get_by_text("The disk is full.").wait_for()
        assert review.locator("#panel > *").first.get_attribute("id") == "stopped"
        world.store.before_write = lambda _change: None
        review.reload()
        review.click(f'#stopped [data-do="{way}"]')
        review.locator("#bar .notice.good").wait_for()
        assert review.locator("#stopped").count() == 0
        gone = {"dog1"} if way == "resume-run" else set()
        assert set(before) - set(world.store.rows) == gone

    def test_a_run_draws_a_point_and_any_is_taken_back_from_over_time(self, review, world):
        before = copy.deepcopy(world.store.rows)
        answer_some(review)
        apply(review)
        review.click("#tab-history")
        assert review.locator("table.runs tbody tr").count() == 1
        assert review.locator("svg.chart polyline").count() == 2
        review.click('table.runs [data-do="undo-run"]')
        review.locator("table.runs").get_by_text("undone").wait_for()
        assert review.locator("table.runs button").count() == 0
        assert world.store.rows == before


class TestHolds:
    def test_a_reload_in_the_middle_loses_nothing(self, review):
        say(review, "Pickle")
        review.reload()
        assert card(review, "Pickle").count() == 0
        review.click("#tab-answered")
        assert card(review, "Pickle").get_by_text("Accepted").is_visible()
        assert "1 of 7 proposals answered" in status(review)

    def test_the_second_tab_takes_over(self, review, address):
        other = review.context.new_page()
        other.goto(address)
        card(review, "Pickle").locator('[data-say="yes"]').click()
        review.locator("#notices").get_by_text("open in another tab").wait_for()
        assert review.locator('[data-say="yes"]').count() == 0
        say(other, "Pickle")

    def test_a_wrong_token_is_shown_nothing(self, page, address):
        page.goto(address[:-4] + "XXXX")
        assert page.inner_text("body").strip() == "This link is not the one that the terminal printed."
        page.goto(address.partition("?")[0])
        assert "Read-only" in status(page)
        assert "14 memories · 2 merges · 1 conflict · 3 prunes · 1 doubt" in page.inner_text("#subtitle")
        assert cards(page) == []
        assert "Pickle" not in page.content()

    def test_a_server_that_is_gone_is_told(self, page, world):
        with reviewed(page, world):
            pass
        card(page, "Pickle").locator('[data-say="yes"]').click()
        page.get_by_text("The review has ended").wait_for()
        assert card(page, "Pickle").locator('[data-say="yes"]').is_visible()

    def test_five_hundred_proposals_are_turned_page_by_page(self, page, tmp_path):
        with reviewed(page, many_world(500, tmp_path / "state")):
            assert "500" in page.locator(".chip").first.inner_text()
            assert len(cards(page)) == 25
            for _ in range(26):
                page.keyboard.press("j")
            assert "Page 2 of 20" in page.locator("#pages").inner_text()
            page.click('[data-kind="resolve"]')
            assert set(cards(page)) == {"Conflict"}
            last = page.locator("article.card").last
            last.locator('[data-say="b"]').click()
            last.locator(".said", has_text="B stays").wait_for()
            page.click('[data-kind="all"]')
            do(page, "yes-all", "sure", told="Apply 251 changes")
            assert "251 of 500 proposals answered" in status(page)

    def test_the_agent_may_work_while_a_review_is_open(self, address, world):
        assert address
        with world.session() as session, session.locked():
            assert session.read(ScopeFilter()).memories


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(review, axe, scheme):
    review.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    say(review, "Pickle")
    review.locator("article.resolve").locator('[data-say="a"]').click()
    card(review, "marathon").locator('[data-say="edit"]').click()
    card(review, "marathon").locator("textarea").fill("Runs.")
    review.get_by_text("This would lose").wait_for()
    found = findings(review, axe)
    preview(review)
    assert [*found, *findings(review, axe)] == []


@pytest.mark.parametrize("kind", ["md", "graph"])
def test_files_and_graphs_are_reviewed_on_the_same_page(page, tmp_path, monkeypatch, kind):
    from kinds import KINDS, SETTINGS
    from mem0_dream.pipeline.cli.options import Options
    from mem0_dream.pipeline.cli.pages import access_of

    built = KINDS[kind](tmp_path, monkeypatch)
    config = tmp_path / "settings.yaml"
    config.write_text(json.dumps({"mem0_dream": SETTINGS}))
    before = built.content()
    options = Options(config=config, store_kind=kind, state_dir=tmp_path / "state", now=NOW)
    options.root = built.folder / "shop" if kind == "md" else None
    options.graph_file = built.folder / "memory.jsonl" if kind == "graph" else None
    with served(access_of(options), ReviewObserver()) as link:
        page.goto(link)
        merge = page.locator("article.merge").first
        assert merge.locator(".places").inner_text()  # the files, or entities, that it is about
        merge.locator('[data-say="yes"]').click()
        merge.get_by_text("Accepted").wait_for()
        apply(page)
        assert built.content() != before
        assert f"--store {kind}" in page.locator("#notices code").inner_text()
        do(page, "undo-last", told="taken back — restored")
        assert built.content() == before
