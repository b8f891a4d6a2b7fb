"""One store, one pass: read, propose, apply what was approved, take it back; asks no questions.

The command line and the library both stand on `Session`. It owns what the pure stages must not
know: the state directory, the lock, the caches and the models.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ..errors import JournalError, StoreError, UsageError
from ..records import Inventory, Memory, Verdict
from ..settings import Settings, read_settings
from .actions import Merge, Resolve, Side, acts
from .answers import Answer, AnswerKind, open_conflicts, with_pins
from .judging.models import Models
from .kinds import kind_of
from .plan import Plan
from .planning.budget import Overdraft, check_budget, overdraft
from .planning.planner import judge_all
from .planning.proposal import Means, Planner, Proposal
from .planning.stages import Observer, Silent
from .results import RunResult, UndoResult
from .stores.base import Configured, ScopeFilter, Store
from .writing.access import AccessLog
from .writing.journal import Journal, Run, RunState
from .writing.state import state_directory, store_lock
from .writing.writer import Writer

if TYPE_CHECKING:
    from ..models.encoder import Encoder
    from ..models.scorer import PairScorer, Thresholds
    from .reporting.passing import PassReport


SCOPE_IDS = ("user_id", "agent_id", "run_id", "app_id")
"""Ids by which a person names the memories to consolidate."""

KEPT_BACKUPS = 5
"""Copies of a store's files that are kept, one for each of the latest runs."""


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
        planner: Planner | None = None,
    ) -> None:
        """Open journal, access log and cache; models are loaded when they are first needed.

        Args:
            store: What to consolidate; the session closes it.
            settings: Limits; those of the store's own configuration if omitted.
            state_dir: Where journal and caches live; see `pipeline.writing.state`.
            encoder: Instead of the one the settings name.
            scorer: Instead of the one the settings name.
            observer: Is told how far a pass has come.
            planner: How this kind of store is planned for, and what is wanted; everything if omitted.
        """
        self.store = store
        self.kind = kind_of(store)
        self.planner: Planner = planner or self.kind.planner(store)
        stated = store.section if isinstance(store, Configured) else {}
        self.settings = self.planner.limits(settings or read_settings(stated))
        self.directory = state_directory(state_dir)
        self.journal = Journal(self.directory)
        self.access = AccessLog(self.directory)
        self.models = Models(self.settings, self.directory, encoder=encoder, scorer=scorer)
        self._observer = observer or Silent()
        self.inventory: Inventory | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the store and all files."""
        self.store.close()
        self.release()

    def release(self) -> None:
        """Release all files, and leave the store to its owner."""
        self.journal.close()
        self.access.close()

    def locked(self, *, wait_s: float = 0.0) -> contextlib.AbstractContextManager[None]:
        """Keep other runs away from this store, after so many seconds of waiting at most.

        Raises:
            StoreLockedError: On entering, if another run is under way.
        """
        return store_lock(self.directory, self.store.fingerprint, wait_s=wait_s)

    def watch(self, observer: Observer) -> None:
        """Report progress to this observer from now on."""
        self._observer = observer

    def read(self, scopes: ScopeFilter) -> Inventory:
        """List the memories of the matching scopes."""
        with self._observer.stage("fetch", None) as advance:
            inventory = self.store.read(scopes)
            advance(len(inventory.memories))
        self.inventory = with_pins(inventory, self.answered)
        return self.inventory

    def look(
        self,
        scopes: ScopeFilter,
        *,
        now: datetime,
        unattended: bool = False,
        say: Callable[[str], None] | None = None,
    ) -> Proposal:
        """Read the scopes and propose what to do about them; changes nothing.

        Args:
            scopes: Whose memories.
            now: The moment ages are reckoned from.
            unattended: No person will see the plan before it is applied: only what is certain.
            say: Called with the outcome of a second opinion; without it none is asked for.
        """
        return self._proposal(self.read(scopes), now=now, unattended=unattended, say=say)

    def complete(self, proposal: Proposal, choices: Mapping[str, Side | None], *, now: datetime) -> Proposal:
        """What follows from a person's answers; nothing is judged that was judged before.

        Args:
            proposal: Of `look`; doubts that were agreed to stand among the actions of its `asked`.
            choices: The side that stays, by conflict; the others are left open.
            now: As for `look`.
        """
        return self.planner.complete(proposal, choices, self.means(now))

    def propose(self, scopes: ScopeFilter, *, now: datetime, unattended: bool = False) -> Plan:
        """The plan of `look`."""
        return self.look(scopes, now=now, unattended=unattended).plan

    def plan(self, inventory: Inventory, *, now: datetime, unattended: bool = False) -> Plan:
        """Plan what to do about an inventory that was read already."""
        return self._proposal(inventory, now=now, unattended=unattended).plan

    def means(self, now: datetime, *, unattended: bool = False) -> Means:
        """What the planner works with."""
        store = self.store.fingerprint
        return Means(
            models=self.models,
            settings=self.settings,
            now=now,
            unattended=unattended,
            accessed=self.access.last(store),
            tracked=self.access.tracked(store),
            answers=self.journal.answers(store),
            rejected=self.journal.rejected(store),
            observer=self._observer,
        )

    def _proposal(
        self,
        inventory: Inventory,
        *,
        now: datetime,
        unattended: bool,
        say: Callable[[str], None] | None = None,
    ) -> Proposal:
        means = self.means(now, unattended=unattended)
        left_open = open_conflicts(means.answers, inventory.memories)

        def advise(plan: Plan) -> Plan:
            """The plan after a second opinion, if one is wanted."""
            return plan if say is None else self.second_opinion(plan, unattended=unattended, say=say)

        proposal = self.planner.propose(inventory, replace(means, advise=advise))
        asked = replace(proposal.asked, left_open=left_open)
        return replace(proposal, plan=replace(proposal.plan, left_open=left_open), asked=asked)

    def second_opinion(self, plan: Plan, *, unattended: bool, say: Callable[[str], None]) -> Plan:
        """The plan after a language model was asked about its doubts, if the settings name one.

        Args:
            plan: What is proposed so far.
            unattended: No person will see the proposals, so only conflicts are added, unless
                `second_opinion_auto` says otherwise.
            say: Called with one line about the calls to be made, and one about their outcome.

        Raises:
            DreamError: If the model that was named cannot be used at all; silence is no error.
        """
        if not self.settings.second_opinion or not plan.unsure or plan.gaps:
            return plan
        from .planning.opinions import advise

        with self._observer.stage("ask", None) as advance:
            return advise(
                plan,
                settings=self.settings,
                store=self.store,
                cache=self.models.cache,
                unattended=unattended,
                say=say,
                progress=advance,
            )

    def apply(
        self,
        plan: Plan,
        *,
        now: datetime,
        choices: Mapping[str, Side | None] | None = None,
        retire: bool = False,
        within_budget: bool = True,
    ) -> RunResult:
        """Apply a plan as one run that can be resumed and undone.

        Args:
            plan: What to do.
            now: The present moment; it names the run and dates what is retired.
            choices: Answers to conflicts, by action id; the others are left open.
            retire: Expire memories instead of deleting them.
            within_budget: Refuse a plan over the delete budget.

        Raises:
            BudgetExceededError: If the plan is over budget.
        """
        chosen = self.planner.answered(plan, choices or {})
        if within_budget:
            check_budget(chosen, max_share=self.settings.max_delete, min_count=self.settings.min_delete)
        run = self.journal.new_name(now)
        if not chosen.gaps and any(map(acts, chosen.actions)):
            self._back_up(run)
        retire_on = _yesterday(now) if retire else None
        with self._observer.stage("apply", len(chosen.actions)) as advance:
            try:
                result = self._writer().apply(chosen, run=run, at=now, retire_on=retire_on, progress=advance)
            except StoreError as error:
                if self.journal.interrupted(self.store.fingerprint) is None:
                    raise
                raise type(error)(
                    f"{error} Run {run} stopped half-way: finish it with `mem0-dream resume {run}` "
                    f"or take it back with `mem0-dream undo {run}`.",
                    ids=error.ids,
                ) from error
        self.planner.remember(now=now, run=result.run)
        return result

    def completed(self, plan: Plan) -> Plan:
        """A plan that was read, edited and answered elsewhere, as it will be applied to this store."""
        return self.planner.completed(plan) if plan.store == self.store.fingerprint else plan

    def reporter(
        self, proposed: Plan | Proposal, *, explain: bool = False, texts: bool = False
    ) -> PassReport:
        """What shows a plan to a person, with all that its kind of store does besides.

        Args:
            proposed: What to show; of a mere plan only what follows from it alone is known.
            explain: Add texts, scores and evidence under each line.
            texts: Add the texts of what is to go for good, even without `explain`.
        """
        proposal = Proposal.of(proposed) if isinstance(proposed, Plan) else proposed
        return self.kind.report(
            self.store, self.planner, self.journal, proposal, explain=explain, texts=texts
        )

    def remark(self, run: Run) -> str:
        """What a kind of store adds to a run's line in the list of all runs."""
        return self.kind.remark(self.store, self.journal, run)

    def overdraft(self, plan: Plan) -> Overdraft | None:
        """What a person should be warned about before agreeing to a plan."""
        return overdraft(plan, max_share=self.settings.max_delete, min_count=self.settings.min_delete)

    def undo(self, run: str | None = None, *, now: datetime) -> UndoResult:
        """Take a run back; the newest that is not undone if no name is given."""
        return self._writer().undo(self._find(run), at=now)

    def resume(self, run: str | None = None, *, now: datetime) -> RunResult | UndoResult:
        """Finish a run that was killed; the newest interrupted one if no name is given."""
        target = self.journal.run(run) if run else self.journal.interrupted(self.store.fingerprint)
        if target is None:
            raise JournalError("No run of this store was interrupted; there is nothing to resume.")
        with self._observer.stage("apply", None) as advance:
            return self._writer().resume(target, at=now, progress=advance)

    def remember_skips(self, skipped: Iterable[Merge | Resolve], *, now: datetime, run: str = "") -> None:
        """Do not ask again about what a person left open, until one of the texts changes.

        Args:
            skipped: What was left open.
            now: When.
            run: The run that was agreed to along with it; undoing it asks again.
        """
        answers = [Answer.to(action, AnswerKind.SKIPPED, at=now, run=run) for action in skipped]
        self.journal.answer(self.store.fingerprint, answers)

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

    @property
    def encoder(self) -> Encoder:
        """The encoder, loaded on first use."""
        return self.models.encoder

    @property
    def scorer(self) -> PairScorer:
        """The pair scorer, loaded on first use."""
        return self.models.scorer

    @property
    def thresholds(self) -> Thresholds:
        """Where the scorer's probabilities become decisions: a person's calibration, else its own."""
        return self.models.thresholds

    def judged(self, scopes: ScopeFilter, *, now: datetime) -> tuple[dict[str, Memory], tuple[Verdict, ...]]:
        """The living, unpinned memories of the scopes by id, and the verdicts on their pairs."""
        inventory = self.read(scopes)
        memories = [m for m in inventory.memories if not m.pinned and not m.is_retired(now.date())]
        verdicts = judge_all(
            memories,
            encoder=self.models.read(),
            scorer=self.models.asked(),
            settings=self.settings,
            circumstances=self.means(now).circumstances,
        )
        return {memory.id: memory for memory in memories}, verdicts

    def _back_up(self, run: str) -> None:
        """Copy the files of a store that rewrites them whole; the journal alone is enough for others."""
        folder = self.directory / "backups" / self.store.fingerprint
        if self.store.backup(folder / run) and folder.exists():
            for old in sorted(folder.iterdir())[:-KEPT_BACKUPS]:
                shutil.rmtree(old)

    def _writer(self) -> Writer:
        return Writer(self.store, self.journal, access=self.access)

    def _find(self, run: str | None) -> Run:
        if run is not None:
            return self.journal.run(run)
        for record in self.journal.runs(self.store.fingerprint):
            if record.state is not RunState.UNDONE:
                return record
        raise JournalError("This store has no run that could be taken back.")


def scope_filter(**ids: str | None) -> ScopeFilter:
    """Build a filter from user_id, agent_id, run_id and app_id.

    Raises:
        UsageError: If an id is given but blank, which would silently mean everything.
    """
    for name, value in ids.items():
        if value is not None and not value.strip():
            raise UsageError(f"{name} is empty; give an id, or leave the option out and use --all.")
    return ScopeFilter({name: value.strip() for name, value in ids.items() if value is not None})


def _yesterday(now: datetime) -> date:
    return now.astimezone(UTC).date() - timedelta(days=1)
