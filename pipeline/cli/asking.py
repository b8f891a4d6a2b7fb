"""The questions of a pass and what a person is told around them, the same words for every kind of store."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

import click

from ...errors import UsageError
from ..answers import Say
from .logs import tell

if TYPE_CHECKING:
    from ..engine import Session
    from ..plan import Plan
    from ..planning.proposal import Proposal
    from .options import Options

Meaning = TypeVar("Meaning")
TRIES = 3
"""Answers that mean nothing after which a question ends: it may be a pipe that answers."""
SAID_OF_CONFLICTS = {
    "a": Say.A, "b": Say.B, "both": Say.BOTH, "n": Say.BOTH, "same": Say.SAME,
    "still": Say.STILL, "s": Say.SKIP, "skip": Say.SKIP,
}  # fmt: skip
_YES_OR_NO: dict[str, bool | str] = {"y": True, "yes": True, "n": False, "no": False}


def looked(session: Session, options: Options, *, unattended: bool = False) -> Proposal:
    """What a pass would do, with a second opinion if one is wanted, and without what would hide a fact."""
    proposal = session.look(options.scopes(), now=options.moment, unattended=unattended, say=tell)
    if not unattended:  # who applies a plan unseen prints all of its notes
        for note in proposal.plan.notes:
            tell(note)
    return proposal


def warned(session: Session, plan: Plan) -> bool:
    """Tell a person what goes beyond the delete budget; say whether anything does."""
    over = session.overdraft(plan)
    if over is not None:
        click.echo(
            f"Careful: this removes {over}, more than the delete budget of {session.settings.max_delete:.0%}."
        )
    return over is not None


def ask(question: str, choices: str, meanings: Mapping[str, Meaning], told: str) -> Meaning:
    """Ask until one of the answers is given, three times at most.

    Raises:
        UsageError: If nobody answers, or three answers are none of these.
    """
    for _ in range(TRIES):
        meaning = meanings.get(asked(question, choices).lower())
        if meaning is not None:
            return meaning
        click.echo(told)
    raise UsageError(f"{TRIES} answers were none of {choices}, so nothing was changed.")


def ask_choice(question: str, given: Say | None = None) -> Say:
    """Ask which side of a conflict stays; an empty answer leaves it as it was answered before, or open."""
    if given is not None:
        click.echo(f"  Answered before: {given.spoken}. Enter keeps that answer.")
    meanings = {**SAID_OF_CONFLICTS, "": given or Say.SKIP}
    told = "Please answer A, B, both, same, still (both hold as of today) or skip."
    return ask(question, "[A/B/still/skip]", meanings, told)


def confirmed(proposal: str, *, default: bool = True) -> bool:
    """Ask whether to apply; an empty answer means the default."""
    return agreed(proposal, _YES_OR_NO, default=default) is True


def agreed(proposal: str, more: Mapping[str, bool | str], *, default: bool) -> bool | str:
    """The same with further answers."""
    meanings = {"": default, **_YES_OR_NO, **more}
    return ask(f"{proposal} Apply? ", "[Y/n]" if default else "[y/N]", meanings, "Please answer y or n.")


def asked(question: str, choices: str) -> str:
    """Ask one question; the end of the input means that no person is there, and nothing may be applied."""
    click.echo(f"{question}{choices} ", nl=False)
    answer = sys.stdin.readline()
    if not answer:
        click.echo()
        raise UsageError("Nobody answered, so nothing was changed; use --auto for unattended runs.")
    return answer.strip()
