"""What tests of both pages ask of a page."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mem0_dream.pipeline.web.desk import ReviewObserver
from mem0_dream.pipeline.writing.journal import Journal
from reviewing import World, served

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

SERIOUS = ("serious", "critical")


def findings(page: Page, axe: str) -> list[str]:
    """Serious findings of axe-core: the rule, and the first place where it is broken."""
    # Over the devtools protocol: the page's policy lets no other script in.
    page.evaluate(axe)
    found: dict[str, Any] = page.evaluate("() => axe.run(document)")
    return [
        f"{item['id']}: {item['help']}: {item['nodes'][0]['html'][:200]}"
        for item in found["violations"]
        if item["impact"] in SERIOUS
    ]


def cards(page: Page) -> list[str]:
    return [heading.split("\n")[0] for heading in page.locator("article.card h3").all_inner_texts()]


def card(page: Page, words: str) -> Locator:
    return page.locator("article.card", has_text=words)


def say(page: Page, words: str, answer: str = "yes", told: str = "Accepted") -> Locator:
    chosen = card(page, words)
    chosen.locator(f'[data-say="{answer}"]').click()
    chosen.get_by_text(told).first.wait_for()
    return chosen


@contextlib.contextmanager
def reviewed(page: Page, world: World) -> Iterator[None]:
    with served(world.access(), ReviewObserver()) as link:
        page.goto(link)
        yield


def do(page: Page, *actions: str, told: str = "") -> None:
    for action in actions:
        page.click(f'[data-do="{action}"]')
    if told:
        page.get_by_text(told).wait_for()


def preview(page: Page) -> None:
    page.click('[data-do="apply"]')
    page.locator("dialog[open]").wait_for()


def status(page: Page) -> str:
    return page.locator("#bar").inner_text()


def answers(world: World) -> list[str]:
    """What is kept, read from the disk as another program would."""
    with contextlib.closing(Journal(world.state)) as journal:
        return sorted(str(given.say) for given in journal.answers("in-memory"))


def apply(page: Page) -> None:
    do(page, "apply", "confirm", told="Done:")


def answer_some(page: Page) -> None:
    for words, say in (("Pickle", "yes"), ("plumber", "no"), ("indentation", "b")):
        card(page, words).locator(f'[data-say="{say}"]').click()
        card(page, words).locator(".said").first.wait_for()
