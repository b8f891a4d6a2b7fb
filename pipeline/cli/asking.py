"""The questions of a pass and what a person is told around them, the same words for every kind of store."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

import click

from ...errors import UsageError
from ..answers import Say, content_key
from ..plan import Action, Merge, Prune, Resolve
from ..reporting.text import visible
from .terminal import WORDS, echo, tell

if TYPE_CHECKING:
    from ..answers import Answer
    from ..engine import Session
    from ..plan import Plan
    from ..planning.doubts import Doubt
    from ..planning.hooks import Proposal
    from ..reporting.report import Report
    from ..review import Review
    from .options import Options

Meaning = TypeVar("Meaning")
TRIES = 3  # answers that mean nothing after which a question ends: it may be a pipe that answers
_YES_OR_NO: dict[str, bool | str] = {"y": True, "yes": True, "n": False, "no": False}
_GO_ON = {**_YES_OR_NO, "": False, "q": False}
_Y_OR_N = "Please answer y or n."


def looked(session: Session, options: Options, *, unattended: bool = False) -> Proposal:
    """What a pass would do, with a second opinion if one is wanted, and without what would hide a fact."""
    proposal = session.look(options.scopes(), now=options.moment, unattended=unattended, say=tell)
    if not unattended:  # who applies a plan unseen prints all of its notes
        for note in proposal.plan.notes:
            tell(note)
    return proposal


def warned(session: Session, plan: Plan) -> bool:
    """Tell a person what goes beyond the delete budget; say whether anything does."""
    from ..fronts import careful

    told = careful(session, plan)
    echo([told] if told else [])
    return bool(told)


def ask(question: str, choices: str, meanings: Mapping[str, Meaning], told: str) -> Meaning:
    """Ask until one of the answers is given, three times at most."""
    for _ in range(TRIES):
        meaning = meanings.get(asked(question, choices).lower())
        if meaning is not None:
            return meaning
        click.echo(told)
    raise UsageError(f"{TRIES} answers were none of {choices}, so nothing was changed.")


def confirmed(proposal: str, *, default: bool = True, **more: bool | str) -> bool | str:
    """Ask whether to apply, and tell who says no; an empty answer means the default, `more` are answers."""
    from ..reporting.report import CANCELLED

    meanings = {"": default, **_YES_OR_NO, **more}
    meant = ask(f"{proposal} Apply? ", "[Y/n]" if default else "[y/N]", meanings, _Y_OR_N)
    if not meant:
        click.echo(CANCELLED)
    return meant


def asked(question: str, choices: str) -> str:
    """Ask one question; the end of the input means that no person is there, and nothing may be applied."""
    click.echo(f"{question}{choices} ", nl=False)
    answer = sys.stdin.readline()
    if not answer:
        click.echo()
        raise UsageError("Nobody answered, so nothing was changed; use --auto for unattended runs.")
    return answer.strip()


AT_ONCE = 20  # pairs after which a person is asked whether to go on: more at a time is tiring
_QUIT, _EACH = "quit", "each"
_HELP = WORDS["help"]


def _answers(*questions: str) -> dict[str, str]:
    """What the words mean that questions understand; an empty answer leaves all as it is."""
    rows = (row for question in questions for row in WORDS["answers"][question].items())
    return {"": Say.SKIP} | {word: meaning for meaning, words in rows for word in words.split()}


def attended() -> bool:
    """Whether a person sees the output and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def may_ask(plan: Plan, *, review: bool) -> bool:
    """Whether there are doubts, and a person to ask about them."""
    return bool(plan.unsure) and (review or attended())


