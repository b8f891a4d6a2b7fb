"""The questions about pairs that only a person can decide, and how the pairs are shown.

A yes becomes an action of the same plan, which is shown and agreed to as a whole before anything is
applied; a no is remembered. Nothing is asked where no person can see the pairs.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

import click

from .colour import colours

if TYPE_CHECKING:
    from ...records import Label
    from ..actions import Member, Merge, Resolve, Side
    from ..engine import Session
    from ..plan import Plan
    from ..planning.doubts import Doubt
    from ..reporting.report import Report

AT_ONCE = 20
"""Pairs after which a person is asked whether to go on: more at a time is tiring."""
_WIDTHS = (50, 110)
"""Narrowest and widest display of a pair, in cells."""
_MERGE_KEYS = {
    "y": "y", "yes": "y", "m": "y", "merge": "y",
    "n": "n", "no": "n",
    "": "s", "s": "s", "skip": "s",
    "q": "q", "quit": "q",
}  # fmt: skip
_CONFLICT_KEYS = {
    "a": "a", "b": "b",
    "n": "n", "no": "n",
    "": "s", "s": "s", "skip": "s",
    "q": "q", "quit": "q",
}  # fmt: skip
_MERGE_HELP = (
    "y: the same fact, merge them. n: different facts. s or Enter: leave both as they are. "
    "q: stop, ask about the rest another time. What is answered is asked again only if a text changes."
)
_CONFLICT_HELP = (
    "a: A holds, remove B. b: B holds, remove A. n: both hold. s or Enter: leave both as they are. "
    "q: stop, ask about the rest another time. What is answered is asked again only if a text changes."
)


def attended() -> bool:
    """Whether a person sees the output and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def may_ask(plan: Plan, *, review: bool) -> bool:
    """Whether there are doubts, and a person to ask about them."""
    return bool(plan.unsure) and (review or attended())


def reviewed(session: Session, plan: Plan, shown: Report, *, review: bool, now: datetime) -> Plan:
    """The plan after a person was asked about its doubts, as far as they want to be.

    Args:
        session: Remembers the answers.
        plan: What is proposed so far.
        shown: Gives memories their short names.
        review: They were asked for, so that there is no question whether to look.
        now: When the answers were given.
    """
    from ..planning.doubts import decided, open_question

    if not may_ask(plan, review=review):
        return plan
    if not review and not _yes(f"{open_question(plan.unsure)}. Look at {_them(len(plan.unsure))}? "):
        return plan
    answers = _Answers()
    _ask_all(session, plan, shown, answers, now=now)
    result = decided(plan, answers.merges, answers.sides, answers.done)
    _tell(session, plan, result, shown, answers)
    return result


@dataclass(slots=True)
class _Answers:
    """What a person said so far."""

    merges: list[str] = field(default_factory=list)
    sides: dict[str, Side | None] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    labelled: int = 0
    touched: set[str] = field(default_factory=set)
    explained: set[str] = field(default_factory=set)

    def take(self, doubt: Doubt, key: str) -> None:
        """Note an answer."""
        self.done.append(doubt.id)
        if key == "y":
            self.merges.append(doubt.id)
        if key in ("a", "b"):
            self.sides[doubt.id] = "a" if key == "a" else "b"
        if key in ("y", "a", "b"):
            self.touched |= {member.id for member in doubt.members}


def _ask_all(session: Session, plan: Plan, shown: Report, answers: _Answers, *, now: datetime) -> None:
    from ..planning.doubts import ranked

    doubts = ranked(plan.unsure)
    asked = 0
    for doubt in doubts:
        if answers.touched & {member.id for member in doubt.members}:
            continue  # it will read otherwise once the answers so far are applied
        if asked and asked % AT_ONCE == 0 and not _yes(f"{asked} of {len(doubts)} pairs seen. Go on? "):
            return
        asked += 1
        click.echo(f"\n{_heading(doubt, asked, len(doubts))}")
        for line in _sides(doubt, shown):
            click.echo(line)
        key = _answer(doubt, shown, answers)
        if key == "q":
            return
        answers.take(doubt, key)
        answers.labelled += _remember(session, doubt, key, now=now)


def _remember(session: Session, doubt: Doubt, key: str, *, now: datetime) -> bool:
    """Keep an answer; say whether it can teach the thresholds something."""
    from ..planning.doubts import as_memories, keep_answer

    if key == "n":
        session.reject(*as_memories(doubt), now=now)
    if key == "s":
        session.remember_skips([doubt], now=now)
    label = _label(doubt, key)
    if label is None:
        return False
    keep_answer(session.directory, doubt, label)
    return True


