"""A real browser for the tests of the pages; Debian's Chromium, driven by path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mem0_dream.scripts.demo import chromium
from reviewing import World, served, small_world

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


# Playwright keeps an event loop running in this thread until it is stopped, so no test of another file must find it.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for the tests of a file; skipped with the reason where there is none."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    try:
        with chromium() as opened:
            yield opened
    except SystemExit as missing:
        pytest.skip(str(missing))


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab; a script that fails, and anything the page's policy forbids, fails the test."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    tab = context.new_page()
    wrong: list[str] = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda told: wrong.append(told.text) if "Security Policy" in told.text else None)
    tab.set_default_timeout(20_000)
    yield tab
    context.close()
    assert wrong == []


@pytest.fixture(scope="session")
def axe() -> str:
    """The accessibility checks of axe-core, installed by `make axe`."""
    file = Path(__file__).resolve().parents[2] / "node_modules" / "axe-core" / "axe.min.js"
    if not file.is_file():
        pytest.skip("axe-core is not installed: run `make axe` (needs npm)")
    return file.read_text(encoding="utf-8")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return small_world(tmp_path / "state")


@pytest.fixture
def address(world: World) -> Iterator[str]:
    from mem0_dream.pipeline.web.desk import ReviewObserver

    with served(world.access(), ReviewObserver()) as link:
        yield link


@pytest.fixture
def review(page: Page, address: str) -> Page:
    page.goto(address)
    return page
