"""The questions of a pass and what a person is told around them, the same words for every kind of store."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ...errors import UsageError
from .logs import tell

if TYPE_CHECKING:
    from ..actions import Side
    from ..engine import Session
    from ..plan import Plan
    from ..planning.proposal import Proposal
    from .options import Options


def looked(session: Session, options: Options, *, unattended: bool = False) -> Proposal:
    """What a pass would do, with a second opinion if one is wanted, and without what would hide a fact."""
    from ..consolidation import recall_checked

    proposal = session.look(options.scopes(), now=options.moment, unattended=unattended, say=say_aside)
    if session.kind.scoped:
        plan = recall_checked(session, proposal.plan, unattended=unattended)
        proposal = replace(proposal, plan=plan, asked=plan)
    if not unattended:  # who applies a plan unseen prints all of its notes
        for note in proposal.plan.notes:
            say_aside(note)
    return proposal


def proposed(session: Session, options: Options, *, unattended: bool = False) -> Plan:
    """The plan of what a pass would do."""
    return looked(session, options, unattended=unattended).plan


def say_aside(line: str) -> None:
    """Tell something on the error stream that is no part of the report."""
    tell(line)


def warned(session: Session, plan: Plan) -> bool:
    """Tell a person what goes beyond the delete budget; say whether anything does."""
    over = session.overdraft(plan)
    if over is not None:
        click.echo(
            f"Careful: this removes {over}, more than the delete budget of {session.settings.max_delete:.0%}."
        )
    return over is not None


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
    """Ask one question; the end of the input means that no person is there, and nothing may be applied."""
    click.echo(f"{question}{choices} ", nl=False)
    answer = sys.stdin.readline()
    if not answer:
        click.echo()
        raise UsageError("Nobody answered, so nothing was changed; use --auto for unattended runs.")
    return answer.strip()