def _label(doubt: Doubt, key: str) -> Label | None:
    from ...records import Label
    from ..planning.doubts import contradicts

    if key in ("a", "b"):
        # Of rival values that the scorer took for one fact nobody knows whether they are two.
        return Label.CONTRADICTION if contradicts(doubt) else None
    return {"y": Label.DUPLICATE, "n": Label.DISTINCT}.get(key)


def _heading(doubt: Doubt, number: int, count: int) -> str:
    from ..actions import Merge
    from ..planning.doubts import probability
    from ..reporting.report import visible

    what = "may be duplicates" if isinstance(doubt, Merge) else "may contradict"
    where = f"{doubt.scope}, {doubt.category}" if doubt.category else str(doubt.scope)
    return visible(f"{number} of {count}: {what} ({probability(doubt):.0%}), {where}")


def _sides(doubt: Doubt, shown: Report) -> Iterator[str]:
    """Both texts, aligned, with their names and dates."""
    from ..reporting.report import visible

    a, b = _in_order(doubt)
    yield from aligned(a.text, b.text)
    for side, member in (("A", a), ("B", b)):
        stated = f", {member.stated_at.date().isoformat()}" if member.stated_at else ""
        yield visible(f"  {side} is {shown.label(member.id)}{stated}{_newer(doubt, side)}")


def aligned(a: str, b: str) -> Iterator[str]:
    """Two texts as lines for the terminal at hand, differing words marked."""
    from ..reporting.alignment import bracketed, coloured, columns, rows

    narrowest, widest = _WIDTHS
    width = max(narrowest, min(widest, shutil.get_terminal_size().columns - 6))
    for row in rows(columns(a, b), width=width):
        pair = [_ansi(text) for text in coloured(row)] if colours() else bracketed(row)
        yield from (f"  {side}: {line}" for side, line in zip("AB", pair, strict=True))


def _ansi(text: object) -> str:
    """A rich text as one line of escape sequences."""
    from rich.console import Console

    console = Console(force_terminal=True, color_system="standard", no_color=False, soft_wrap=True)
    with console.capture() as captured:
        console.print(text, end="", highlight=False)
    return captured.get()


def _in_order(doubt: Doubt) -> tuple[Member, Member]:
    """The two memories, the older one first."""
    from ..actions import Merge

    members: Mapping[str, Member] = {member.id: member for member in doubt.members}
    if isinstance(doubt, Merge):
        first, second = sorted(doubt.members, key=lambda member: (str(member.stated_at or ""), member.id))[:2]
        return first, second
    return members[doubt.a[0]], members[doubt.b[0]]


def _newer(doubt: Doubt, side: str) -> str:
    newer = getattr(doubt, "newer", None)
    return " (newer, likely to hold)" if newer == side.lower() else ""


def _answer(doubt: Merge | Resolve, shown: Report, answers: _Answers) -> str:
    from ..actions import Merge

    merge = isinstance(doubt, Merge)
    keys = _MERGE_KEYS if merge else _CONFLICT_KEYS
    if merge:
        click.echo(f"  As one: {shown.line(doubt)}")
    told = _MERGE_HELP if merge else _CONFLICT_HELP
    if told not in answers.explained:
        click.echo(f"  {told}")
        answers.explained.add(told)
    question, choices = ("The same fact?", "[y/n/s/q]") if merge else ("Which holds?", "[a/b/n/s/q]")
    while True:
        key = keys.get(_read(f"{question} ", choices).lower())
        if key is not None:
            return key
        click.echo(f"  {told}")


def _tell(session: Session, plan: Plan, result: Plan, shown: Report, answers: _Answers) -> None:
    """What the answers add to the plan, and where they are kept."""
    from ..planning.doubts import ANSWERS_FILE

    before = {action.id for action in plan.actions}
    added = [action for action in result.actions if action.id not in before]
    if added:
        click.echo(f"\nAdded by your answers ({len(added)}):")
    for action in added:
        click.echo(shown.line(action))
    if answers.labelled:
        click.echo(
            f"Your answers are kept in {session.directory / ANSWERS_FILE}; "
            "`mem0-dream calibrate` learns from them.",
            err=True,
        )


def _yes(question: str) -> bool:
    """A question to which an empty answer is a no."""
    while True:
        answer = _read(question, "[y/N]").lower()
        if answer in ("", "n", "no", "q", "y", "yes"):
            return answer in ("y", "yes")
        click.echo("Please answer y or n.")


def _them(count: int) -> str:
    return "them" if count > 1 else "it"


def _read(question: str, choices: str) -> str:
    from .asking import asked as read

    return read(question, choices)
