"""The plan in the browser, to be answered one by one: `mem0-dream review`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...errors import UsageError
from .asking import looked
from .due import note_pass
from .kinds import again, completed
from .options import Options, open_session, plan_options, scope_options, store_options

if TYPE_CHECKING:
    from ...settings import Settings
    from ..engine import Session
    from ..results import RunResult
    from ..web.desk import Ways
    from ..web.progress import ReviewObserver


@click.command("review")
@store_options
@scope_options
@plan_options
@click.option("--retire", is_flag=True, help="Expire memories instead of deleting them.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Listen here. [default: a free port]")
@click.option(
    "--open/--no-open", "opens", default=None, help="Open the browser. [default: where there is one]"
)
@click.pass_context
def review_command(
    ctx: click.Context, /, *, retire: bool, port: int, opens: bool | None, **given: Any
) -> None:
    """Look at the plan in the browser, answer proposal by proposal, and apply what you accepted.

    The page is served to this machine alone, under a link that holds a secret. Answers are kept at once;
    nothing is changed before you press Apply. End it with Ctrl-C.

    \b
    Example:
      mem0-dream review --config mem0.yaml --user-id alice
    """  # noqa: D301
    options = Options.gather(ctx, given)
    from ..web.serve import require_web, serve

    require_web()
    options.scopes()
    from ..writing.state import state_directory

    def opened(address: str, _end: Callable[[], None]) -> None:
        """Say where it is."""
        click.echo(f"Review: {address}")
        click.echo("Answers are kept as you give them. End with Ctrl-C.", err=True)
        if opens or (opens is None and _has_browser()):
            _open(address, state_directory(options.state_dir))

    from ..web.progress import ReviewObserver
    from .progress import Bars

    watched = ReviewObserver(Bars())
    with contextlib.suppress(KeyboardInterrupt):
        serve(_ways(options, watched, retire=retire), watched, port=port, opened=opened)
    click.echo("Review ended; answers that were not applied are kept.", err=True)


def _ways(options: Options, watched: ReviewObserver, *, retire: bool = False) -> Ways:
    """How a review reaches the store that the options name."""
    from ..web.desk import Ways
    from .passes import mended

    seen: list[Settings] = []

    @contextlib.contextmanager
    def opened() -> Iterator[Session]:
        """The store, watched by the page."""
        with open_session(options) as session:
            session.watch(watched)
            seen[:] = [session.settings]
            yield session

    def settled(session: Session, result: RunResult) -> None:
        """What else a pass leaves behind: a note of its end, and an index that follows what was skipped."""
        note_pass(session, options, result.run)
        mended(session, options, result)

    return Ways(
        open=opened,
        look=lambda session: looked(session, options),
        clock=lambda: options.clock,
        undo=lambda run: again(options, "undo", run),
        settled=settled,
        calibrate=lambda: _calibrated(options, seen),
        spoken=lambda sentence: completed(sentence, options),
        retire=retire,
    )


def _calibrated(options: Options, seen: Sequence[Settings]) -> str:
    """Fit the thresholds of the scorer that judged the pairs, as `mem0-dream calibrate` does."""
    from ..planning.doubts import answered_pairs
    from ..writing.state import state_directory
    from .label import fitted

    directory = state_directory(options.state_dir)
    file = answered_pairs(directory)
    if file is None:
        raise UsageError("There are no answers to learn from yet.")
    judged = seen[0]
    return fitted(file, directory, scorer=judged.scorer, encoder=judged.encoder, precision=_PRECISION)


_PRECISION = 0.98
"""Share of automatic merges that must be right on the answers, as `mem0-dream calibrate` has it."""


def _open(address: str, folder: Path) -> None:
    """Open the browser by way of a file of ours: every user of a machine can read the words of a command."""
    import html
    import webbrowser

    file = folder / "review.html"
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(f'<meta http-equiv="refresh" content="0; url={html.escape(address)}">')
    webbrowser.open(file.absolute().as_uri())


def _has_browser() -> bool:
    """Whether there is a graphical browser; one in the terminal would take the terminal away."""
    screen = sys.platform in ("darwin", "win32") or any(
        os.environ.get(v) for v in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    return screen and sys.stdout.isatty()
