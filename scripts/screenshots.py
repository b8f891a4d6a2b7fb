"""Pictures of both pages, of the demonstration's store in a real Chromium: `make screenshots`."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mem0_dream.scripts import demo

IMAGES = demo.ROOT / "docs" / "images"
WIDE, PHONE = {"width": 1180, "height": 860}, {"width": 390, "height": 780}


def main() -> None:
    """Draw all pictures."""
    place = demo.Place(Path(tempfile.gettempdir()) / "mem0-dream-pages")
    content: dict[str, Any] = json.loads(demo.MEMORIES.read_text(encoding="utf-8"))
    demo.prepare(place)
    os.environ.update(place.environment)
    demo.fill(place, content)
    now = str(content["now"])
    IMAGES.mkdir(parents=True, exist_ok=True)
    with demo.chromium() as browser:
        report = place.folder / "report.html"
        demo.dream("report", "--all", "--now", now, "-o", str(report), "--config", str(place.config_file))
        draw_report(browser, report)
        with review(place, now) as address:
            draw_review(browser, address)
    print(*sorted(path.relative_to(demo.ROOT).as_posix() for path in IMAGES.glob("*.png")), sep="\n")


def draw_report(browser: Any, report: Path) -> None:  # noqa: ANN401  (playwright is optional)
    """The cards by day and by night, and on a phone."""
    sights = (("report", "light", WIDE), ("report-dark", "dark", WIDE), ("report-phone", "light", PHONE))
    for name, scheme, size in sights:
        tab = browser.new_page(viewport=size, color_scheme=scheme)
        tab.goto(report.as_uri())
        tab.locator("article.resolve .why summary").first.click()
        if size is WIDE:
            tab.evaluate("window.scrollTo(0, document.querySelector('article.resolve').offsetTop - 360)")
        tab.screenshot(path=IMAGES / f"{name}.png")
        tab.close()


def draw_review(browser: Any, address: str) -> None:  # noqa: ANN401
    """Answers, a text that would lose something, what will be done, and what was done."""
    tab = browser.new_page(viewport=WIDE)
    tab.goto(address)
    for kind, say in (("resolve", "b"), ("merge", "yes"), ("merge", "no")):
        tab.locator(f"article.{kind}:not(.folded)").first.locator(f'[data-say="{say}"]').click()
        tab.wait_for_timeout(500)
    tab.evaluate("window.scrollTo(0, 0)")
    tab.screenshot(path=IMAGES / "review.png")
    tab.locator('[data-say="edit"]').last.click()
    words = tab.locator("textarea").input_value().split()
    tab.locator("textarea").fill(" ".join(words[: len(words) // 2]))
    tab.locator(".edit .warn").first.wait_for()
    tab.evaluate("window.scrollTo(0, document.querySelector('.edit').closest('article').offsetTop - 170)")
    tab.screenshot(path=IMAGES / "review-edit.png")
    tab.locator('.edit [data-do="cancel"]').click()

    def confirm() -> None:
        tab.click('[data-do="confirm"]')
        tab.locator('[data-do="undo-last"]').wait_for()
        tab.locator('#notices [aria-label="Close"]').click()

    tab.click('[data-do="apply"]')
    tab.locator("dialog[open]").wait_for()
    tab.screenshot(path=IMAGES / "review-apply.png")
    confirm()
    tab.click('[data-kind="prune"]')  # a second run, so that there is a line to draw
    tab.click('[data-do="yes-all"]')
    tab.click('[data-do="sure"]')
    tab.get_by_text("accepted.").wait_for()
    tab.click('[data-do="apply"]')
    confirm()
    tab.click("#tab-history")
    tab.set_viewport_size({"width": 1180, "height": 1100})
    tab.screenshot(path=IMAGES / "review-history.png")
    tab.close()


@contextmanager
def review(place: demo.Place, now: str) -> Iterator[str]:
    """A review as a process; gives its address."""
    given = ("--all", "--now", now, "--no-open", "--config", str(place.config_file))
    words = (sys.executable, "-u", "-m", "mem0_dream", "review", *given)
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().split()[-1] if process.stdout else ""
        finally:
            process.send_signal(signal.SIGINT)


if __name__ == "__main__":
    main()
