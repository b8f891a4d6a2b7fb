"""The only code that changes a store: check, keep, verify, then remove; and every step back.

Order inside an action: all preconditions, then the survivor is added or re-read and found by a
search, and only then are the others removed, one by one, each checked again just before. A fact is
at no moment absent from the store.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime

from ...errors import (
    IncompleteListingError,
    JournalError,
    PlanFileError,
    RefusedChangeError,
    StoreError,
    UnreadableError,
)
from ...records import SUPERSEDED_KEYS, SUPERSEDES_KEY, ActionKind, Memory, text_hash
from ..answers import Say, content_key, taken_back
from ..plan import (
    Action,
    Member,
    Merge,
    NewText,
    Plan,
    Prune,
    Relate,
    Resolve,
    RunResult,
    TextChange,
    UndoResult,
    acts,
)
from ..planning.plan_file import dump_plan, parse_plan
from ..stores.base import Add, Amend, Change, Delete, Restore, Retire, Snapshot, Store, Update
from .access import AccessLog
from .journal import ChangeState, Journal, Operation, Outcome, Recorded, Run, RunState, copied

Progress = Callable[[int], None]
READ_AT_ONCE = 1_000


def refuse_foreign(plan: Plan, store: Store) -> None:
    """Refuse a plan of another store (`PlanFileError`), before anything of it is shown."""
    if plan.store != store.fingerprint:
        told = "This plan was made for another store; make a new one with the configuration you apply."
        raise PlanFileError(told)


class Writer:
    """Applies plans to one store, resumes, takes back; the access log learns what merges prove in use."""

    def __init__(self, store: Store, journal: Journal, *, access: AccessLog | None = None) -> None:
        self._store, self._journal, self._access = store, journal, access

    def apply(
        self,
        plan: Plan,
        *,
        run: str,
        at: datetime,
        retire_on: date | None = None,
        retires: Collection[str] = tuple(ActionKind),
        progress: Progress = lambda _: None,
    ) -> RunResult:
        """Apply a plan as a new run of the journal; conflicts without a choice are left open.

        With `retire_on`, what actions of the kinds or reasons `retires` remove expires on that day instead of
        being deleted. `progress` is told after each action how many were completed. `IncompleteListingError`
        if the plan rests on an incomplete listing, `PlanFileError` if it was made for another store or
        retiring is asked of one that cannot, `JournalError` if an earlier run of this store was interrupted.
        """
        self._refuse_unfit(plan, retire_on)
        touched = sorted({member.id for action in plan.actions if acts(action) for member in action.members})
        if not touched:
            return run_result("", plan, {}, ())
        parts = (touched[start : start + READ_AT_ONCE] for start in range(0, len(touched), READ_AT_ONCE))
        copies = [copied(each) for part in parts for each in self._read(part)]
        self._store.begin(run)
        expiring = frozenset(retires if retire_on else ())
        place, text = self._store.fingerprint, dump_plan(plan)
        begun = Run(run, place, at, None, RunState.APPLYING, retire_on, text, retires=expiring)
        self._journal.begin(begun, copies)
        return self._carry_out(begun, plan, at=at, progress=progress)

    def resume(
        self, run: Run, *, at: datetime, progress: Progress = lambda _: None
    ) -> RunResult | UndoResult:
        """Finish a killed run, applying or undoing; `JournalError` if none is left, or of another store."""
        run.refuse_elsewhere(self._store.fingerprint)
        if run.state is RunState.UNDOING:
            return self.undo(run, at=at, part=run.part)
        if run.state is not RunState.APPLYING:
            raise JournalError(f"Run {run.id} is {run.state}; there is nothing to resume.")
        self._store.resume(run.id)
        return self._carry_out(run, parse_plan(run.plan), at=at, progress=progress)

    def undo(self, run: Run, *, at: datetime, part: Collection[str] | None = None) -> UndoResult:
        """Take back a run, or part of its actions; `JournalError` if it was already, or of another store."""
        run.refuse_elsewhere(self._store.fingerprint)
        if run.state is RunState.UNDONE:
            raise JournalError(f"Run {run.id} was undone already; there is nothing to take back.")
        if part is not None and run.interrupted and run.part != part:
            raise JournalError(
                f"Run {run.id} was interrupted; finish it with `mem0-dream resume {run.id}` or take "
                "all of it back, then a part of what it did."
            )
        self._journal.set_state(run.id, RunState.UNDOING, at=at, part=part)
        plan = parse_plan(run.plan)
        self._note_undo(run, plan, at=at, part=part)
        self._store.undo(run.id, whole=part is None)
        restored = withdrawn = 0
        kept: list[tuple[str, str]] = []
        lost: list[tuple[str, str]] = []
        again = False  # whether what is lost may come back with another try
        actions = {action.id: action for action in plan.actions}
        for change in reversed(self._journal.changes(run.id)):
            if change.state is ChangeState.TAKEN_BACK or (part is not None and change.action not in part):
                continue
            memory = change.memory or ""
            try:
                if change.operation is Operation.ADD:
                    memory, counts = self._withdraw(run, change, actions[change.action])
                    withdrawn += counts
                elif self._put_back(run, change, actions[change.action]):
                    restored += change.operation is not Operation.AMEND
            except (StoreError, JournalError) as failed:
                if not (failed.ids or isinstance(failed, RefusedChangeError)):
                    raise  # it is not about this memory alone
                moved = isinstance(failed, RefusedChangeError) and not isinstance(failed, UnreadableError)
                (kept if moved else lost).append((change.memory or change.action, str(failed)))
                again |= not moved and isinstance(failed, StoreError)
            else:
                self._journal.mark(run.id, change.number, ChangeState.TAKEN_BACK, memory=memory)
        standing = part is not None and self._stands(run, besides=part)
        self._journal.set_state(run.id, RunState.APPLIED if standing or again else RunState.UNDONE, at=at)
        return UndoResult(run.id, restored, withdrawn, tuple(kept), tuple(lost))

    def _stands(self, run: Run, *, besides: Collection[str]) -> bool:
        """Whether anything stands of a run but for these actions."""
        changes = (each for each in self._journal.changes(run.id) if each.action not in besides)
        return any(change.state is not ChangeState.TAKEN_BACK for change in changes)

    def _read(self, ids: Sequence[str]) -> Iterator[Snapshot]:
        """Records to copy; of one that cannot be read there is no copy, and so it will not be touched."""
        try:
            yield from self._store.fetch(ids).values()
        except UnreadableError:
            for memory_id in ids:
                with contextlib.suppress(UnreadableError):
                    yield from self._store.fetch([memory_id]).values()

    def _note_undo(self, run: Run, plan: Plan, *, at: datetime, part: Collection[str] | None) -> None:
        """Before the first step back, note an undo as an answer, and withdraw those of its run."""
        standing = (c for c in self._journal.changes(run.id) if c.state is not ChangeState.TAKEN_BACK)
        touched = {change.action for change in standing if part is None or change.action in part}
        done = [action for action in plan.actions if action.id in touched]
        keys = {content_key(action) for action in done}
        given = [
            item
            for item in self._journal.answers(run.store)
            if item.run == run.id and item.say is not Say.TAKEN_BACK and (part is None or item.key in keys)
        ]
        self._journal.withdraw(run.store, given)
        self._journal.answer(run.store, taken_back(done, run=run.id, at=at))

    def _refuse_unfit(self, plan: Plan, retire_on: date | None) -> None:
        if plan.gaps:
            raise IncompleteListingError(
                f"The listing of this store is not provably complete ({'; '.join(plan.gaps)}), "
                "so nothing may be written."
            )
        refuse_foreign(plan, self._store)
        if retire_on is not None and not self._store.capabilities.retire:
            raise PlanFileError("This store cannot retire memories; apply without --retire.")
        earlier = self._journal.interrupted(self._store.fingerprint)
        if earlier is not None:
            raise JournalError(
                f"Run {earlier.id} was interrupted; finish it with `mem0-dream resume {earlier.id}` "
                f"or take it back with `mem0-dream undo {earlier.id}`, then start again."
            )

    def _carry_out(self, run: Run, plan: Plan, *, at: datetime, progress: Progress) -> RunResult:
        concluded = self._journal.outcomes(run.id)
        # Conflicts first: a merge must not undo what a person decided.
        in_order = sorted(plan.actions, key=lambda action: not isinstance(action, Resolve))
        for number, action in enumerate(in_order, 1):
            if action.id not in concluded:
                self._conclude(run, action)
            progress(number)
        outcomes, changes = self._journal.outcomes(run.id), self._journal.changes(run.id)
        if all(change.state is ChangeState.TAKEN_BACK for change in changes):
            self._journal.drop(run.id)
            return run_result("", plan, outcomes, ())
        self._store.finish(run.id, at=at)
        self._journal.set_state(run.id, RunState.APPLIED, at=at)
        return run_result(run.id, plan, outcomes, changes)

    def _conclude(self, run: Run, action: Action) -> None:
        outcome, reason = Outcome.SKIPPED, "left open"
        if acts(action):
            try:
                self._execute(run, action)
                outcome, reason = Outcome.APPLIED, ""
            except RefusedChangeError as moved:
                reason = str(moved)
        self._journal.conclude(run.id, action.id, outcome, reason)

    def _execute(self, run: Run, action: Action) -> None:
        made = list(self._journal.changes(run.id, action.id))
        members = {member.id: member for member in action.members}
        if not made:
            self._check(action, members.values())
            self._check_copies(run, members.values())
        survivor = self._ensure_survivor(run, action, made)
        if isinstance(action, Resolve):  # before anything goes that says the same
            for memory_id, text in action.shortened.items():
                self._rewrite(run, action, members[memory_id], text, made)
        for memory_id in action.removes:
            self._remove(run, action, members[memory_id], made, into=survivor)
        if self._access is not None and survivor is not None and isinstance(action, Merge):
            # A fact stated again is in use; a statement of unknown age counts as made when the run began.
            moments = [member.stated_at or run.started_at for member in action.members]
            self._access.record(self._store.fingerprint, [survivor], max(moments))

    def _check(self, action: Action, members: Iterable[Member]) -> None:
        """Read the members afresh; whatever differs from the plan means the action is off."""
        expected = list(members)
        snapshots = self._store.fetch([member.id for member in expected])
        for member in expected:
            snapshot = snapshots.get(member.id)
            if snapshot is None:
                raise RefusedChangeError(f"memory {member.id} is gone")
            memory = self._store.parse(snapshot)
            if memory.scope != action.scope:  # a plan may have been written by anybody
                raise RefusedChangeError(f"memory {member.id} is of another scope than the plan says")
            if memory.text_hash != member.text_hash or memory.updated_at != member.updated_at:
                raise RefusedChangeError(f"memory {member.id} changed since the plan was made")
            if memory.pinned:
                raise RefusedChangeError(f"memory {member.id} was pinned since the plan was made")

    def _check_stays(self, action: Action, survivor: str) -> None:
        """What stays must still say it all, each time before something goes for its sake."""
        memory = self._now(survivor)
        if memory is None or memory.text_hash != _stated(action, survivor):
            raise RefusedChangeError(
                f"memory {survivor}, which would have to stay, was changed at that moment"
            )

    def _check_copies(self, run: Run, members: Iterable[Member]) -> None:
        """What the journal holds of the members must be what the plan saw: an undo has nothing else."""
        for member in members:
            try:
                copy = self._store.parse(self._journal.snapshot(run.id, member.id))
            except JournalError as missing:
                if not missing.ids:
                    raise
                raise RefusedChangeError(f"memory {member.id} could not be copied beforehand") from missing
            if self._store.keeps_history:
                continue  # what an earlier action of the run leads to may be planned for
            if copy.text_hash != member.text_hash or copy.updated_at != member.updated_at:
                raise RefusedChangeError(f"the copy of memory {member.id} is not what the plan saw")

    def _ensure_survivor(self, run: Run, action: Action, made: list[Recorded]) -> str | None:
        if isinstance(action, Merge) and action.adds:
            survivor = self._add(run, action, made)
        elif action.survivor is not None:
            survivor = action.survivor
            if isinstance(action, Merge | TextChange) and action.rewrites:
                kept = next(member for member in action.members if member.id == survivor)
                self._rewrite(run, action, kept, action.text, made)
            elif made:
                self._check(action, [member for member in action.members if member.id == survivor])
            self._amend(run, action, survivor, made)
        else:
            return None
        if not self._store.finds(survivor):
            self._abandon(run, action, survivor)
            raise RefusedChangeError(f"a search does not find memory {survivor}, which would have to stay")
        return survivor

    def _add(self, run: Run, action: Merge, made: list[Recorded]) -> str:
        mark = f"{run.id}/{action.id}"
        intended = _earlier(made, Operation.ADD)
        if intended is not None and intended.state is ChangeState.DONE and intended.memory:
            added = intended.memory
        else:
            number = self._journal.intend(run.id, action.id, Operation.ADD, None)
            earlier = self._store.find_mark(mark, action.scope) if intended else None
            metadata, members = {**action.metadata, **self._past(run, action)}, (m.id for m in action.members)
            new = Add(action.text, action.scope, metadata, action.created_at, mark, like=tuple(members))
            added = earlier or self._store.write(new)
            self._journal.mark(run.id, number, ChangeState.DONE, memory=added)
        if not self._states(added, action.text):
            raise RefusedChangeError(f"the merged memory {added} could not be read back")
        return added

    def _rewrite(
        self, run: Run, action: Merge | NewText | Resolve, member: Member, text: str, made: list[Recorded]
    ) -> None:
        """Give a memory its new text, unless a killed run did so already."""
        earlier = _earlier([each for each in made if each.memory == member.id], Operation.REPLACE)
        written = earlier is not None and self._states(member.id, text)
        if not written:
            self._check(action, [member])
        number = self._journal.intend(run.id, action.id, Operation.REPLACE, member.id)
        if not written:
            relations = action.relations if isinstance(action, Relate) else None
            said = () if isinstance(action, Resolve) else action.observations
            told = (text, run.started_at, said, relations)
            self._store.write(Update(member.id, *told, was=member.text_hash))
        if not self._states(member.id, text):
            raise RefusedChangeError(f"the new text of memory {member.id} could not be read back")
        self._journal.mark(run.id, number, ChangeState.DONE, memory=member.id)

    def _past(self, run: Run, action: Action) -> dict[str, list[str]]:
        """What stays names what is retired for its sake, earlier ones included."""
        retires = isinstance(action, Merge | Resolve) and run.expiry_of(action) is not None
        if not (retires and action.removes and self._store.capabilities.amend):
            return {}
        held = self._store.fetch([action.survivor]) if action.survivor else {}
        earlier = [self._store.parse(each).metadata.get(SUPERSEDES_KEY) for each in held.values()]
        known = [str(name) for names in earlier if isinstance(names, list) for name in names]
        return {SUPERSEDES_KEY: sorted({*known, *action.removes})}

    def _amend(self, run: Run, action: Action, survivor: str, made: list[Recorded]) -> None:
        """Give the survivor the united metadata; repeating it changes nothing."""
        united = action if isinstance(action, Merge) and action.amends else None
        metadata = {**(united.metadata if united else {}), **self._past(run, action)}
        earlier = _earlier(made, Operation.AMEND)
        if metadata and (earlier is None or earlier.state is not ChangeState.DONE):
            dates = (united.created_at, united.expires) if united else (None, None)
            change = Amend(survivor, metadata, *dates, was=_stated(action, survivor))
            self._step(run, action, Operation.AMEND, survivor, change)

    def _step(self, run: Run, action: Action, operation: Operation, memory_id: str, change: Change) -> None:
        number = self._journal.intend(run.id, action.id, operation, memory_id)
        self._store.write(change)
        self._journal.mark(run.id, number, ChangeState.DONE, memory=memory_id)

    def _now(self, memory_id: str) -> Memory | None:
        snapshot = self._store.fetch([memory_id]).get(memory_id)
        return self._store.parse(snapshot) if snapshot is not None else None

    def _states(self, memory_id: str, text: str) -> bool:
        memory = self._now(memory_id)
        return memory is not None and memory.text == text

    def _abandon(self, run: Run, action: Action, survivor: str) -> None:
        """Take back what was written for a survivor that proved unfit, before anything is removed."""
        for change in self._journal.changes(run.id, action.id):
            if change.state is not ChangeState.DONE:
                continue
            if change.operation is Operation.ADD:
                self._store.write(Delete(survivor))
            elif change.operation in (Operation.REPLACE, Operation.AMEND):
                self._store.write(Restore(self._journal.snapshot(run.id, survivor)))
            self._journal.mark(run.id, change.number, ChangeState.TAKEN_BACK, memory=survivor)

    def _remove(
        self, run: Run, action: Action, member: Member, made: list[Recorded], *, into: str | None
    ) -> None:
        earlier = _earlier([each for each in made if each.memory == member.id], Operation.REMOVE)
        if earlier is not None and earlier.state is ChangeState.DONE:
            return
        expiry = run.expiry_of(action)
        now = self._now(member.id) if earlier is not None else None
        removed = now is None or (expiry is not None and now.expires_on == expiry)
        if earlier is None or not removed:
            self._check(action, [member])
        if into is not None:
            self._check_stays(action, into)
        at = run.started_at
        if expiry is not None:
            why = action.ends if isinstance(action, Resolve) else "merged"
            told = () if into is None else zip(SUPERSEDED_KEYS, (into, at.isoformat(), why), strict=True)
            change: Change = Retire(member.id, expiry, dict(told), was=member.text_hash)
        elif isinstance(action, Merge):
            said = action.observations
            change = Delete(member.id, into=into, at=at, observations=said, was=member.text_hash)
        else:
            why = f"{action.reason}: {action.detail}" if isinstance(action, Prune) else str(action.kind)
            change = Delete(member.id, why, at=at, was=member.text_hash)
        # Also where a killed run had removed the row already: what belongs to it may be left.
        self._step(run, action, Operation.REMOVE, member.id, change)

    def _put_back(self, run: Run, change: Recorded, action: Action) -> bool:
        """Restore a memory, or take united metadata back; refused if it was written since by anybody else.

        A new text that the same action wrote does not count as a change by another program.
        """
        memory_id, amended = change.memory or "", change.operation is Operation.AMEND
        before = self._journal.snapshot(run.id, memory_id)
        now = self._store.fetch([memory_id]).get(memory_id)
        if now is None and amended:
            raise RefusedChangeError("it was removed since the run")
        seen = None
        if now is not None:
            if now.payload == before.payload and change.state is ChangeState.INTENDED:
                return False
            then, present = self._store.parse(before), self._store.parse(now)
            same = present.text == then.text and (not amended or present.updated_at == then.updated_at)
            ours = {action.text} if isinstance(action, Merge | TextChange) else set()
            ours |= set(action.rests.values()) if isinstance(action, Resolve) else set()
            if not same and present.text not in ours - {then.text}:
                raise RefusedChangeError("it was written anew since the run")
            seen = present.text_hash
        self._store.write(Restore(before, was=seen))
        return True

    def _withdraw(self, run: Run, change: Recorded, action: Action) -> tuple[str, bool]:
        added = change.memory or self._store.find_mark(f"{run.id}/{action.id}", action.scope) or ""
        memory = self._now(added) if added else None
        if memory is None:
            return added, False
        if isinstance(action, Merge) and memory.text != action.text:
            raise RefusedChangeError("the merged memory was changed since the run")
        self._store.write(Delete(added, was=memory.text_hash))
        return added, True


def _stated(action: Action, survivor: str) -> str:
    """Hash of the text that the survivor of an action has once it stands."""
    kept = next((member for member in action.members if member.id == survivor), None)
    if kept is None or (isinstance(action, Merge | TextChange) and action.rewrites):
        return text_hash(action.text) if isinstance(action, Merge | TextChange) else ""
    return kept.text_hash


def _earlier(made: Iterable[Recorded], operation: Operation) -> Recorded | None:
    return next((change for change in made if change.operation is operation), None)


def run_result(
    run: str, plan: Plan, outcomes: Mapping[str, tuple[Outcome, str]], changes: Iterable[Recorded]
) -> RunResult:
    """Count what a run did, from what the journal holds of it."""
    skipped = {name: why for name, (outcome, why) in sorted(outcomes.items()) if outcome is Outcome.SKIPPED}
    done = outcomes.keys() - skipped.keys()
    made = [change.operation for change in changes if change.state is ChangeState.DONE]
    return RunResult(
        run=run,
        merged=sum(action.id in done for action in plan.merges),
        pruned=sum(action.id in done for action in plan.prunes),
        resolved=sum(action.id in done for action in plan.conflicts),
        skipped=sum(action.id not in done for action in plan.actions),
        removed=made.count(Operation.REMOVE),
        added=made.count(Operation.ADD),
        moved=tuple((name, why) for name, why in skipped.items() if why != "left open"),
    )
