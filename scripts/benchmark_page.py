"""How the report of many proposals behaves in Chromium: its size, and the longest task while it is used.

    python scripts/benchmark_page.py --proposals 2000

Opens the page, turns pages, filters, moves the threshold, goes through all cards by key, opens the map, and
reads from Chromium's own trace how long the longest task took. Fails if the page is larger than 3 MB or a
task of the scroll took longer than 200 ms.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent / "tests" / "helpers"
LARGEST = 3_000_000
LONGEST_MS = 200.0


def main() -> int:
    """Measure; 1 if a limit is passed, 2 if there is no browser."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--proposals", type=int, default=2_000)
    options = parser.parse_args()
    chromium = os.environ.get("MEM0_DREAM_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        print("There is no Chromium: install Debian's package chromium, or name one in MEM0_DREAM_CHROMIUM.")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        page = write_page(Path(folder), options.proposals)
        size = page.stat().st_size
        tasks = measured(page, chromium)
    print(f"{options.proposals:,} proposals: {size:,} bytes")
    for name, longest in tasks.items():
        print(f"{name:<12}longest task {longest:7.1f} ms")
    slow = [name for name, longest in tasks.items() if name != "open" and longest > LONGEST_MS]
    if size > LARGEST or slow:
        print(f"FAILED: limit {LARGEST:,} bytes and {LONGEST_MS:.0f} ms; slow: {', '.join(slow) or 'none'}.")
        return 1
    return 0


def write_page(folder: Path, proposals: int) -> Path:
    """The report of a store with so many proposals."""
    sys.path.insert(0, str(TESTS))
    from reviewing import many_world  # type: ignore[import-not-found]  # it lies among the tests' helpers

    file = folder / "report.html"
    file.write_text(many_world(proposals, folder / "state").page()[0], encoding="utf-8")
    return file


def measured(page: Path, chromium: str) -> dict[str, float]:
    """The longest task of each thing a person does, in milliseconds."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1200, "height": 900})
        tasks = {"open": traced(browser, tab, lambda: opened(tab, page))}
        for act in (scroll, turn, keys, sift, line, draw_map):
            tasks[act.__name__.replace("_", " ")] = traced(browser, tab, functools.partial(act, tab))
        browser.close()
    return tasks


def traced(browser: Any, tab: Any, act: Any) -> float:  # noqa: ANN401  (playwright is optional)
    """The longest task of the main thread while something is done."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        browser.start_tracing(page=tab, path=file.name, categories=["toplevel", "devtools.timeline"])
        act()
        tab.wait_for_timeout(200)
        browser.stop_tracing()
        events = json.loads(Path(file.name).read_bytes())["traceEvents"]
    main_threads = {
        (event["pid"], event["tid"])
        for event in events
        if event.get("name") == "thread_name" and event["args"].get("name") == "CrRendererMain"
    }
    lasting = [
        event["dur"] / 1000
        for event in events
        if event.get("ph") == "X" and event.get("name", "").endswith("RunTask")
        and (event["pid"], event["tid"]) in main_threads
    ]  # fmt: skip
    return max(lasting, default=0.0)


def opened(tab: Any, page: Path) -> None:  # noqa: ANN401
    """Open the page until its cards are there."""
    tab.goto(page.as_uri())
    tab.locator("article.card").first.wait_for()


def scroll(tab: Any) -> None:  # noqa: ANN401
    """From the top of a page to its end."""
    for _ in range(20):
        tab.mouse.wheel(0, 500)
        tab.wait_for_timeout(30)


def turn(tab: Any) -> None:  # noqa: ANN401
    """Ten pages on."""
    for _ in range(10):
        tab.click('[data-do="next"]')


def keys(tab: Any) -> None:  # noqa: ANN401
    """Sixty cards on."""
    for _ in range(60):
        tab.keyboard.press("j")


def sift(tab: Any) -> None:  # noqa: ANN401
    """A kind, all kinds, a word."""
    tab.click('[data-kind="resolve"]')
    tab.click('[data-kind="all"]')
    tab.fill('input[type="search"]', "number 17")
    tab.fill('input[type="search"]', "")


def line(tab: Any) -> None:  # noqa: ANN401
    """Move the automatic threshold to and fro."""
    tab.click("#line-panel summary")
    for value in ("0.75", "0.5", "0.95", "0.7"):
        tab.locator("#line").fill(value)


def draw_map(tab: Any) -> None:  # noqa: ANN401
    """The map, and the mouse over it."""
    tab.click("#tab-map")
    for place in range(20):
        tab.mouse.move(200 + 30 * place, 500)


if __name__ == "__main__":
    raise SystemExit(main())
