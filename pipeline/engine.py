"""One store, one pass: read, propose, apply what was approved, take it back; asks no questions.

The command line and the library both stand on `Session`. It owns what the pure stages must not
know: the state directory, the lock, the caches and the models.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

from ..errors import JournalError, StoreError, UsageError
from ..models.encoder import Encoder
from ..models.scorer import PairScorer
from ..records import ActionKind, Inventory, Memory, Scope
from ..settings import Settings, read_settings
from .answers import Answer, as_answered, keys_of, open_conflicts
from .judging.cache import Models
from .judging.check import Known
from .judging.subjects import keys_by_scope
from .kinds import Kind, kind_of
from .plan import Merge, Plan, Prune, Resolve, RunResult, Side, UndoResult, acts
from .planning.budget import Overdraft, affordable, check_budget, overdrafts
from .planning.engine import propose
from .planning.forgetting import MOST, outdated, settled
from .planning.hooks import Means, Proposal
from .planning.plan_file import parse_plan
from .planning.recall import UNATTENDED_QUESTIONS, checked
from .planning.stages import Observer, Silent
from .reporting.report import Report
from .rules.hygiene import shown_text
from .stores.base import LINKS, ScopeFilter, Store
from .stores.files import state_directory
from .writing.access import AccessLog
from .writing.journal import Journal, RunState
from .writing.lock import store_lock
from .writing.writer import Writer, refuse_foreign

SCOPE_IDS = ("user_id", "agent_id", "run_id", "app_id")  # ids by which a person names memories
_log = logging.getLogger(__name__)

KEPT_BACKUPS = 5  # copies of a store's files, one for each of the latest runs


class Session:
    """Works on one store with one set of models and limits."""

    def __init__(
        self,
        store: Store,
        *,
        settings: Settings | None = None,
        state_dir: Path | str | None = None,
        encoder: Encoder | None = None,
        scorer: PairScorer | None = None,
        observer: Observer | None = None,
        kind: Kind | None = None,
    ) -> None:
        """Open journal, access log and cache; models are loaded when they are first needed."""
        self.store = store
        self.kind = kind or kind_of(store)
        self.settings = self.kind.limits(settings or read_settings(store.section))
        self.directory = state_directory(state_dir)
        self.journal = Journal(self.directory)
        self.access = AccessLog(self.directory)
        self.models = Models(self.settings, self.directory, encoder=encoder, scorer=scorer)
        self._observer = observer or Silent()
        self.inventory: Inventory | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the store and all files."""
        self.store.close()
        self.release()

    def release(self) -> None:
        """Release all files, and leave the store to its owner."""
        self.journal.close()
        self.access.close()

    @contextlib.contextmanager
    def locked(self, *, wait_s: float = 0.0) -> Iterator[None]:
        """Keep other runs away from this store, after waiting so many seconds at most; see `store_lock`."""
        with store_lock(self.directory, self.store.fingerprint, wait_s=wait_s):
            for line in self.store.tidy():
                _log.warning("%s", line)
            yield

    def read(self, scopes: ScopeFilter) -> Inventory:
        """List the memories of the matching scopes."""
        with self._observer.stage("fetch", None) as advance:
            inventory = self.store.read(scopes)
            advance(len(inventory.memories))
        self.inventory = as_answered(inventory, self.answered)
        return self.inventory

    def look(
        self,
        scopes: ScopeFilter | Inventory,
        *,
        now: datetime,
        unattended: bool = False,
        say: Callable[[str], None] | None = None,
    ) -> Proposal:
        """What to do about these scopes; unattended only what is certain. It changes nothing."""
        inventory = scopes if isinstance(scopes, Inventory) else self.read(scopes)
        means = replace(self.means(now, unattended=unattended), say=say)
        self._spread(inventory, means)
        proposal = propose(self.kind, inventory, means)
        left_open = open_conflicts(means.answers, inventory.memories)
        if self.kind.scoped:
            plan = self._findable(proposal.plan, inventory, unattended=unattended)
            proposal = replace(proposal, plan=plan, asked=plan)
        more = () if unattended else self.outdated(inventory, proposal.plan, now=now)
        both = (proposal.plan, proposal.asked)
        plan, asked = (replace(p, left_open=left_open, unsure=(*p.unsure, *more)) for p in both)
        return replace(proposal, plan=plan, asked=asked)

    def _spread(self, inventory: Inventory, means: Means) -> None:
        limits = self.settings
        if not self.kind.scoped or not self.models.named or (limits.workers, limits.engine) == (1, "local"):
            return
        from .workers import judge_ahead, shares_of

        shares = shares_of(inventory, self.store, means)
        with self._observer.stage("judging scopes", len(shares)) as advance:
            judge_ahead(shares, self.models.cache, settings=limits, advance=advance)

    def shown(self, text: str) -> str:
        """A text as it may be shown; see `shown_text`."""
        return shown_text(text, self.settings)

    def outdated(
        self, inventory: Inventory, plan: Plan | None = None, *, now: datetime, several: bool = False
    ) -> tuple[Prune, ...]:
        """Questions whether memories still hold after conflicts were settled, but for those answered.

        Of files and entities only those of a single statement, since an answer takes away the whole; with
        `several` the others, to be looked at and not answered. What the plan touches is not asked about.
        """
        answers = self.answered
        conflicts = settled(answers, inventory.memories, now=now)
        if not conflicts or ActionKind.RESOLVE not in self.kind.wanted:
            return ()
        touched = {member.id for action in (plan.actions if plan else ()) for member in action.members}
        stored = {memory.id: memory for memory in inventory.memories if not memory.pinned}
        may = [
            stored[memory.id]
            for memory, said in self.kind.spoken(inventory, now.date())
            if memory.id in stored.keys() - touched and (not self.kind.scoped and len(said) > 1) == several
        ]
        found = outdated(conflicts, may, encode=self.models.read().encode, show=self.shown, now=now)
        done = (answer for answer in answers if answer.closes or answer.applied)
        closed = frozenset(key for answer in done for key in answer.keys)
        new = [each for each in found if not keys_of(each) <= closed][:MOST]
        return tuple(replace(each, id=f"o{number}") for number, each in enumerate(new, 1))

    def known(
        self, scopes: ScopeFilter, *, now: datetime, only: Scope | None = None, into: Known | None = None
    ) -> Known:
        """What the matching scopes hold, or `only` this one, to be asked about new texts; see `Known`."""
        inventory, models = self.read(scopes), self.models
        if only is not None:
            mine = tuple(memory for memory in inventory.memories if memory.scope == only)
            inventory = replace(inventory, memories=mine)
        known = into or Known(models.read(), models.asked(), models.calibrated, self.settings.single)
        keys = keys_by_scope(inventory.memories, settings=self.settings)
        rejected = self.journal.rejected(self.store.fingerprint)
        known.learn(self.kind.spoken(inventory, now.date()), keys=keys, rejected=rejected)
        return known

    def propose(self, scopes: ScopeFilter, *, now: datetime, unattended: bool = False) -> Plan:
        """The plan of `look`."""
        return self.look(scopes, now=now, unattended=unattended).plan

    def _findable(self, plan: Plan, inventory: Inventory, *, unattended: bool) -> Plan:
        count = self.settings.recall_check
        if count is None:
            count = UNATTENDED_QUESTIONS if unattended and self.store.capabilities.vector else 0
        if not count:
            return plan
        living = [memory for memory in inventory.memories if not memory.is_retired(plan.now.date())]
        encode, accessed = self.models.read().encode, self.access.last(plan.store)
        return checked(plan, living, encode=encode, questions=count, accessed=accessed)

    def completed(self, plan: Plan) -> Plan:
        """A plan that was read, edited and answered elsewhere, as it will be applied to this store."""
        refuse_foreign(plan, self.store)
        return self.kind.follow(plan.with_choices({}), self.kind.present())

    def means(self, now: datetime, *, unattended: bool = False) -> Means:
        """What a plan is made with."""
        store, settings = self.store.fingerprint, self.settings
        return Means(
            models=self.models,
            settings=settings,
            now=now,
            unattended=unattended,
            accessed=self.access.last(store),
            tracked=self.access.tracked(store),
            answers=self.journal.answers(store),
            rejected=self.journal.rejected(store),
            hygiene=frozenset(settings.hygiene_auto if unattended else settings.hygiene),
            observer=self._observer,
        )

    def apply(
        self,
        plan: Plan,
        *,
        now: datetime,
        choices: Mapping[str, Side | None] | None = None,
        retire: bool | None = None,
        within_budget: bool = True,
        hold_back: bool = False,
    ) -> RunResult:
        """Apply a plan as one run that can be resumed and undone.

        `now` names the run and dates what is retired. `choices` answer conflicts by action id; what follows
        from them is added. `retire` expires memories instead of deleting them, by default only what lost a
        conflict. `within_budget` refuses a plan over the delete budget; `hold_back`, where memories belong to
        users, only what is too much for its scope.

        Raises:
            BudgetExceededError: If the plan is over budget, or all of it is held back.
        """
        # A plan is applied as it was shown: what follows from it is in it already, unless an answer about a
        # sentence was put in by hand, which would take the whole memory.
        said = (each for each in plan.actions if isinstance(each, Merge | Resolve) and each.said)
        answered = any(getattr(each, "choice", True) for each in said)
        if choices is not None or answered:
            plan = self.completed(plan.with_choices(choices or {}))
        chosen = plan
        held: tuple[str, ...] = ()
        if hold_back and self.kind.scoped:
            chosen, held = affordable(chosen, self.settings)
        elif within_budget:
            check_budget(chosen, self.settings)
        run = self.journal.new_name(now)
        if not chosen.gaps and any(map(acts, chosen.actions)):
            folder = self.directory / "backups" / self.store.fingerprint
            if self.store.backup(folder / run) and folder.exists():
                # By the journal, since the clock may have gone back; this run is not in it yet.
                earlier = [each.id for each in self.journal.runs(self.store.fingerprint)]
                kept = {run, *[name for name in earlier if (folder / name).exists()][: KEPT_BACKUPS - 1]}
                for old in folder.iterdir():
                    if old.name not in kept:
                        shutil.rmtree(old)
        retires = self.retires(chosen, wanted=retire)
        retire_on = now.astimezone(UTC).date() - timedelta(days=1) if retires else None
        with self._observer.stage("apply", len(chosen.actions)) as advance:
            try:
                result = self._writer().apply(
                    chosen, run=run, at=now, retire_on=retire_on, retires=retires, progress=advance
                )
            except StoreError as error:
                if self.journal.interrupted(self.store.fingerprint) is None:
                    raise
                raise type(error)(
                    f"{error} Run {run} stopped half-way: finish it with `mem0-dream resume {run}` "
                    f"or take it back with `mem0-dream undo {run}`.",
                    ids=error.ids,
                ) from error
        self.kind.remember(now=now, run=result.run)
        return replace(result, held=held)

    def retires(self, plan: Plan, *, wanted: bool | None) -> tuple[str, ...]:
        """Of which actions the removed memories expire: of what was true once, or is looked into later."""
        if wanted is not None:
            return tuple(ActionKind) if wanted else ()
        settled = [str(ActionKind.RESOLVE)] if any(each.choice for each in plan.conflicts) else []
        read_later = sorted({"injection", "outdated"} & {each.reason for each in plan.prunes})
        return (*settled, *read_later) if self.store.capabilities.retire else ()

    def overdraft(self, plan: Plan) -> Overdraft | None:
        """What a person should be warned about before agreeing to a plan."""
        return next(iter(overdrafts(plan, self.settings)), None)

    def reporter(self, proposed: Plan | Proposal, *, explain: bool = False) -> Report:
        """What shows a plan to a person, with all that its kind of store does besides."""
        proposal = Proposal(proposed, proposed) if isinstance(proposed, Plan) else proposed
        return self.kind.report(proposal, self.journal, explain=explain)

    def undo(
        self,
        run: str | None = None,
        *,
        now: datetime,
        only: Iterable[str] = (),
        scopes: ScopeFilter | None = None,
        actions: Iterable[str] = (),
    ) -> UndoResult:
        """Take a run back, or a part of it; the rest can be taken back later.

        The newest that is not undone if no run is named; of it only these `actions` by their ids, or those
        on memories of these scopes, and on one of the memories whose ids begin as in `only`.

        Raises:
            UsageError: If the run did nothing of that kind.
        """
        runs = [self.journal.run(run)] if run is not None else self.journal.runs(self.store.fingerprint)
        found = next((each for each in runs if run or each.state is not RunState.UNDONE), None)
        if found is None:
            raise JournalError("This store has no run that could be taken back.")
        named, part = tuple(only), frozenset(actions) or None
        if part is not None:
            if not part <= {action.id for action in parse_plan(found.plan).actions}:
                raise UsageError("The run did nothing of that name; nothing was taken back.")
        elif named or scopes is not None:
            part = part_of(parse_plan(found.plan), named, scopes or ScopeFilter())
        return self._writer(found.store).undo(found, at=now, part=part)

    def resume(self, run: str | None = None, *, now: datetime) -> RunResult | UndoResult:
        """Finish a run that was killed; the newest interrupted one if no name is given."""
        target = self.journal.run(run) if run else self.journal.interrupted(self.store.fingerprint)
        if target is None:
            raise JournalError("No run of this store was interrupted; there is nothing to resume.")
        with self._observer.stage("apply", None) as advance:
            return self._writer(target.store).resume(target, at=now, progress=advance)

    def reject(self, a: Memory, b: Memory, *, now: datetime) -> None:
        """Never propose anything about this pair again, until one of the texts changes."""
        self.journal.answer(self.store.fingerprint, [Answer.about_pair(a, b, at=now)])

    @property
    def answered(self) -> tuple[Answer, ...]:
        """What a person answered about this store: refusals, skips and undone actions."""
        return self.journal.answers(self.store.fingerprint)

    def withdraw(self, answers: Iterable[Answer]) -> None:
        """Take answers back, so that what they are about may be proposed again."""
        self.journal.withdraw(self.store.fingerprint, answers)

    def _writer(self, store: str = "") -> Writer:
        links = self.store.links if store.endswith(LINKS) else None
        if links is not None:
            return Writer(links, self.journal)
        return Writer(self.store, self.journal, access=self.access)


def part_of(plan: Plan, ids: Iterable[str], scopes: ScopeFilter) -> frozenset[str]:
    """The actions of a plan on memories of these scopes, and on these memories if any are named."""
    acting = [action for action in plan.actions if acts(action) and scopes.matches(action.scope)]
    named = [each.removeprefix(f"{plan.kind}:") for each in ids]
    part = {
        name: {a.id for a in acting if any(member.id.startswith(name) for member in a.members)}
        for name in named
    }
    missing = [name for name in named if not part[name]]
    if missing or not acting:
        told = f"memory {missing[0]}" if missing else "memories of that scope"
        raise UsageError(f"The run changed no {told}; nothing was taken back.")
    return frozenset().union(*part.values()) if named else frozenset(action.id for action in acting)


def scope_filter(**ids: str | None) -> ScopeFilter:
    """A filter from user_id, agent_id, run_id and app_id; a blank one would silently mean everything."""
    for name, value in ids.items():
        if value is not None and not value.strip():
            raise UsageError(f"{name} is empty; give an id, or leave the option out and use --all.")
    return ScopeFilter({name: value.strip() for name, value in ids.items() if value is not None})
