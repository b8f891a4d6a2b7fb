"""One review behind the terminal, the browser, agents and plan files: what is asked, answered, and follows.

An answer belongs to the content of a proposal (`content_key`), never to its number: it lapses as soon as a
text or the proposal changes. What the answers come to is worked out here alone, so that the same answers
give the same plan wherever they were given. Nothing is resolved without an answer.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from ..errors import IncompleteListingError, MovedOnError, UsageError
from ..models.guards import missing
from ..models.text.words import significant_words, tokens
from ..records import ActionKind, Memory
from .answers import Answer, Say, content_key, pinned_ids
from .engine import Session
from .plan import Action, Member, Merge, Plan, Prune, Resolve, RunResult, Side, acts, guessed, in_order
from .planning.doubts import Doubt, lesson
from .planning.drafts import loses, merge_action, merge_of
from .planning.merges import Consolidated
from .planning.plan_file import dump_plan
from .stores.graph.entities import edited_observations
from .writing.journal import Journal

Asked = TypeVar("Asked", bound=Action)
_ASKED = (Say.YES, Say.NO, Say.SKIP)
_OF_CONFLICTS = (Say.A, Say.B, Say.BOTH, Say.SAME, Say.STILL, Say.SKIP)
_OF_MERGES = {"same": "yes", "both": "no"}  # what is said of two sides, said of two that may be one fact


def digest(plan: Plan) -> str:
    """Name of a plan by everything that it does."""
    return hashlib.sha256(dump_plan(plan).encode("utf-8", "surrogatepass")).hexdigest()


def lost_by(sources: Iterable[str], text: str) -> tuple[list[tuple[str, str]], list[str]]:
    """What a text written by hand does not keep of the memories it stands for.

    Returns:
        Details (kind and text), for which it is refused; and words with a meaning, which are only named.
    """
    given = list(sources)
    details = [(item.kind, item.detail) for item in missing(given, text)]
    named = " ".join(detail for _, detail in details).casefold()
    kept = significant_words(text)
    words: dict[str, str] = {}
    for token in itertools.chain.from_iterable(map(tokens, given)):
        if not token.is_stop and token.stem not in kept and token.text.casefold() not in named:
            words.setdefault(token.stem, token.text)
    return details, list(words.values())


class Review:
    """A proposed plan and the answers to it."""

    def __init__(self, session: Session, plan: Plan, *, opt_in: bool = False, edited: bool = False) -> None:
        """Take the answers that fit the plan out of the journal; the session may be closed afterwards.

        With `opt_in` only what was accepted is done, else everything that was not refused; `edited`:
        something else may follow from a plan file.
        """
        self.plan = plan
        self.unites = session.kind.scoped  # two memories can be written as one by hand
        self._directory, self._opt_in, self._edited = session.directory, opt_in, edited
        self._held: dict[str, Answer] = {}
        asked: tuple[Action, ...] = (*plan.actions, *plan.unsure)
        self.questions: dict[str, Action] = {content_key(action): action for action in asked}

    def find(self, name: str) -> Action:
        """The proposal of a key or an id."""
        named = self.questions.get(name)
        if named is None:
            named = next((item for item in self.questions.values() if item.id == name), None)
        if named is None:
            raise UsageError(f"There is no proposal {name[:80]!r} in this plan; look again.")
        return named

    def choices(self, action: Action) -> tuple[Say, ...]:
        """What may be answered about a proposal."""
        if isinstance(action, Resolve):
            return (*_OF_CONFLICTS, Say.EDIT) if self._may_unite(action) else _OF_CONFLICTS
        if self.unites and action in self.plan.unsure and len(action.members) == 2:
            return (*_ASKED, Say.EDIT, Say.A, Say.B)
        if isinstance(action, Prune):
            return (Say.YES, Say.STILL, Say.SKIP) if self._is_question(action) else (*_ASKED, Say.STILL)
        return (*_ASKED, Say.EDIT) if isinstance(action, Merge) else _ASKED

    def answer(
        self, name: str, say: str, text: str | None = None, *, now: datetime, held: bool = False
    ) -> Answer:
        """Keep an answer, in place of an earlier one to the same proposal, by its key or id.

        `text` is what a person wrote, with the answer edit; `held`, it is written down only with the run that
        carries it out.
        """
        action, said = self.find(name), say.strip().lower()
        if isinstance(action, Merge):
            said = _OF_MERGES.get(said, said)
        elif said == Say.NO and isinstance(action, Prune) and self._is_question(action):
            said = Say.STILL
        if said not in self.choices(action):
            allowed = ", ".join(self.choices(action))
            raise UsageError(f"{action.id} is answered by {allowed}; {said[:20]!r} is none of these.")
        if (said == Say.EDIT) != (text is not None):
            raise UsageError("A text written by hand belongs to the answer edit, and only to it.")
        if text is not None and isinstance(action, Merge) and text == action.text:
            said, text = Say.YES, None
        if text is not None and (details := self.lost(action, text)[0]):
            named = ", ".join(f"{kind} {detail}" for kind, detail in details)
            raise UsageError(f"This text would lose {len(details)} details of its sources: {named}")
        answer = Answer.to(action, Say(said), at=now)
        answer = replace(answer, text=text, pair=lesson(action, answer.say))
        if answer.say is Say.SKIP and not self._is_question(action):
            answer = replace(answer, keys=frozenset())  # not this time, and proposed again the next
        if answer.say is Say.STILL and isinstance(action, Prune) and not action.junk:
            # It holds as of the day by which it was judged, and may be proposed again once it is old anew.
            answer = replace(answer, keys=frozenset(), at=max(now, self.plan.now))
        self.withdraw(answer.key)
        if held:
            self._held[answer.key] = answer
        else:
            with self._journal() as journal:
                journal.answer(self.plan.store, [answer])
        return answer

    def answer_all(self, names: Iterable[str], say: str, *, now: datetime) -> None:
        """Say yes or no to several certain proposals; those that were answered keep their answers."""
        answered = self.answers
        actions = [action for action in map(self.find, names) if content_key(action) not in answered]
        if say not in (Say.YES, Say.NO) or any(self._is_question(each) or guessed(each) for each in actions):
            raise UsageError("A conflict, and what is merely likely, is answered by itself.")
        said = Say(say)
        given = [replace(Answer.to(action, said, at=now), pair=lesson(action, said)) for action in actions]
        with self._journal() as journal:
            journal.answer(self.plan.store, given)

    def leaves_out(self, action: Action) -> list[str]:
        """The details that go if two memories are called the same: one wording stays, and lacks these."""
        asked = self.unites and action in self.plan.unsure and len(action.members) == 2
        return loses(action) if asked and isinstance(action, Merge) else []

    def withdraw(self, *names: str) -> None:
        """Take the answers to proposals back."""
        keys = {content_key(self.find(name)) for name in names}
        for key in keys:
            self._held.pop(key, None)
        with self._journal() as journal:
            given = [item for item in journal.answers(self.plan.store) if item.key in keys]
            journal.withdraw(self.plan.store, filter(self._is_open, given))

    def pin(self, memory_id: str, *, pinned: bool, now: datetime) -> None:
        """Leave a memory alone from now on, or no longer."""
        texts = {member.id: member.text for action in self.questions.values() for member in action.members}
        if memory_id not in texts:
            raise UsageError("No proposal is about this memory.")
        with self._journal() as journal:
            pins = [item for item in journal.answers(self.plan.store) if item.say is Say.PINNED]
            journal.withdraw(self.plan.store, [pin for pin in pins if pin.about[0].id == memory_id])
            if pinned:
                journal.answer(self.plan.store, [Answer.pin(memory_id, texts[memory_id], at=now)])

    @property
    def pins(self) -> frozenset[str]:
        """Memories that a person wants to be left alone."""
        with self._journal() as journal:
            return pinned_ids(journal.answers(self.plan.store))

    @property
    def answers(self) -> dict[str, Answer]:
        """What was said about the proposals and not applied yet, by their keys."""
        with self._journal() as journal:
            kept = {item.key: item for item in journal.answers(self.plan.store) if self._is_open(item)}
        return {key: given for key, given in {**kept, **self._held}.items() if key in self.questions}

    @property
    def wanted(self) -> dict[str, Answer]:
        """Answers after which something is done, by the ids of their proposals."""
        return {name: given for name, given in self._said(self.pins).items() if given.say.changes}

    def _said(self, pins: frozenset[str]) -> dict[str, Answer]:
        named = ((self.questions[key], given) for key, given in self.answers.items())
        return {action.id: given for action, given in named if pins.isdisjoint(m.id for m in action.members)}

    def planned(self, session: Session) -> Plan:
        """The plan that does what was answered, and what follows from it; the same for every front."""
        shown, pins = self.plan, self.pins
        said = self._said(pins)
        if not (self.answers or pins or self._opt_in or self._edited):
            return shown
        actions = tuple(
            self._worded(action, said, session)
            for action in shown.actions
            if pins.isdisjoint(member.id for member in action.members)
            and _is_wanted(action, said.get(action.id), unanswered=not self._opt_in)
        )
        yes = {name for name, given in said.items() if given.say.changes}
        doubts = self._joined([self._worded(d, said, session) for d in shown.unsure if d.id in yes], session)
        sides = {name: side for name, given in said.items() if (side := self._side(name, given)) is not None}
        chosen = replace(shown, actions=actions, unsure=doubts).with_choices(sides).accept(yes, sides)
        final = session.completed(replace(chosen, unsure=()))
        stand = {action.id for action in chosen.actions}
        proposed = {action.id for action in shown.actions}
        touched = {action.scope for action in chosen.actions if acts(action)}
        # What follows from other changes is proposed with all of them; here it follows from what is left.
        kept = tuple(
            action
            for action in final.actions
            if action.id in stand
            or action.id not in proposed
            or (action.scope in touched and _is_wanted(action, said.get(action.id), unanswered=True))
        )
        left = sum(conflict.id not in said for conflict in shown.conflicts) if self._opt_in else 0
        unsure = tuple(doubt for doubt in shown.unsure if doubt.id not in said)
        return replace(final, actions=kept, unsure=unsure, left_open=shown.left_open + left)

    def effects(self, plan: Plan) -> dict[str, str]:
        """What a plan that follows from the answers does about each proposal that was answered, by its id."""
        done = {action.id: action for action in plan.actions if acts(action)}
        told = {}
        for key, given in self.answers.items():
            action = self.questions[key]
            members = {member.id for member in action.members}
            joined = any(isinstance(a, Merge) and members <= {m.id for m in a.members} for a in done.values())
            if not given.say.changes:
                told[action.id] = _LEFT[given.say] if self._is_question(action) else _LEFT_OUT[given.say]
            elif action.id in done or joined or isinstance(action, Resolve):
                told[action.id] = given.say.spoken if action.id in done or joined else _SENTENCE
            else:
                told[action.id] = WAITS
        return told

    def apply(
        self,
        session: Session,
        plan: Plan,
        *,
        now: datetime,
        retire: bool | None = None,
        within_budget: bool = False,
    ) -> RunResult:
        """Do what was agreed to, as one run that can be undone, and note which answers it carried out."""
        if plan.gaps:
            raise IncompleteListingError(f"Read-only: {'; '.join(plan.gaps)}. Nothing can be applied.")
        result = session.apply(plan, now=now, retire=retire, within_budget=within_budget)
        self.note(session, result, plan)
        return result

    def note(self, session: Session, result: RunResult, plan: Plan) -> None:
        """Write down which run carried the answers out, or was agreed to along with them."""
        store, late = self.plan.store, {name for name, _ in result.moved}
        late |= {name for name, effect in self.effects(plan).items() if effect == WAITS}
        session.journal.answer(store, self._held.values())
        self._held.clear()
        answers = self.answers
        this_time = [given for given in answers.values() if given.say is Say.SKIP and not given.keys]
        kept = (given for given in answers.values() if given.say.changes or given.say is Say.SKIP)
        done = [given for given in kept if self.questions[given.key].id not in late]
        session.journal.withdraw(store, this_time)
        if result.run:
            session.journal.note_run(store, [given for given in done if given not in this_time], result.run)

    def check_unmoved(self, session: Session, plan: Plan) -> None:
        """Refuse to apply a plan to a store that is no longer as the person saw it."""
        members = {member.id: member for action in plan.actions for member in action.members}
        snapshots = session.store.fetch(sorted(members))
        for name, member in members.items():
            memory = session.store.parse(snapshots[name]) if name in snapshots else None
            as_seen = (False, member.text_hash, member.updated_at)
            if memory is None or (memory.pinned, memory.text_hash, memory.updated_at) != as_seen:
                raise MovedOnError("The store has changed meanwhile, so nothing was done.")

    def lost(self, action: Action, text: str) -> tuple[list[tuple[str, str]], list[str]]:
        """What a text written by hand would lose (`lost_by`); of a conflict one side goes, so words alone."""
        if Say.EDIT not in self.choices(action):
            raise UsageError("Only the text of a merge can be written by hand.")
        if not text.strip():
            return [("text", "all of it")], []
        sources = getattr(action, "said", ()) or [member.text for member in action.members]
        details, words = lost_by(sources, text)
        if isinstance(action, Resolve):
            return [], [*(detail for _, detail in details), *words]
        if isinstance(action, Merge):
            try:
                _in_own_words(action, text)
            except ValueError as error:
                details.insert(0, ("form", str(error)))
        return details, words

    def _is_open(self, given: Answer) -> bool:
        lapsed = given.say is Say.STILL and not given.keys and given.at < self.plan.now
        return bool(given.key) and not (given.run or lapsed) and given.say not in (Say.TAKEN_BACK, Say.PINNED)

    def _may_unite(self, conflict: Resolve) -> bool:
        return self.unites and not conflict.said

    def _is_question(self, action: Action) -> bool:
        return isinstance(action, Resolve) or action in self.plan.unsure

    def _side(self, name: str, given: Answer) -> Side | None:
        action = self.find(name)
        if isinstance(action, Resolve) and given.say is Say.SAME and not self._may_unite(action):
            return action.newer or "b"  # one wording of the sentence is enough
        if isinstance(action, Merge) and given.say is Say.YES and self.leaves_out(action):
            return "a" if in_order(action)[0].id == action.survivor else "b"
        return "a" if given.say is Say.A else "b" if given.say is Say.B else None

    def _worded(self, action: Asked, said: Mapping[str, Answer], session: Session) -> Asked | Merge | Resolve:
        given = said.get(action.id)
        if isinstance(action, Merge) and given is not None and self._side(action.id, given):
            a, b = in_order(action)
            names = ("id", "scope", "category", "members", "verdicts")
            same: dict[str, Any] = {name: getattr(action, name) for name in names}
            return Resolve(a=(a.id,), b=(b.id,), topic="", **same)
        if given is None or given.say not in (Say.EDIT, Say.SAME):
            return action
        if isinstance(action, Merge):
            return _in_own_words(action, given.text or action.text)
        if isinstance(action, Resolve) and self._may_unite(action):
            stored = _stored(session, action.members)
            stays = action.a[0] if action.newer == "a" else action.b[0]
            if len(stored) == len(action.members):
                survivor = None if given.text and not session.store.capabilities.in_place else stays
                members = tuple(stored[member.id] for member in action.members)
                united = Consolidated(members, survivor, given.text or stored[stays].text, action.verdicts)
                merge = merge_action(session.kind, stored, united)
                return replace(merge, id=action.id, members=action.members)
        return action

    def _joined(self, doubts: Iterable[Doubt], session: Session) -> tuple[Doubt, ...]:
        """Doubts that were agreed to; merges around one memory become one, where its text can be written."""
        joined: list[Doubt] = []
        for doubt in doubts:
            merge = None
            for at, other in enumerate(joined if self.unites and isinstance(doubt, Merge) else ()):
                verdicts = [v for a in (other, doubt) if isinstance(a, Merge) for v in a.verdicts]
                pairs = [{v.pair.a, v.pair.b} for v in verdicts]
                if isinstance(other, Merge) and pairs and set.intersection(*pairs):
                    stored = _stored(session, (*other.members, *doubt.members))
                    whole = stored.keys() >= set().union(*pairs)  # else the store has moved on
                    merge = merge_of(session.kind, stored, stored, verdicts) if whole else None
                    merge = merge if merge and not loses(merge) else None
                    joined[at] = replace(merge, id=other.id) if merge else other
                    break
            joined += [] if merge else [doubt]
        return tuple(joined)

    def _journal(self) -> contextlib.closing[Journal]:
        return contextlib.closing(Journal(self._directory))


def unattended(session: Session, plan: Plan) -> Plan:
    """A plan that nobody sees, without what a person wants otherwise: put off, or in their own words."""
    answers = Review(session, plan).answers
    otherwise = {key for key, given in answers.items() if given.say is not Say.YES}
    left = tuple(action for action in plan.actions if content_key(action) not in otherwise)
    return plan if len(left) == len(plan.actions) else session.completed(replace(plan, actions=left))


def _stored(session: Session, members: Iterable[Member]) -> dict[str, Memory]:
    rows = session.store.fetch(sorted({member.id for member in members}))
    return {name: session.store.parse(row) for name, row in rows.items()}


WAITS = "waits for the next pass: another answer touches the same memory"
_SENTENCE = "the sentence that lost is cut out"
_LEFT = {
    Say.NO: "different facts, not asked again",
    Say.BOTH: "both hold, not asked again",
    Say.SKIP: "left open",
    Say.STILL: "still true, not asked again",
}
_LEFT_OUT = {
    Say.NO: "left out for good", Say.SKIP: "left out this time", Say.STILL: "left out: still true",
}  # fmt: skip


def _is_wanted(action: Action, given: Answer | None, *, unanswered: bool) -> bool:
    if given is None:
        return unanswered
    if action.kind is ActionKind.RESOLVE:
        return given.say not in (Say.BOTH, Say.STILL)  # left open, it is told
    return given.say.changes


def _in_own_words(merge: Merge, text: str) -> Merge:
    said: Sequence[str] = ()
    if merge.observations:
        said = edited_observations(merge.text.partition("\n- ")[0], text)
    return replace(merge, text=text, observations=tuple(said))
