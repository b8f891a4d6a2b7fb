"""The report in a real Chromium, opened as a file without any network."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
from builders import NOW
from mem0_dream.pipeline.fronts import run_page
from mem0_dream.pipeline.plan import Action, Member, Merge, NewText, Plan, Prune, Resolve, Rewrite
from mem0_dream.pipeline.planning.doubts import Doubt
from mem0_dream.pipeline.reporting.html import page_data, render
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.records import Scope
from page_checks import cards, findings
from reviewing import HOSTILE, crowded, many_world, small_world

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.web


WHERE: dict[str, Any] = {"scope": Scope(()), "category": None}


def written(folder: Path, data: dict[str, Any]) -> str:
    file = folder / "page.html"
    file.write_text(render(data), encoding="utf-8")
    return file.as_uri()


def planned(actions: Iterable[Action], kind: str = "memory", unsure: tuple[Doubt, ...] = ()) -> Any:
    return page_data(Plan("s", kind, NOW, "fake", (), tuple(actions), unsure=unsure))


@pytest.fixture
def report(tmp_path: Path) -> Path:
    file = tmp_path / "report.html"
    file.write_text(small_world(tmp_path / "state").page()[0], encoding="utf-8")
    return file


@pytest.fixture
def opened(page: Page, report: Path) -> Page:
    page.context.set_offline(offline=True)
    page.goto(report.as_uri())
    return page


def test_it_opens_offline_and_asks_for_nothing(page: Page, report: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.context.set_offline(offline=True)
    page.goto(report.as_uri())
    for tab in ("#tab-history", "#tab-open"):
        page.click(tab)
    assert [url for url in asked if not url.startswith("data:")] == [report.as_uri()]
    assert page.title().startswith("mem0-dream")


def test_every_proposal_is_a_card_with_its_texts(opened: Page) -> None:
    shown = ["Merge", "Merge", "Conflict", "Prune", "Prune", "Prune", "May be the same"]
    assert cards(opened) == shown
    conflict = opened.locator("article.resolve")
    assert conflict.locator(".side").count() == 2
    assert conflict.locator("mark").all_inner_texts() == ["Never"]
    assert conflict.locator(".side").nth(1).get_by_text("Stated later").is_visible()


def test_what_stands_comes_first_then_what_goes_and_where_they_differ(opened: Page) -> None:
    run = opened.locator("article.merge", has_text="marathon")
    assert run.locator(".row .tag").all_inner_texts() == ["Stays A", "Goes B"]
    assert run.locator(".row.stays mark").all_inner_texts() == ["Wears carbon shoes."]
    assert run.locator(".row.goes del").all_inner_texts() == ["Trains on hills."]
    assert not run.get_by_text("run1").is_visible()
    opened.locator("article.resolve .why summary").click()
    reasons = opened.locator("article.resolve .pushes .up").all_inner_texts()
    assert "For it:\nOne denies what the other says: only B says Never." in reasons
    bars = opened.locator("article.resolve .scores tr").all_inner_texts()
    assert [bar.split("\t") for bar in bars][1][:2] == ["against each other", "90%"]
    assert opened.locator("article.resolve").get_by_text("created 2026-11-18").is_visible()


def test_what_else_lies_near_is_one_click_away(page: Page, tmp_path: Path) -> None:
    page.goto(written(tmp_path, crowded()))
    near = page.locator("article.prune .near")
    assert not near.get_by_text("Fixed the bug in the parser").is_visible()
    page.keyboard.press("j")
    page.keyboard.press("w")
    assert near.get_by_text("Fixed the bug in the parser").is_visible()
    assert near.locator(".text").count() == 1


def test_what_a_memory_says_is_shown_and_never_run(opened: Page) -> None:
    evil = opened.locator("article.prune", has_text="onerror")
    text = evil.locator(".text").inner_text()
    assert text.startswith("<script>document.title='run'</script><img src=x")
    assert "\\x1b[31mred\\x1b[0m \\u202egnp.\nlast" in text
    assert "\x1b" not in text
    assert opened.title() != "run"
    assert HOSTILE not in text


def test_filters_leave_what_matches(opened: Page) -> None:
    everything = len(cards(opened))
    opened.click('[data-kind="resolve"]')
    assert cards(opened) == ["Conflict"]
    opened.click('[data-kind="all"]')
    opened.select_option('[data-filter="scope"]', label="user_id=bob")
    assert cards(opened) == ["May be the same"]
    opened.select_option('[data-filter="scope"]', "")
    opened.select_option('[data-filter="category"]', label="todo")
    assert set(cards(opened)) == {"Prune"}
    opened.select_option('[data-filter="category"]', "")
    opened.select_option('[data-filter="sure"]', "middle")
    assert cards(opened) == ["May be the same"]
    opened.select_option('[data-filter="sure"]', "")
    opened.fill('input[type="search"]', "plumber")
    assert cards(opened) == ["Prune"]
    opened.fill('input[type="search"]', "")
    assert len(cards(opened)) == everything


def test_the_line_says_what_would_change_and_brings_the_nearest_first(opened: Page) -> None:
    opened.click("#line-panel summary")
    panel = opened.locator("#line-panel")
    assert "2 merges would need no person" in panel.inner_text()
    opened.locator("#line").fill("0.75")
    assert "3 merges would need no person. 1 more and 0 fewer than at 0.900" in panel.inner_text()
    assert cards(opened)[0] == "May be the same"


def test_filters_and_order_stand_in_the_address(opened: Page) -> None:
    opened.select_option('[data-filter="scope"]', label="user_id=alice")
    opened.select_option('[data-filter="sort"]', "doubtful")
    opened.click('[data-kind="merge"]')
    opened.fill('input[type="search"]', "e")
    shown = cards(opened)
    assert set(opened.url.partition("#")[2].split("&")) == {
        "kind=merge", "scope=user_id%3Dalice", "sort=doubtful", "q=e",
    }  # fmt: skip
    opened.reload()
    assert cards(opened) == shown == ["Merge", "Merge"]
    opened.evaluate("location.hash = 'sort=doubtful&tab=nowhere&sure=odd'")
    opened.locator("article.unsure").wait_for()
    assert cards(opened)[0] == "May be the same"
    assert len(cards(opened)) == 7


FOREIGN = {
    "rtl": ("גר בתל אביב ליד הים.", "גר בחיפה ליד הים."),
    "cjk": ("他住在柏林，喜欢喝绿茶。", "他住在汉堡，喜欢喝绿茶。"),
    "emoji": ("Loves 👩‍💻 and 🏳️‍🌈 and 👍🏽 tea.", "Loves 👩‍💻 and 🏳️‍🌈 and 👍🏽 coffee."),
    "persian": ("می‌خواهم چای بنوشم.", "می‌خواهم قهوه بنوشم."),
    "hidden": ("pass\u200dword is tea", "password is tea\u2066"),
}


def test_every_script_is_shown_as_it_is_written(page: Page, tmp_path: Path) -> None:
    members = {name: [Member(f"{name}{n}", x) for n, x in enumerate(both)] for name, both in FOREIGN.items()}
    merges = (
        Merge(id=name, survivor=f"{name}0", text=both[0].text, members=tuple(both), **WHERE)
        for name, both in members.items()
    )
    page.goto(written(tmp_path, planned(merges)))
    articles = page.locator("article").all()
    told = [[row.inner_text() for row in each.locator(".row .text").all()] for each in articles]
    assert told[:4] == [list(FOREIGN[name]) for name in ("rtl", "cjk", "emoji", "persian")]
    assert told[4] == ["pass\\u200dword is tea", "password is tea\\u2066"]
    rtl = page.locator("article").first.locator(".row .text").first
    assert rtl.evaluate("node => getComputedStyle(node).direction") == "rtl"
    assert page.locator("article").nth(2).locator("mark, del").all_inner_texts() == ["tea.", "coffee."]


def test_paper_holds_every_proposal(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "many.html"
    file.write_text(many_world(60, tmp_path / "state").page()[0], encoding="utf-8")
    page.goto(file.as_uri())
    assert len(cards(page)) == 25
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert len(cards(page)) == 60
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert len(cards(page)) == 25


def test_without_scripts_the_report_is_there_as_text(browser: object, report: Path) -> None:
    context = browser.new_context(java_script_enabled=False)  # type: ignore[attr-defined]
    tab = context.new_page()
    tab.goto(report.as_uri())
    assert "## dream — consolidation report" in tab.locator("noscript pre").inner_text()
    context.close()


def test_a_phone_scrolls_in_one_direction(page: Page, report: Path) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(report.as_uri())
    for tab in ("#tab-open", "#tab-history"):
        page.click(tab)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(page: Page, report: Path, axe: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(report.as_uri())
    page.click("#line-panel summary")
    for summary in page.locator("article summary").all():
        if summary.evaluate("node => !node.parentElement.open"):
            summary.click()
    found = findings(page, axe)
    page.click("#tab-history")
    found += findings(page, axe)
    assert found == []


def test_a_run_is_shown_before_and_after(page: Page, tmp_path: Path) -> None:
    world = small_world(tmp_path / "state")
    with world.session() as session:
        plan = session.propose(ScopeFilter(), now=NOW)
        world.store.rows["bug"]["text"] = "Fixed bug 7 in the parser"
        run = session.apply(plan, now=NOW).run
        _, data = run_page(session, run, undo=f"mem0-dream undo {run}")
    page.goto(written(tmp_path, data))
    assert f"Run {run}, applied" in page.inner_text("h1")
    assert f"mem0-dream undo {run}" in page.inner_text("header.top")
    assert "14 memories before, 10 afterwards" in page.inner_text("#subtitle")
    dog = page.locator("article.card", has_text="Pickle")
    assert dog.locator(".badge").inner_text() == "applied"
    assert dog.locator(".goes .tag").inner_text() == "Removed B"
    bug = page.locator("article.card", has_text="Fixed bug")
    assert "changed since the plan was made" in bug.locator(".badge").inner_text()
    assert bug.get_by_text("Untouched").is_visible()


def test_texts_that_are_empty_or_differ_in_nothing_are_drawn_too(page: Page, tmp_path: Path) -> None:
    texts = {"a": "Likes tea.", "b": "likes tea", "c": "", "d": " "}
    a, b, c, d = (Member(name, text) for name, text in texts.items())
    odd = (
        Resolve(id="c1", members=(a, b), a=("a",), b=("b",), topic="", **WHERE),
        Merge(id="m1", members=(c, d), survivor=None, text="", **WHERE),
        Merge(id="m2", members=(a, b), survivor="a", text="Likes tea.", **WHERE),
        Rewrite(id="w1", members=(a,), text="", reason="", **WHERE),
        Rewrite(id="w2", members=(b,), text="Likes tea.", reason="spelling", **WHERE),
        Prune(id="p1", members=(c,), reason="vague", **WHERE),
    )
    page.goto(written(tmp_path, planned(odd, unsure=(odd[0], odd[2]))))
    assert len(cards(page)) == 8


def test_two_thousand_repairs_are_paged_and_found(page: Page, tmp_path: Path) -> None:
    members = {n: (Member(f"m{n}", f"See docs/{n}.md yesterday."),) for n in range(2_000)}
    repairs = (
        Rewrite(id=f"w{n}", members=each, text=f"See docs/{n}.md on 2026-11-20.", reason="dates", **WHERE)
        for n, each in members.items()
    )
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(written(tmp_path, planned(repairs, "md")))
    assert len(cards(page)) == 25
    assert page.locator("article .row .tag").all_inner_texts()[:2] == ["Will say", "Says"]
    assert page.locator("article").first.locator("mark").all_inner_texts() == ["on 2026-11-20.", "yesterday."]
    page.fill('input[type="search"]', "docs/1999.md")
    assert len(cards(page)) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_every_kind_of_change_is_named_and_counted_as_a_change(page: Page, tmp_path: Path) -> None:
    changes = (
        kind(id=f"w{place}", members=(Member(f"m{place}", "a"),), text="b", reason="", **WHERE)
        for place, kind in enumerate(get_args(NewText))
    )
    page.goto(written(tmp_path, planned(changes, "graph")))
    page.click('button[data-kind="rewrite"]')
    assert page.locator('button[data-kind="rewrite"]').inner_text() == "Changes 5"
    assert cards(page) == ["Change", "New facts", "Index", "Relations", "Promotion"]
