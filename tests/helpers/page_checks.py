"""What tests of both pages ask of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

SERIOUS = ("serious", "critical")


def violations(page: Page, axe: str) -> list[str]:
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
