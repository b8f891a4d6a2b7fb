"""A session on a graph: the core's own, with the graph's way of planning."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ...settings import Settings
from ..cache import CachedEncoder, CachedScorer, OnStage
from ..engine import Observer, Session
from ..plan_file import parse_plan
from ..results import RunResult, UndoResult
from ..stages import Stages
from ..stores.graph import GraphStore
from .attention import weights_of
from .history import Remembered, remembered
from .merging import Judging
from .nodes import nodes_of
from .planning import Graph, graph_plan, with_relations, with_supersedes
from .restoring import restore_forgotten
from .settings import GraphSettings

if TYPE_CHECKING:
    from ...models.encoder import Encoder
    from ...models.scorer import PairScorer
    from ..plan import Plan, Side
    from ..records import Inventory

_LAST, _FOCUS, _BROUGHT_BACK = "last run", "focus", "brought back"


class GraphSession(Session):
    """Works on one knowledge graph."""

    store: GraphStore

    def __init__(
        self,
        store: GraphStore,
        *,
        settings: Settings | None = None,
        graph: GraphSettings | None = None,
        state_dir: Path | str | None = None,
        encoder: Encoder | None = None,
        scorer: PairScorer | None = None,
        observer: Observer | None = None,
    ) -> None:
        """Open journal, access log and cache.

        Args:
            store: What to consolidate; the session closes it.
            settings: Limits of the core.
            graph: Limits of the graph.
            state_dir: Where journal and caches live.
            encoder: Instead of the one the settings name.
            scorer: Instead of the one the settings name.
            observer: Is told how far a pass has come.
        """
        super().__init__(
            store, settings=settings, state_dir=state_dir, encoder=encoder, scorer=scorer, observer=observer
        )
        self.graph_settings = graph or GraphSettings()

    def judging(self, now: datetime, *, on_stage: OnStage | None = None) -> Judging:
        """Models and limits at a moment."""
        # Words are counted faster than a cache is asked.
        words = self.settings.scorer == "keywords" and self.settings.encoder in (None, "words")
        return Judging(
            encoder=self.encoder if words else CachedEncoder(self.encoder, self._cache, on_stage=on_stage),
            scorer=self.scorer if words else CachedScorer(self.scorer, self._cache, on_stage=on_stage),
            settings=self.graph_settings,
            neighbours=self.settings.neighbours,
            floor=self.settings.floor,
            now=now,
            thresholds=self.calibrated,
            rejected=self.journal.rejected(self.store.fingerprint),
        )

    def plan(self, inventory: Inventory, *, now: datetime, unattended: bool = False) -> Plan:  # noqa: ARG002
        """Plan what to do about a graph."""
        with Stages(self._observer) as stages:
            return graph_plan(self._graph(inventory, now), self.judging(now, on_stage=stages))

    def with_relations(self, plan: Plan, *, now: datetime) -> Plan:
        """The plan with relations that fit merges which a person added to it."""
        from ..stores.base import ScopeFilter

        return with_relations(plan, self._graph(self.store.read(ScopeFilter()), now), self.judging(now))

    def _graph(self, inventory: Inventory, now: datetime) -> Graph:
        nodes = nodes_of(inventory.memories)
        return Graph(
            inventory=inventory,
            document=self.store.document(),
            kind=self.store.kind,
            scope=self.store.scope,
            weights=weights_of(nodes, now=now, settings=self.graph_settings, focus=self.focus)
            | dict.fromkeys(self._brought_back(now), 1.0),
            promotes=self.store.core is not None,
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
        """Apply a plan; see `Session.apply`. A settled contradiction leaves a `supersedes` relation."""
        chosen = with_supersedes(plan.with_choices(choices or {}), self.store.document())
        self.store.follow(chosen, at=now)
        result = super().apply(chosen, now=now, retire=retire, within_budget=within_budget)
        self.remember(now=now, run=result.run)
        return result

    def resume(self, run: str | None = None, *, now: datetime) -> RunResult | UndoResult:
        """Finish a run that was killed; see `Session.resume`."""
        found = self.journal.run(run) if run else self.journal.interrupted(self.store.fingerprint)
        if found is not None:
            self.store.follow(parse_plan(found.plan), at=now)
        return super().resume(run, now=now)

    def planned(self, run: str) -> Plan | None:
        """What a run was to do, answers of a person included; None for a run that had nothing to do."""
        return parse_plan(self.journal.run(run).plan) if run else None

    def remember(self, *, now: datetime, run: str = "") -> None:
        """Note how every memory stands now, and after which run, for the next `reflect` and `--if-due`."""
        from ..stores.base import ScopeFilter

        nodes = nodes_of(self.store.read(ScopeFilter()).memories)
        self.store.sidecar.note(_LAST, Remembered.of(nodes, now=now, run=run).to_json())

    def bring_back(self, name: str, *, now: datetime) -> tuple[int, int]:
        """Restore a forgotten memory, and do not forget it again soon; see `restore_forgotten`."""
        counts = restore_forgotten(self.store, name)
        held = self.store.sidecar.noted(_BROUGHT_BACK)
        known = held if isinstance(held, dict) else {}
        self.store.sidecar.note(_BROUGHT_BACK, known | {name: now.isoformat()})
        return counts

    def _brought_back(self, now: datetime) -> list[str]:
        """What a person brought back is kept as long as if it had been used on that day."""
        held = self.store.sidecar.noted(_BROUGHT_BACK)
        rows = held.items() if isinstance(held, dict) else ()
        limit = self.graph_settings.forget_unused
        return [name for name, at in rows if now - datetime.fromisoformat(at) <= limit]

    @property
    def last(self) -> Remembered | None:
        """How every memory stood after the last run; None if there was none."""
        return remembered(self.store.sidecar.noted(_LAST))

    @property
    def focus(self) -> str | None:
        """The topic that a person set."""
        found = self.store.sidecar.noted(_FOCUS)
        return found if isinstance(found, str) else None

    @focus.setter
    def focus(self, topic: str | None) -> None:
        """Set it, or take it back with None."""
        self.store.sidecar.note(_FOCUS, topic)
