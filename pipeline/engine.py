"""One store, one pass: read, propose, ask nobody, apply what was approved, take it back.

The command line and the library both stand on `Session`. It owns what the pure stages must not
know: the state directory, the lock, the caches and the models.
"""

from __future__ import annotations

import contextlib
import secrets
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
from .answers import Answer, AnswerKind, open_conflicts, unanswered, with_pins
from .judging.cache import Cache, CachedEncoder, CachedScorer
from .judging.calibration import load_thresholds
from .judging.inventory import Circumstances
from .plan import Merge, Plan, Resolve, Side
from .planning.budget import Overdraft, check_budget, overdraft
from .planning.planner import judge_all
from .planning.stages import Observer, Silent, Stages
from .planning.unchanged import Planning, planned
from .results import RunResult, UndoResult
from .stores.base import ScopeFilter, Store
from .writing.access import AccessLog
from .writing.journal import Journal, Run, RunState
from .writing.state import state_directory, store_lock
from .writing.writer import Writer

if TYPE_CHECKING:
    from ..models.encoder import Encoder
    from ..models.scorer import PairScorer, Thresholds
    from .judging.cache import OnStage
    from .reporting.report import Report


SCOPE_IDS = ("user_id", "agent_id", "run_id", "app_id")
"""Ids by which a person names the memories to consolidate."""

KEPT_BACKUPS = 5
"""Copies of a store's files that are kept, one for each of the latest runs."""


