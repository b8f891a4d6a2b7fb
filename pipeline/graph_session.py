"""A session on a graph: the core's own, with the graph's way of planning."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import RefusedChangeError
from ..settings import Settings
from .engine import Session
from .judging.cache import CachedEncoder, CachedScorer, OnStage
from .plan import Member, Plan, Rewrite
from .planning.graph.merging import Judging, look_alikes
from .planning.graph.planner import Graph, graph_plan, with_relations
from .planning.graph.relation_plan import RelationChanges, relation_changes, with_supersedes
from .planning.graph.relations import dangling
from .planning.plan_file import parse_plan
from .planning.stages import Observer, Stages
from .reporting.graph.report import GraphReport
from .results import RunResult, UndoResult
from .rules.graph.attention import weights_of
from .rules.graph.history import Remembered, remembered
from .rules.graph.nodes import LEARNINGS, Node, nodes_of
from .rules.graph.settings import GraphSettings
from .stores.base import ScopeFilter
from .stores.graph.core_memory import CoreFile
from .stores.graph.lines import Document
from .stores.graph.restoring import restore_forgotten
from .stores.graph.sidecar import digest
from .stores.graph.store import GraphStore
from .stores.graph.text import BROKEN_LINES
from .writing.journal import Outcome, Run

if TYPE_CHECKING:
    from ..models.encoder import Encoder
    from ..models.scorer import PairScorer
    from ..records import Inventory
    from .plan import Side

_LAST, _FOCUS, _BROUGHT_BACK, _CORE = "last run", "focus", "brought back", "core memory of"


class GraphSession(Session):
    """Works on one knowledge graph.

    Attributes:
        relate: Whether new relations are proposed.
        repair_relations: Whether the removal of relations that lead nowhere or stand twice is proposed.
    """

    store: GraphStore
    relate: bool = False
    repair_relations: bool = False

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
        self.graph_settings = self._limits(graph or GraphSettings())

    def _limits(self, given: GraphSettings) -> GraphSettings:
        """The limits that were given, and for all others those that the core memory itself states."""
        if self.store.core is None:
            return given
        try:
            stated = self.store.core.limits()
        except RefusedChangeError:  # told when something is to be promoted
            return given
        new = {name: value for name, value in stated.items() if name not in given.model_fields_set}
        return given.model_copy(update=new)

    def judging(self, now: datetime, *, on_stage: OnStage | None = None) -> Judging:
        """Models and limits at a moment."""
        return Judging(
            encoder=self._reader(on_stage),
            scorer=self.scorer
            if self._counts_words
            else CachedScorer(self.scorer, self._cache, on_stage=on_stage),
            settings=self.graph_settings,
            neighbours=self.settings.neighbours,
            floor=self.settings.floor,
            now=now,
            thresholds=self.calibrated,
            rejected=self.journal.rejected(self.store.fingerprint),
        )

    def look_alikes(self, nodes: Sequence[Node]) -> int:
        """How many memories another one may replace; no scorer is asked for that."""
        near = self.settings.neighbours
        return look_alikes(nodes, self._reader(), settings=self.graph_settings, neighbours=near)

    @property
    def _counts_words(self) -> bool:
        """Words are counted faster than a cache is asked."""
        return self.settings.scorer == "keywords" and self.settings.encoder in (None, "words")

    def _reader(self, on_stage: OnStage | None = None) -> Encoder:
        if self._counts_words:
            return self.encoder
        return CachedEncoder(self.encoder, self._cache, on_stage=on_stage)

    def plan(self, inventory: Inventory, *, now: datetime, unattended: bool = False) -> Plan:
        """Plan what to do about a graph; unattended only what is certain."""
        with Stages(self._observer) as stages:
            plan = graph_plan(self._graph(inventory, now), self.judging(now, on_stage=stages))
        return _certain(plan) if unattended else plan

    def with_relations(self, plan: Plan, *, now: datetime) -> Plan:
        """The plan with relations that fit merges which a person added to it."""
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
            relates=self.relate,
            repairs=self.repair_relations,
        )

    def reporter(self, plan: Plan, *, explain: bool = False, texts: bool = False) -> GraphReport:  # noqa: ARG002
        """What shows a plan, with every relation that it would change."""
        document = self.store.document()
        changes = relation_changes(document, plan.actions)
        kept = set(dangling(document.names, document.relations)) - set(changes.removed)
        return GraphReport(plan, explain=explain, relations=changes, open_relations=sorted(kept))

    def decided(self, plan: Plan, choices: Mapping[str, Side | None]) -> Plan:
        """The plan with a person's answers, and with what follows from them."""
        return with_supersedes(plan.with_choices(choices), self.store.document())

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
        chosen = self.decided(plan, choices or {})
        self.store.follow(chosen, at=now)
        result = super().apply(chosen, now=now, retire=retire, within_budget=within_budget)
        if result.run:
            self._note_core(result.run, now=now)
        self.remember(now=now, run=result.run)
        return result

    def _back_up(self, run: str) -> None:
        """Copy the files of the store, and note which core memory the run begins with."""
        super()._back_up(run)
        core = self.store.core
        if core is not None:
            before = core.read()
            if before is not None:
                self.store.sidecar.keep_image(before)
            noted = {"path": str(core.path), "before": None if before is None else digest(before)}
            self.store.sidecar.note(f"{_CORE} {run}", noted)

    def _note_core(self, run: str, *, now: datetime) -> None:
        """Note the day in the core memory, and how the run left it."""
        noted, core = self._find_core(run), self.store.core
        if core is None or not noted:
            return
        # A damaged file was told before, and what is in it stays.
        with contextlib.suppress(RefusedChangeError):
            core.consolidated(at=now)
        after = core.read()
        left = {"after": None if after is None else digest(after)}
        self.store.sidecar.note(f"{_CORE} {run}", noted | left)

    def _find_core(self, run: str) -> dict[str, Any]:
        """What was noted about the core memory of a run; it is opened if none was given."""
        held = self.store.sidecar.noted(f"{_CORE} {run}")
        noted = held if isinstance(held, dict) else {}
        if self.store.core is None and noted:
            self.store.core = CoreFile(Path(noted["path"]))
        return noted

    def repair(self, *, now: datetime) -> RunResult | None:
        """Move the lines that nobody can read to the archive, as a run that can be taken back.

        Returns:
            What was done; None if there is no such line.
        """
        if not self.store.document().broken:
            return None
        memory = self.store.parse(self.store.fetch([BROKEN_LINES])[BROKEN_LINES])
        count = len(self.store.document().broken)
        move = Rewrite(
            id="broken",
            scope=memory.scope,
            category=memory.category,
            members=(Member.of(memory),),
            text="",
            reason=f"move {count} broken lines to the archive",
        )
        plan = Plan(self.store.fingerprint, self.store.kind, now, "none", totals=(), actions=(move,))
        return self.apply(plan, now=now)

    def undo(self, run: str | None = None, *, now: datetime) -> UndoResult:
        """Take a run back, and its core memory where it is as the run left it; see `Session.undo`."""
        found = self._find(run)
        noted, core = self._find_core(found.id), self.store.core
        current = core.read() if core is not None else None
        left = "after" in noted and noted["after"] == (None if current is None else digest(current))
        image = self.store.sidecar.image(noted["before"]) if noted.get("before") else None
        if core is not None and left and (image is not None or noted["before"] is None):
            core.put_back(image)
        return super().undo(found.id, now=now)

    def relation_changes(self, run: str) -> RelationChanges | None:
        """What a run did to relations; None if the state before it is not known any more."""
        found = self.journal.changes(run) if run else ()
        touched = next((change.memory for change in found if change.memory), None)
        if touched is None:
            return RelationChanges()
        sha = self.journal.snapshot(run, touched).links[0]["sha"]
        before = self.store.sidecar.image(sha)
        if before is None:
            return None
        outcomes = self.journal.outcomes(run)
        done = {name for name, (outcome, _) in outcomes.items() if outcome is Outcome.APPLIED}
        actions = parse_plan(self.journal.run(run).plan).actions
        return relation_changes(Document.parse(before), [action for action in actions if action.id in done])

    def remark(self, run: Run) -> str:
        """What else there is to say about a run in the list of all."""
        changes = self.relation_changes(run.id)
        return f", {changes.counts}" if changes else ""

    def resume(self, run: str | None = None, *, now: datetime) -> RunResult | UndoResult:
        """Finish a run that was killed; see `Session.resume`."""
        found = self.journal.run(run) if run else self.journal.interrupted(self.store.fingerprint)
        if found is not None:
            self._find_core(found.id)
            self.store.follow(parse_plan(found.plan), at=now)
        result = super().resume(run, now=now)
        if found is not None and isinstance(result, RunResult):
            self._note_core(found.id, now=now)
        return result

    def planned(self, run: str) -> Plan | None:
        """What a run was to do, answers of a person included; None for a run that had nothing to do."""
        return parse_plan(self.journal.run(run).plan) if run else None

    def remember(self, *, now: datetime, run: str = "") -> None:
        """Note how every memory stands now, and after which run, for the next `reflect` and `--if-due`."""
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


def _certain(plan: Plan) -> Plan:
    """Without the forgetting of what may be a fact about a person, and is no learning."""
    held = {item.id for item in plan.prunes if (item.category or "").casefold() not in LEARNINGS}
    if not held:
        return plan
    kept = tuple(action for action in plan.actions if action.id not in held)
    return replace(plan, actions=kept, notes=(*plan.notes, _HELD.format(count=len(held))))


_HELD = "{count} memories may be forgotten; a person decides."
