"""The plan, or a run, as one HTML file: `mem0-dream report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ...errors import UsageError
from .asking import proposed
from .kinds import again
from .options import Options, open_session, plan_options, scope_options, store_options


@click.command("report")
@click.argument("run", required=False)
@store_options
@scope_options
@plan_options
@click.option(
    "-o", "--output", default="report.html", show_default=True, help="Write the page here; - prints it."
)
@click.pass_context
def report_command(ctx: click.Context, /, run: str | None, output: str, **given: Any) -> None:
    """Write what a pass would do as one HTML file, to be read in any browser; changes nothing.

    With RUN, a name from `mem0-dream runs`, the page shows what that run found and what it left. The file
    holds the texts of the memories, and asks nothing of any network.

    \b
    Example:
      mem0-dream report --config mem0.yaml --all -o report.html
      mem0-dream report 20261121-030000-1f2e --config mem0.yaml
    """  # noqa: D301
    options = Options.gather(ctx, given)
    from ..page_material import plan_material, run_material
    from ..reporting.html import page_data, render

    if run is None:
        options.scopes()  # whose memories are meant is asked before anything is opened
    with open_session(options) as session:
        if run is not None:
            material = run_material(session, run, undo=again(options, "undo", run))
        else:
            material = plan_material(session, proposed(session, options))
    page = render(page_data(material), lines=material.lines)
    if output == "-":
        click.echo(page, nl=False)
        return
    _write(Path(output), page)
    proposals = len(material.plan.actions) + len(material.plan.unsure)
    noun = "proposal" if proposals == 1 else "proposals"
    click.echo(f"{proposals} {noun} written to {output}.", err=True)


def _write(path: Path, page: str) -> None:
    """The page holds memories, so that only its owner may read it."""
    import os

    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(handle, "w", encoding="utf-8") as stream:  # noqa: PTH123  (a descriptor, no path)
            stream.write(page)
    except OSError as error:
        raise UsageError(f"The report cannot be written to {path}: {error.strerror}.") from error
