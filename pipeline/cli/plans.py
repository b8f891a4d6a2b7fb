"""Plans as files on the command line: plan writes one, apply takes one."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...errors import IncompleteListingError, UsageError
from .opening import open_session, tell_fidelity
from .options import GRAPH, Options, command
from .places import again
from .terminal import echo

if TYPE_CHECKING:
    from datetime import datetime

    from ..engine import Session
    from ..plan import Plan
    from ..review import Review


@command("store", "scope", "plan", name="plan")
@click.option("-o", "--output", default="-", show_default=True, help="Write the plan here.")
def plan_command(options: Options, output: str) -> None:
    """Write the plan as JSON Lines, to be read, edited and applied later.

    Example:
      mem0-dream plan --config mem0.yaml --user-id alice -o plan.jsonl
    """
    from ..planning.plan_file import dump_plan
    from .asking import looked

    with open_session(options) as session:
        plan = looked(session, options).plan
    if output == "-":
        click.echo(dump_plan(plan), nl=False)
        return
    try:
        Path(output).write_text(dump_plan(plan), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The plan cannot be written to {output}: {error.strerror}.") from error
    click.echo(f"{len(plan.actions)} actions written to {output}.", err=True)


@command("store", "write", name="apply")
@click.argument("file")
@click.option(
    "--max-delete", type=click.FloatRange(0, 1), help="Largest share of a scope one run may remove."
)
@click.option("--yes", is_flag=True, help="Apply without asking.")
def apply_command(options: Options, file: str, *, yes: bool) -> None:
    """Apply the plan in FILE (- reads it from the input), with the answers that its lines hold.

    A line may say "answer": yes, no or skip; a conflict a, b, both, same or skip, or "choice": a or b; a
    conflict or a removal "still", for what holds as of today; "edit" takes a text of your own from
    "edited". What was answered elsewhere about the same proposals holds, too.

    Example:
      mem0-dream apply plan.jsonl --config mem0.yaml --yes
    """
    from ..reporting import report
    from ..reporting.text import visible
    from .passes import mended

    text = _read(file)
    with open_session(options) as session, session.locked():
        review = review_of_file(session, text, now=options.clock)
        plan = review.planned(session)
        # Entities are named in full, and what they gain is no line of its own.
        shown = session.reporter(plan, explain=plan.kind == GRAPH)
        tell_fidelity(session, plan.fidelity, begun=bool(plan.actions))
        lines = [visible(f"{name}: {effect}") for name, effect in review.effects(plan).items()]
        lines += [visible(f"{name}: its text leaves out {lost}") for name, lost in careless(plan)]
        if yes:
            click.echo("\n".join(lines), err=True, nl=bool(lines))
        elif not _is_meant(session, plan, [*shown.lines(), *lines], shown.proposal(), file):
            click.echo(report.CANCELLED)
            return
        result = review.apply(session, plan, now=options.clock, retire=options.retire, within_budget=yes)
        echo(report.moved_lines(result, plan, shown))
        click.echo(report.summary(result))
        mended(session, options, result, plan)
        if result.run:
            click.echo(f"Undo with: {again(options, 'undo', result.run)}", err=True)


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The plan file {file} cannot be read: {error}.") from error


def _is_meant(session: Session, plan: Plan, lines: list[str], proposal: str, file: str) -> bool:
    from .asking import confirmed, warned

    if file == "-":
        raise UsageError("A plan from the input cannot be asked about; add --yes.")
    echo(lines)
    if plan.gaps:
        raise IncompleteListingError(f"Read-only: {'; '.join(plan.gaps)}. Nothing can be applied.")
    return confirmed(proposal, default=not warned(session, plan))


def review_of_file(session: Session, text: str, *, now: datetime) -> Review:
    """A review of a plan file and the answers in it: everything that stands in it is wanted.

    A line may hold "answer", and "edited" beside the answer edit; a conflict may have its "choice" set.

    Raises:
        PlanFileError: If it is no plan file.
        UsageError: If an answer fits no proposal.
    """
    from ..planning.plan_file import parse_plan
    from ..review import Review

    lines: list[str] = []
    given: dict[str, tuple[str, str | None]] = {}
    for line in text.split("\n"):
        record: Any = None
        if '"answer"' in line:
            with contextlib.suppress(ValueError):
                record = json.loads(line)
        if isinstance(record, dict) and "answer" in record:
            say, edited = record.pop("answer"), record.pop("edited", None)
            if say:
                given[str(record.get("id"))] = (str(say), edited if isinstance(edited, str) else None)
            lines.append(json.dumps(record, ensure_ascii=False))
        else:
            lines.append(line)
    plan = parse_plan("\n".join(lines))
    for conflict in plan.conflicts:
        if conflict.choice is not None:
            given.setdefault(conflict.id, (conflict.choice, None))
    review = Review(session.directory, plan, unites=session.kind.scoped, edited=True)
    for name, (say, edited) in given.items():
        review.answer(name, say, edited, now=now, held=True)
    return review


def careless(plan: Plan) -> list[tuple[str, str]]:
    """Merges whose text is none of their members', and what it leaves out: a line may have been edited."""
    from ..review import lost_by

    told = []
    for merge in plan.merges:
        sources = merge.said or tuple(member.text for member in merge.members)
        if merge.text not in sources:
            details, words = lost_by(sources, merge.text)
            told += [(merge.id, ", ".join([*(detail for _, detail in details), *words]))]
    return [(name, lost) for name, lost in told if lost]


COMMANDS = (plan_command, apply_command)
"""What the main group offers for plans as files."""
