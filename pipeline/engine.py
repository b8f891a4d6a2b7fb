"""One store, one pass: read, propose, ask nobody, apply what was approved, take it back.

The command line and the library both stand on `Session`. It owns what the pure stages must not
know: the state directory, the lock, the caches and the models.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from ..errors import JournalError, StoreError, UsageError
from ..settings import Settings, read_settings
from .access import AccessLog
from .budget import Overdraft, check_budget, overdraft
from .cache import Cache, CachedEncoder, CachedScorer
from .calibration import load_thresholds
from .journal import Journal, Run, RunState
from .plan import Merge, Plan, Resolve, Side
from .planner import Circumstances, build_plan, judge_all
from .records import Inventory, Memory, Verdict, rejection_key
from .results import RunResult, UndoResult
from .state import state_directory, store_lock
from .stores.base import ScopeFilter, Store
from .writer import Writer

if TYPE_CHECKING:
    from ..models.encoder import Encoder
    from ..models.scorer import PairScorer, Thresholds
    from .report import Report

logger = logging.getLogger(__name__)

SCOPE_IDS = ("user_id", "agent_id", "run_id", "app_id")
"""Ids by which a person names the memories to consolidate."""

KEPT_BACKUPS = 5
"""Copies of a store's files that are kept, one for each of the latest runs."""


class Observer(Protocol):
    """Is told how far a pass has come; the command line draws bars, the library stays silent."""

    def stage(self, name: str, total: int | None) -> contextlib.AbstractContextManager[Advance]:
        """Begin a stage of `total` units (None if unknown)."""
        ...


class Advance(Protocol):
    """Moves a stage forward."""

    def __call__(self, done: int, /) -> None:
        """Report the number of units done so far."""
        ...


class Silent:
    """An observer that shows nothing."""

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Advance]:  # noqa: ARG002
        """Run the stage without a sign."""
        yield lambda _done: None


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What a pass proposed, and what was done about it.

    Attributes:
        plan: Everything proposed.
        result: What was applied; None after a dry run.
    """

    plan: Plan
    result: RunResult | None = None


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
            state_dir: Where journal and caches live; see `pipeline.state`.
            encoder: Instead of the one the settings name.
            scorer: Instead of the one the settings name.
            observer: Is told how far a pass has come.
        """
        self.store = store
        self.settings = settings or read_settings(getattr(store, "section", {}))
        self.directory = state_directory(state_dir)
        self.journal = Journal(self.directory)
        self.access = AccessLog(self.directory)
        self._cache = Cache(self.directory)
        self._encoder = encoder
        self._scorer = scorer
        self._observer = observer or Silent()

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

    def locked(self) -> contextlib.AbstractContextManager[None]:
        """Keep other runs away from this store.

        Raises:
            StoreLockedError: On entering, if another run is under way.
        """
        return store_lock(self.directory, self.store.fingerprint)

    def read(self, scopes: ScopeFilter) -> Inventory:
        """List the memories of the matching scopes."""
        with self._observer.stage("fetch", None) as advance:
            inventory = self.store.read(scopes)
            advance(len(inventory.memories))
        return inventory

    def propose(self, scopes: ScopeFilter, *, now: datetime) -> Plan:
        """Read the scopes and plan what to do about them; changes nothing."""
        return self.plan(self.read(scopes), now=now)

    def plan(self, inventory: Inventory, *, now: datetime) -> Plan:
        """Plan what to do about an inventory that was read already."""
        circumstances = self._circumstances(now)
        with contextlib.ExitStack() as stages:
            embed = stages.enter_context(self._observer.stage("embed", len(inventory.memories)))
            score = stages.enter_context(self._observer.stage("score", None))
            return build_plan(
                inventory,
                kind=self.store.kind,
                encoder=CachedEncoder(self.encoder, self._cache, on_progress=embed),
                scorer=CachedScorer(self.scorer, self._cache, on_progress=score),
                settings=self.settings,
                circumstances=circumstances,
                in_place=self.store.capabilities.fold,
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
        run = _run_name(now)
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

    def reporter(self, plan: Plan, *, explain: bool = False) -> Report:
        """What shows a plan to a person; a kind of store with changes of its own shows those, too."""
        from .report import Report

        return Report(plan, explain=explain)

    def remark(self, run: Run) -> str:  # noqa: ARG002
        """What a kind of store adds to a run's line in the list of all runs."""
        return ""

    def certain(self, plan: Plan) -> Plan:
        """What of a plan may be done while nobody looks; a kind of store may keep back more than the core."""
        return plan

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

    def remember_skips(self, skipped: Iterable[Merge | Resolve], *, now: datetime) -> None:
        """Do not ask again about what a person left open, until one of the texts changes."""
        pairs = []
        for action in skipped:
            members = {member.id: member for member in action.members}
            pairs += [rejection_key(members[v.pair.a], members[v.pair.b]) for v in action.verdicts]
        self.journal.reject(self.store.fingerprint, pairs, at=now)

    def reject(self, a: Memory, b: Memory, *, now: datetime) -> None:
        """Never propose anything about this pair again, until one of the texts changes."""
        self.journal.reject(self.store.fingerprint, [rejection_key(a, b)], at=now)

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

    @property
    def thresholds(self) -> Thresholds:
        """Where the scorer's probabilities become decisions: a person's calibration, else its own."""
        return load_thresholds(self.directory, self.scorer.name) or self.scorer.thresholds

    def _circumstances(self, now: datetime) -> Circumstances:
        return Circumstances(
            now=now,
            accessed=self.access.last(self.store.fingerprint),
            rejected=self.journal.rejected(self.store.fingerprint),
            thresholds=self.thresholds,
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


def consolidate(
    store: Store,
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    run_id: str | None = None,
    app_id: str | None = None,
    all_scopes: bool = False,
    apply: bool = False,
    retire: bool = False,
    settings: Settings | None = None,
    state_dir: Path | str | None = None,
    now: datetime | None = None,
) -> Consolidation:
    """Consolidate a store: what `mem0-dream` does, in one call.

    Without `apply` nothing is changed. With it merges and prunes are applied as `--auto` does, and
    contradictions are left to a person. The store is left open.

    Raises:
        UsageError: If neither an id nor `all_scopes` says whose memories are meant.
        BudgetExceededError: If the plan removes more than the delete budget.
    """
    scopes = scope_filter(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id)
    if not scopes.ids and not all_scopes:
        raise UsageError(
            "Say whose memories to consolidate: user_id, agent_id, run_id or app_id, or all_scopes=True."
        )
    moment = now or datetime.now(UTC)
    session = _session_on(store, scopes, settings=settings, state_dir=state_dir)
    try:
        with session.locked():
            plan = session.propose(scopes, now=moment)
            result = session.apply(session.certain(plan), now=moment, retire=retire) if apply else None
    finally:
        session.release()
    return Consolidation(plan, result)


def _session_on(
    store: Store, scopes: ScopeFilter, *, settings: Settings | None, state_dir: Path | str | None
) -> Session:
    """The session that keeps to the rules of a store's kind."""
    from .stores.graph import GraphStore

    if not isinstance(store, GraphStore):
        return Session(store, settings=settings, state_dir=state_dir)
    if scopes.ids:
        raise UsageError("A knowledge graph knows no user, agent, run or app; use all_scopes=True.")
    from .graph.session import GraphSession

    return GraphSession(store, settings=settings, state_dir=state_dir)


def _run_name(now: datetime) -> str:
    return f"{now.astimezone(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _yesterday(now: datetime) -> date:
    return now.astimezone(UTC).date() - timedelta(days=1)
