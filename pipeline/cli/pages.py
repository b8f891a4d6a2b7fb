"""A plan beyond the terminal: `report` writes a page, `review` serves one, `mcp` serves an agent."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...errors import MissingExtraError, UsageError
from .asking import looked
from .opening import again, full_commands, open_session, require_store
from .options import Options, command
from .terminal import Bars

if TYPE_CHECKING:
    from ...settings import Settings
    from ..engine import Session
    from ..fronts import StoreAccess
    from ..judging.cache import Models
    from ..planning.stages import Observer

_OURS = '<meta name="generator" content="mem0-dream">'
"""A page of ours says so; only such a file is written over unasked."""


@command("store", "scope", "plan", name="report")
@click.argument("run", required=False)
@click.option("-o", "--output", default="report.html", show_default=True)
@click.option("--force", is_flag=True)
def report_command(options: Options, run: str | None, output: str, *, force: bool) -> None:
    """Write what a pass would do as one HTML file, to be read in any browser; changes nothing."""
    from ...models.text.words import counted
    from ..fronts import plan_page, report_lines, run_page
    from ..reporting.html import render
    from ..stores.files import make_private

    if run is None:
        options.scopes()  # whose memories are meant is asked before anything is opened
    with open_session(options) as session:
        if run is not None:
            plan, data = run_page(session, run, undo=again(options, "undo", run))
        else:
            plan = looked(session, options).plan
            data = plan_page(session, plan)
        page = render(data, lines=report_lines(session, plan))
    if output == "-":
        click.echo(page, nl=False)
        return
    path = Path(output)
    try:
        if not force and path.exists() and (not path.is_file() or _OURS.encode() not in path.read_bytes()):
            raise UsageError(f"{path} is no report of mem0-dream; name another file, or add --force.")
        make_private(path)  # it holds memories
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The report cannot be written to {path}: {error.strerror}.") from error
    shown = counted(len(plan.actions) + len(plan.unsure), "proposal")
    click.echo(f"{shown} written to {output}.", err=True)


@command("store", "scope", "plan", "write", name="review")
@click.option("--port", type=click.IntRange(0, 65535), default=0)
@click.option("--open/--no-open", "opens", default=None)
def review_command(options: Options, *, port: int, opens: bool | None) -> None:
    """Look at the plan in the browser, answer proposal by proposal, and apply what you accepted."""
    missing = [name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None]
    if missing:
        told = f"A review in the browser needs {', '.join(missing)}"
        raise MissingExtraError(f"{told}; install with: pip install 'mem0-dream[web]'")
    from ..web.app import serve
    from ..web.desk import ReviewObserver

    options.scopes()

    def opened(address: str, _end: Callable[[], None]) -> None:
        click.echo(f"Review: {address}")
        click.echo("Answers are kept as you give them. End with Ctrl-C.", err=True)
        # One in the terminal would take the terminal away.
        screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        graphical = bool(screen or sys.platform in ("darwin", "win32")) and sys.stdout.isatty()
        if graphical if opens is None else opens:
            _open(address, options.state)

    with contextlib.suppress(KeyboardInterrupt):
        serve(access_of(options), ReviewObserver(Bars()), port=port, opened=opened)
    click.echo("Review ended; answers that were not applied are kept.", err=True)


@command("store", "scope", "plan", "write", name="mcp")
@click.option("--allow-write", is_flag=True)
def mcp_command(options: Options, *, allow_write: bool) -> None:
    """Serve passes to an agent over the Model Context Protocol, on the standard streams."""
    require_store(options)
    try:
        from ..mcp.server import DreamServer
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        told = "The official MCP SDK is not installed; run `pip install 'mem0-dream[mcp]'`."
        raise MissingExtraError(told) from error
    from ..mcp.tools import Tools

    DreamServer(Tools(access_of(options), may_write=allow_write)).run("stdio")


def access_of(options: Options) -> StoreAccess:
    """How a front reaches the store that the options name, each time anew."""
    from ..fronts import StoreAccess

    seen: list[Settings] = []
    models: list[Models] = []

    @contextlib.contextmanager
    def opened(observer: Observer) -> Iterator[Session]:
        with open_session(options, observer=observer) as session:
            for loaded in models:  # once, however often the store is opened
                session.models.take(loaded)
            seen[:], models[:] = [session.settings], [session.models]
            yield session

    def calibrated() -> str:
        from .upkeep import PRECISION, answered_pairs, fitted

        pairs, used = answered_pairs(options.state), seen[0]
        return fitted(pairs, options.state, scorer=used.scorer, encoder=used.encoder, precision=PRECISION)

    return StoreAccess(
        open=opened,
        look=lambda session: looked(session, options),
        scopes=options.scopes,
        moment=lambda: options.moment,
        clock=lambda: options.clock,
        command=lambda *words: again(options, *words),
        spoken=lambda sentence: full_commands(sentence, options),
        calibrate=calibrated,
        retire=options.retire,
    )


def _open(address: str, folder: Path) -> None:
    """Open the browser by way of a file of ours: every user of a machine can read the words of a command."""
    import html
    import webbrowser

    file = folder / "review.html"
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(f'<meta http-equiv="refresh" content="0; url={html.escape(address)}">')
    webbrowser.open(file.absolute().as_uri())
