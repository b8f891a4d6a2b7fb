"""The questions of a pass and what a person is told around them, the same words for every kind of store."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ...errors import UsageError
from .logs import tell

if TYPE_CHECKING:
    from ..engine import Session
    from ..plan import Plan, Side
    from .options import Options


def proposed(session: Session, options: Options, *, unattended: bool = False) -> Plan:
    """What a pass would do, with a second opinion if one is wanted, and without what would hide a fact."""
    from ..consolidation import recall_checked

    plan = only(session.propose(options.scopes(), now=options.moment, unattended=unattended), options)
    plan = only(session.second_opinion(plan, unattended=unattended, say=say_aside), options)
    checked = recall_checked(session, plan, unattended=unattended)
    for note in checked.notes[len(plan.notes) :]:
        if not unattended:  # who applies a plan unseen prints all of its notes
            say_aside(note)
    return checked


def only(plan: Plan, options: Options) -> Plan:
    """Keep the kinds of actions the options ask for."""
    from ...records import ActionKind

    if options.merge_only and options.forget_only:
        raise UsageError("--merge-only and --forget-only exclude each other; leave both out for everything.")
    if options.merge_only:
        return plan.only(ActionKind.MERGE)
    if options.forget_only:
        return plan.only(ActionKind.PRUNE)
    return plan


def warned(session: Session, plan: Plan) -> bool:
    """Tell a person what goes beyond the delete budget; say whether anything does."""
    over = session.overdraft(plan)
    if over is not None:
        click.echo(
            f"Careful: this removes {over}, more than the delete budget of {session.settings.max_delete:.0%}."
        )
    return over is not None


def say_nothing(plan: Plan) -> None:
    """There is nothing to apply; what may be a duplicate, or was left open, is no clean bill."""
    from ..reporting import report

    nothing = report.NOTHING_NEW if plan.left_open else report.NOTHING_FOUND
    click.echo(report.NOTHING_CERTAIN if plan.unsure else nothing)
    tell_open(plan)


def say_aside(line: str) -> None:
    """Tell something on the error stream that is no part of the report."""
    tell(line)


def tell_open(plan: Plan) -> None:
    """What is left to a person, and how to see it; nothing if there is nothing."""
    from ..planning.doubts import open_question

    if plan.unsure:
        click.echo(f"{open_question(plan.unsure)}: --review")
    if plan.left_open:
        noun = "conflicts were" if plan.left_open > 1 else "conflict was"
        click.echo(f"{plan.left_open} {noun} left open earlier: `mem0-dream reject --list`")


def ask_choice(question: str) -> Side | None:
    """Ask which side of a conflict stays; an empty answer leaves it open."""
    while True:
        answer = asked(question, "[A/B/skip]").lower()
        if answer in ("a", "b"):
            return "a" if answer == "a" else "b"
        if answer in ("", "s", "skip"):
            return None
        click.echo("Please answer A, B or skip.")


def confirmed(proposal: str, *, default: bool = True) -> bool:
    """Ask whether to apply; an empty answer means the default."""
    while True:
        answer = asked(f"{proposal} Apply? ", "[Y/n]" if default else "[y/N]").lower()
        if answer in ("", "y", "yes"):
            return default or bool(answer)
        if answer in ("n", "no"):
            return False
        click.echo("Please answer y or n.")


def asked(question: str, choices: str) -> str:
    """Ask one question; the end of the input means nobody is there, and nothing may be applied."""
    click.echo(f"{question}{choices} ", nl=False)
    answer = sys.stdin.readline()
    if not answer:
        click.echo()
        raise UsageError("Nobody answered, so nothing was changed; use --auto for unattended runs.")
    return answer.strip()
