"""Pictures of both pages for the documents: `make screenshots`, or `python scripts/screenshots.py`.

Fills the demonstration's store, writes its report, opens a review of it, answers a few proposals in a real
Chromium, and photographs what a person sees. Nothing of it is drawn by hand.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import demo  # type: ignore[import-not-found]  # it lies beside this file

IMAGES = demo.ROOT / "docs" / "images"
WIDE = {"width": 1180, "height": 860}
PHONE = {"width": 390, "height": 780}


def main() -> int:
    """Draw all pictures; 2 if there is no browser to draw them with."""
    chromium = os.environ.get("MEM0_DREAM_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        print("There is no Chromium: install Debian's package chromium, or name one in MEM0_DREAM_CHROMIUM.")
        return 2
    from playwright.sync_api import sync_playwright

    place = demo.Place(Path(tempfile.gettempdir()) / "mem0-dream-pages")
    now = fill(place)
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        command(place, "report", "--all", "--now", now, "-o", str(place.folder / "report.html"))
        draw_report(browser, place.folder / "report.html")
        with review(place, now) as address:
            draw_review(browser, address)
        browser.close()
    print(*sorted(path.relative_to(demo.ROOT).as_posix() for path in IMAGES.glob("*.png")), sep="\n")
    return 0


def fill(place: demo.Place) -> str:
    """The demonstration's store, made anew; gives the day it is seen on."""
    import json

    content: dict[str, Any] = json.loads(demo.MEMORIES.read_text(encoding="utf-8"))
    demo.prepare(place)
    os.environ.update(place.environment)
    demo.fill(place, content)
    return str(content["now"])


def draw_report(browser: Any, report: Path) -> None:  # noqa: ANN401  (playwright is optional)
    """The cards by day and by night, on a phone, and the map."""
    for name, scheme, size in (
        ("report", "light", WIDE),
        ("report-dark", "dark", WIDE),
        ("report-phone", "light", PHONE),
    ):
        tab = browser.new_page(viewport=size, color_scheme=scheme)
        tab.goto(report.as_uri())
        tab.screenshot(path=IMAGES / f"{name}.png")
        tab.close()
    tab = browser.new_page(viewport=WIDE)
    tab.goto(report.as_uri())
    tab.click("#tab-map")
    tab.focus("svg.map")
    tab.keyboard.press("ArrowRight")
    tab.screenshot(path=IMAGES / "report-map.png", full_page=True)
    tab.close()


def draw_review(browser: Any, address: str) -> None:  # noqa: ANN401
    """Answers, a text that would lose something, what will be done, and what was done."""
    tab = browser.new_page(viewport=WIDE)
    tab.goto(address)
    tab.locator("article.merge").first.locator('[data-say="accept"]').click()
    tab.get_by_text("Accepted").first.wait_for()
    tab.locator("article.resolve").first.locator('[data-say="b"]').click()
    tab.get_by_text("B stays").first.wait_for()
    tab.locator("article.resolve").first.scroll_into_view_if_needed()
    tab.evaluate("window.scrollTo(0, document.querySelector('article.resolve').offsetTop - 320)")
    tab.screenshot(path=IMAGES / "review.png")
    tab.click('[data-kind="unsure"]')
    doubt = tab.locator("article.card", has_text="Lyon office").first
    doubt.locator('[data-say="edit"]').click()
    doubt.locator("textarea").fill("The weekly call with the Lyon office is on Tuesday.")
    tab.get_by_text("This would lose").wait_for()
    tab.evaluate("window.scrollTo(0, document.querySelector('.edit').closest('article').offsetTop - 70)")
    tab.screenshot(path=IMAGES / "review-edit.png")
    doubt.locator('[data-do="cancel"]').click()
    tab.click('[data-do="apply"]')
    tab.locator("dialog pre").wait_for()
    tab.screenshot(path=IMAGES / "review-apply.png")
    tab.click('[data-do="confirm"]')
    tab.locator('[data-do="undo-run"]').wait_for()
    apply_more(tab)
    tab.click("#tab-history")
    tab.set_viewport_size({"width": 1180, "height": 1290})
    tab.screenshot(path=IMAGES / "review-history.png")
    tab.close()


def apply_more(tab: Any) -> None:  # noqa: ANN401
    """A second run, so that there is a line to draw."""
    tab.locator('#notices [aria-label="Close"]').click()
    tab.click('[data-kind="prune"]')
    for place in range(3):
        card = tab.locator("article.prune").nth(place)
        card.locator('[data-say="accept"]').click()
        card.get_by_text("Accepted").wait_for()
    tab.click('[data-do="apply"]')
    tab.click('[data-do="confirm"]')
    tab.locator('[data-do="undo-run"]').wait_for()


@contextmanager
def review(place: demo.Place, now: str) -> Iterator[str]:
    """A review as a process; gives its address."""
    words = program(place, "review", "--all", "--now", now, "--no-open")
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout is None:
            raise SystemExit("The review says nothing.")
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.send_signal(signal.SIGINT)


def command(place: demo.Place, *words: str) -> None:
    """Run the command line to its end."""
    subprocess.run(program(place, *words), check=True)


def program(place: demo.Place, *words: str) -> list[str]:
    """The command line on the demonstration's store."""
    return [sys.executable, "-u", "-m", "mem0_dream", *words, "--config", str(place.config_file)]


if __name__ == "__main__":
    raise SystemExit(main())