class Questions:
    """Asks a person about proposals; a no and a skip are kept at once, the rest with the run."""

    def __init__(self, review: Review, shown: Report, *, now: datetime) -> None:
        """Ask nothing yet; `review` keeps the answers as given `now`, `shown` names the memories."""
        self._review, self._shown, self._now = review, shown, now
        self.put = False  # whether anything was asked: behind a question no Enter may apply
        self._touched: set[str] = set()
        self._explained: set[str] = set()

    def conflicts(self) -> None:
        """Which side of each conflict holds; what was answered before stands until it is answered anew.

        Conflicts that share memories are one question, unless some of them were answered before.
        """
        from ..planning.doubts import conflict_clusters

        review = self._review
        earlier = {review.questions[key].id: given for key, given in review.answers.items()}
        open_ = [conflict for conflict in review.plan.conflicts if conflict.choice is None]
        groups = conflict_clusters(open_) if review.unites else [[conflict] for conflict in open_]
        self.put = self.put or bool(groups)
        gone: set[str] = set()  # what an answer took away is asked about no more
        for at, group in enumerate(groups, 1):
            asks_once = len(group) > 1 and not any(conflict.id in earlier for conflict in group)
            said = self._cluster(group, at, of=len(groups)) if asks_once else _EACH
            if said == _QUIT:
                return
            for conflict in group if said == _EACH else ():
                if not (gone.issuperset(conflict.a) or gone.issuperset(conflict.b)):
                    say = self._conflict(conflict, earlier.get(conflict.id))
                    if say == _QUIT:
                        return
                    if say in (Say.A, Say.B):
                        gone.update(() if conflict.said else conflict.b if say == Say.A else conflict.a)

    def _conflict(self, conflict: Resolve, earlier: Answer | None) -> str:
        echo([*self._shown.sides(conflict), *self._shown.why(conflict)])
        given = earlier.say if earlier is not None else None
        if given is not None:
            click.echo(f"  Answered before: {given.spoken}. Enter keeps that answer.")
        self._explain(_HELP["sides"])
        meanings = _answers("conflict", "stop") | {"": given or Say.SKIP}
        if Say.EDIT in self._review.choices(conflict):
            meanings |= {"e": Say.EDIT, "edit": Say.EDIT}
        told = "Please answer A, B, both, same, edit, still (both hold as of today) or skip."
        say = ask(self._shown.question(conflict), "[A/B/still/skip]", meanings, told)
        if say == Say.EDIT != given:
            self._keep(conflict, say)
        elif say not in (given, _QUIT):
            self._review.answer(conflict.id, say, now=self._now, held=True)
        return say

    def doubts(self, *, asks: bool) -> None:
        """What is likely or possible; who `asks` for it is not asked whether to look."""
        from ..planning.doubts import open_question

        review, plan = self._review, self._review.plan
        if not may_ask(plan, review=asks):
            return
        pairs = "them" if len(plan.unsure) > 1 else "it"
        self.put = True
        if asks or ask(f"{open_question(plan.unsure)}. Look at {pairs}? ", "[y/N]", _GO_ON, _Y_OR_N):
            self._ask_all()
        if any(given.pair for key, given in review.answers.items() if review.questions[key] in plan.unsure):
            click.echo("Your answers are kept; `mem0-dream calibrate` learns from them.", err=True)

    def each(self, plan: Plan, shown: Report) -> None:
        """Every change of a plan, one by one."""
        click.echo(f"  {_HELP['change']}")
        self.put = True
        for action in plan.actions:
            if isinstance(action, Resolve) or content_key(action) not in self._review.questions:
                continue
            echo(shown.entry(action))
            goes = isinstance(action, Prune)
            meanings = _answers("merge", "always") | {"": Say.YES} | ({"still": Say.STILL} if goes else {})
            choices = "[Y/n/still/s/q]" if goes else "[Y/n/s/e/q]"
            say = ask("Do it? ", choices, meanings, f"  {_HELP['change']}")
            if say == _QUIT:
                return
            self._keep(action, say)

    def _ask_all(self) -> None:
        from ..planning.doubts import clusters, ranked

        review, plan = self._review, self._review.plan
        answered, seen, pause = review.answers, 0, AT_ONCE
        for group in clusters(plan.unsure) if review.unites else [[doubt] for doubt in ranked(plan.unsure)]:
            # What was touched will read otherwise once the answers so far are applied.
            pairs = [d for d in group if not self._touched & _ids(d) and content_key(d) not in answered]
            if pairs and seen >= pause:
                if not ask(f"{seen} of {len(plan.unsure)} pairs seen. Go on? ", "[y/N]", _GO_ON, _Y_OR_N):
                    return
                pause += AT_ONCE
            say = self._cluster(pairs, seen + 1) if len(pairs) > 1 else _EACH
            for place, doubt in enumerate(pairs if say == _EACH else (), seen + 1):
                if say != _QUIT and not self._touched & _ids(doubt):
                    say = self._single(doubt, place)
            if say == _QUIT:
                return
            seen += len(pairs)

    def _single(self, doubt: Doubt, place: int) -> str:
        self._head([doubt], place)
        if isinstance(doubt, Prune):
            echo(f"  {line}" for line in self._shown.entry(doubt))
            told, answers = _HELP["outdated"], _answers("outdated")
            asked_so = ("Is it still true? ", "[still/outdated/skip/q]")
        elif isinstance(doubt, Merge):
            sides = Say.A in self._review.choices(doubt)
            echo(self._shown.pair(doubt))
            click.echo(f"  As one: {self._shown.line(doubt)}")
            if lost := self._review.leaves_out(doubt):
                click.echo(visible(f"  That leaves out: {', '.join(lost)}."))
            told = _HELP["merge"].format(sides="a: keep A alone. b: keep B alone. " if sides else "")
            answers = _answers("merge", "always", *(["sides"] if sides else []))
            asked_so = ("The same fact? ", "[y/n/a/b/s/q]" if sides else "[y/n/s/q]")
        else:
            echo([*self._shown.sides(doubt), *self._shown.why(doubt)])
            told, answers = _HELP["conflict"], _answers("conflict", "possible conflict", "always")
            asked_so = ("Which holds? ", "[a/b/n/still/s/q]")
        self._explain(told)
        say = ask(*asked_so, answers, f"  {told}")
        if say == _QUIT:
            return say
        say = self._keep(doubt, say)
        self._touched |= _ids(doubt) if Say(say).changes and not isinstance(doubt, Prune) else set()
        return say

    def _cluster(self, pairs: Sequence[Doubt], place: int, *, of: int = 0) -> str:
        """Ask which of several memories hold; of so many conflicts, of which none says what another does."""
        from ..planning.doubts import ends

        letters, lines = self._shown.cluster(pairs)
        self._head(pairs, place, of=of)
        echo(lines)
        help_ = _HELP["facts" if of else "cluster"]
        self._explain(help_)
        names = [letter.lower() for letter in letters.values()]
        some = [part for size in range(1, len(names)) for part in combinations(names, size)]
        meanings: dict[str, str] = {mark.join(p): "".join(p) for p in some for mark in ("", " ", ",", ", ")}
        meanings |= dict.fromkeys(("all", "n", "no", "both", "".join(names)), "".join(names))
        meanings |= dict.fromkeys(("", "s", "skip"), Say.SKIP)
        meanings |= {} if of else dict.fromkeys(("same", "y"), Say.SAME)
        meanings |= {"each": _EACH, "q": _QUIT, "quit": _QUIT}
        choices = f"[letters/all/{'' if of else 'same/'}each/s/q]"
        said = ask("Which hold? ", choices, meanings, f"  {help_}")
        if said in (_QUIT, _EACH):
            return said
        stay = {name for name, letter in letters.items() if letter.lower() in said}
        gone: set[str] = set()
        for doubt in pairs:
            a, b = ends(doubt)[:2]
            say: str = said
            if said not in (Say.SKIP, Say.SAME):
                if {a, b} <= stay:
                    say = Say.BOTH
                elif not {a, b} & stay or {a, b} & gone:
                    continue
                else:
                    say = Say.A if a in stay else Say.B
                    gone |= {a, b} - stay
            held = bool(of) or say not in (Say.SKIP, Say.BOTH)
            given = self._review.answer(doubt.id, say, now=self._now, held=held)
            self._touched |= {a, b} if given.say.changes else set()
        for name in (letters.keys() - stay - gone) if said not in (Say.SKIP, Say.SAME) else ():
            click.echo(f"  {letters[name]} was held against none of these; it stays until the next pass.")
        return said

    def _head(self, doubts: Sequence[Doubt], number: int, *, of: int = 0) -> None:
        from ..planning.doubts import ends, probability

        first, last = doubts[0], number + len(doubts) - 1
        place = f"{number} to {last}" if len(doubts) > 1 and not of else str(number)
        if len(doubts) > 1:
            what = f"{len(set().union(*map(ends, doubts)))} memories"
        elif isinstance(first, Prune):
            what = "may have gone out of date"
        else:
            what = "may be duplicates" if isinstance(first, Merge) else "may contradict"
            what += f" ({probability(first):.0%})"
        where = f"{first.scope}, {first.category}" if first.category else str(first.scope)
        click.echo("\n" + visible(f"{place} of {of or len(self._review.plan.unsure)}: {what}, {where}"))

    def _explain(self, told: str) -> None:
        if told not in self._explained:
            click.echo(f"  {told}")
            self._explained.add(told)

    def _keep(self, action: Action, say: str) -> str:
        """Keep an answer, with the text that a person writes; what that leaves out is named."""
        text = None
        if say == Say.EDIT:
            text = asked("  The text: ", "")
            if say not in self._review.choices(action):
                raise UsageError(f"The text of {action.id} cannot be written by hand; nothing was changed.")
            if words := self._review.lost(action, text)[1]:
                click.echo(f"  That leaves out: {', '.join(words)}.")
        return self._review.answer(action.id, say, text, now=self._now, held=Say(say).changes).say


def told_added(review: Review, plan: Plan, shown: Report) -> None:
    """What the answers add to the plan."""
    doubts = {doubt.id for doubt in review.plan.unsure} - {action.id for action in review.plan.actions}
    added = [action for action in plan.actions if action.id in doubts]
    if added:
        click.echo(f"\nAdded by your answers ({len(added)}):")
    for action in added:
        echo(shown.entry(action) if isinstance(action, Prune) else [shown.line(action)])


def _ids(doubt: Doubt) -> set[str]:
    return set(getattr(doubt, "said", ())) or {member.id for member in doubt.members}