ENGINES = {
    "graph": ("graph_session", "GraphSession"),
    "md": ("markdown_session", "MarkdownSession"),
}
"""Kinds of stores that plan and apply in a way of their own, and by which session."""


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
    ) -> None:
        """Open journal, access log and cache; models are loaded when they are first needed.

        Args:
            store: What to consolidate; the session closes it.
            settings: Limits; those of the store's own configuration if omitted.
            state_dir: Where journal and caches live; see `pipeline.writing.state`.
            encoder: Instead of the one the settings name.
            scorer: Instead of the one the settings name.
            observer: Is told how far a pass has come.
        """
        if type(self) is Session and store.kind in ENGINES:
            raise UsageError(
                f"A store of the kind {store.kind} needs a session of its own; open it with session_for()."
            )
        self.store = store
        self.settings = settings or read_settings(getattr(store, "section", {}))
        self.directory = state_directory(state_dir)
        self.journal = Journal(self.directory)
        self.access = AccessLog(self.directory)
        self._cache = Cache(self.directory)
        self._plans = Cache(state_directory(self.directory / "plans"))
        self._encoder = encoder
        self._scorer = scorer
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
        """Tell somebody else how far a pass has come."""
        self._observer = observer

    def read(self, scopes: ScopeFilter) -> Inventory:
        """List the memories of the matching scopes."""
        with self._observer.stage("fetch", None) as advance:
            inventory = self.store.read(scopes)
            advance(len(inventory.memories))
        self.inventory = with_pins(inventory, self.answered)
        return self.inventory

    def propose(self, scopes: ScopeFilter, *, now: datetime, unattended: bool = False) -> Plan:
        """Read the scopes and plan what to do about them; changes nothing.

        Args:
            scopes: Whose memories.
            now: The moment ages are reckoned from.
            unattended: Nobody will see the plan before it is applied: only what is certain.
        """
        inventory = self.read(scopes)
        answers = self.journal.answers(self.store.fingerprint)
        plan = self.plan(inventory, now=now, unattended=unattended)
        plan = unanswered(plan, self.journal.rejected(self.store.fingerprint))
        return replace(plan, left_open=open_conflicts(answers, inventory.memories))

    def plan(self, inventory: Inventory, *, now: datetime, unattended: bool = False) -> Plan:
        """Plan what to do about an inventory that was read already."""
        circumstances = replace(
            self._circumstances(now),
            unattended=unattended,
            tracked=self.access.tracked(self.store.fingerprint) if unattended else frozenset(),
            hygiene=frozenset(self.settings.hygiene_auto if unattended else self.settings.hygiene),
        )
        with Stages(self._observer) as stages:
            planning = Planning(
                kind=self.store.kind,
                encoder=CachedEncoder(self.encoder, self._cache, on_stage=stages),
                scorer=self.asked(on_stage=stages),
                settings=self.settings,
                circumstances=circumstances,
                in_place=self.store.capabilities.fold,
                amend=self.store.capabilities.amend,
            )
            return planned(inventory, planning, self._plans, stages)

    def second_opinion(self, plan: Plan, *, unattended: bool, say: Callable[[str], None]) -> Plan:
        """The plan after a language model was asked about its doubts, if the settings name one.

        Args:
            plan: What is proposed so far.
            unattended: Nobody will see the proposals, so only conflicts are added, unless
                `second_opinion_auto` says otherwise.
            say: Told in one line how many calls will be made, and in one what came of them.

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
                cache=self._cache,
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
        chosen = plan.with_choices(choices or {})
        if within_budget:
            check_budget(chosen, max_share=self.settings.max_delete, min_count=self.settings.min_delete)
        run = run_name(now)
        self._back_up(run)
        retire_on = _yesterday(now) if retire else None
        with self._observer.stage("apply", len(chosen.actions)) as advance:
            try:
                return self._writer().apply(chosen, run=run, at=now, retire_on=retire_on, progress=advance)
            except StoreError as error:
                if self.journal.interrupted(self.store.fingerprint) is None:
                    raise
                raise type(error)(
                    f"{error} Run {run} stopped half-way: finish it with `mem0-dream resume {run}` "
                    f"or take it back with `mem0-dream undo {run}`.",
                    ids=error.ids,
                ) from error

    def reporter(self, plan: Plan, *, explain: bool = False, texts: bool = False) -> Report:
        """What shows a plan to a person; a kind of store with changes of its own shows those, too."""
        from .reporting.report import Report

        return Report(plan, explain=explain, texts=texts)

    def remark(self, run: Run) -> str:  # noqa: ARG002
        """What a kind of store adds to a run's line in the list of all runs."""
        return ""

    def overdraft(self, plan: Plan) -> Overdraft | None:
        """What a person should be warned about before agreeing to a plan."""
        return overdraft(plan, max_share=self.settings.max_delete, min_count=self.settings.min_delete)

    def undo(self, run: str | None = None, *, now: datetime) -> UndoResult:
        """Take a run back; the newest that is not undone if no name is given."""
        return self._writer().undo(self._find(run), at=now)

    def resume(self, run: str | None = None, *, now: datetime) -> RunResult | UndoResult:
        """Finish a run that was killed; the newest interrupted one if no name is given."""
        found = self.journal.run(run) if run else self.journal.interrupted(self.store.fingerprint)
        if found is None:
            raise JournalError("No run of this store was interrupted; there is nothing to resume.")
        with self._observer.stage("apply", None) as advance:
            return self._writer().resume(found, at=now, progress=advance)

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
        if self._encoder is None:
            from ..models.registry import load_encoder

            self._encoder = load_encoder(self.settings.encoder, scorer=self.settings.scorer)
        return self._encoder

    @property
    def scorer(self) -> PairScorer:
        """The pair scorer, loaded on first use."""
        if self._scorer is None:
            from ..models.registry import load_scorer

            self._scorer = load_scorer(self.settings.scorer)
        return self._scorer

    def judged(self, scopes: ScopeFilter, *, now: datetime) -> tuple[dict[str, Memory], tuple[Verdict, ...]]:
        """The living, unpinned memories of the scopes by id, and what is thought of their pairs."""
        inventory = self.read(scopes)
        memories = [m for m in inventory.memories if not m.pinned and not m.is_retired(now.date())]
        verdicts = judge_all(
            memories,
            encoder=CachedEncoder(self.encoder, self._cache),
            scorer=CachedScorer(self.scorer, self._cache),
            settings=self.settings,
            circumstances=self._circumstances(now),
        )
        return {memory.id: memory for memory in memories}, verdicts

    def asked(self, *, on_stage: OnStage | None = None) -> PairScorer:
        """The scorer as a pass asks it: what it said before is not asked again."""
        return CachedScorer(self.scorer, self._cache, on_stage=on_stage)

    @property
    def thresholds(self) -> Thresholds:
        """Where the scorer's probabilities become decisions: a person's calibration, else its own."""
        return self.calibrated or self.scorer.thresholds

    @property
    def calibrated(self) -> Thresholds | None:
        """The thresholds of a person's own calibration for this scorer, if there is one."""
        return load_thresholds(self.directory, self.scorer.name)

    def _circumstances(self, now: datetime) -> Circumstances:
        return Circumstances(
            now=now,
            accessed=self.access.last(self.store.fingerprint),
            rejected=self.journal.rejected(self.store.fingerprint),
            thresholds=self.calibrated,
        )

    def _back_up(self, run: str) -> None:
        """Copy the files of a store that rewrites them whole; the journal alone is enough for others."""
        backup = getattr(self.store, "backup", None)
        folder = self.directory / "backups" / self.store.fingerprint
        if backup is not None and backup(folder / run):
            for old in sorted(folder.iterdir())[:-KEPT_BACKUPS]:
                shutil.rmtree(old)

    def _writer(self) -> Writer:
        return Writer(self.store, self.journal, access=self.access)

    def _find(self, run: str | None) -> Run:
        if run is not None:
            return self.journal.run(run)
        for found in self.journal.runs(self.store.fingerprint):
            if found.state is not RunState.UNDONE:
                return found
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


def run_name(now: datetime) -> str:
    """A new name for a run: when it began, and something that no other run has."""
    return f"{now.astimezone(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _yesterday(now: datetime) -> date:
    return now.astimezone(UTC).date() - timedelta(days=1)
