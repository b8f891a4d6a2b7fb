"""A kind of store: the small adapter through which the one engine plans, follows and reports.

An adapter is bound to one open store and to what is wanted of it. The engine (`planning.engine`) makes
every plan in the same steps and calls a hook where kinds differ; `planning.hooks` has the exact types. What
each hook gets and gives:

view(inventory, means) -> View
    Gets what the store holds and the circumstances (`Means`: models, settings, `now`, `unattended`,
    answers). Gives the units that are judged, by the store's ids, in the words in which they are judged;
    without what is pinned, retired, or goes whatever else is decided. A kind keeps what it found out
    besides (drift, nodes, secrets) in a subclass of `View`; every later hook gets that same object, and so
    does the report, as `Proposal.findings`. This is the only hook of planning that may read the store.
rules(view, means, merges) -> Found
    What only this kind knows: prunes, new texts (`Rewrite`, `Append`, `Promote`) and doubts of its own. It
    is asked first with no merges, then again with those that were drafted, until no further prune comes; a
    prune of a unit yields to a merge that keeps the fact, a new text yields to every other action on its
    memory.
judge(view, means, on_stage) -> Judge
    Who judges pairs of units; by default `judging.inventory.Judging` with the session's models. A kind may
    put a screen before the scorer or have pairs of its own.
may_merge(a, b) -> bool
    Whether two units that were judged duplicates may be merged without a person; where not, it is a
    question.
unite(units, among, entails) -> United
    What units become: who stays, and the text (or observations) that is alive afterwards. Raises
    `MergeRefused` rather than lose anything. The engine proves a new text against each source and under a
    second pass.
conflicts(view, verdicts, actions) -> conflicts
    What contradicts among what stays; by default one conflict for each two contradicting facts.
follow(plan, present) -> Plan
    The consequences: links, indexes, relations, cut sentences. The one function for all of it: the engine
    calls it on the plan that is proposed, on the plan with a person's answers, and on a plan that was read
    from a file. It is pure, judges nothing, and may be called on its own result, which it gives back
    unchanged: what it added earlier it recognises by class (`Reindex`, `Relate`) or cause, takes out and
    makes anew. Gets conflicts with their `choice` set (None: open). Keeps the ids of all other actions, and
    names its own by what they change, never by counting. `present` is what `present()` gave.
present() -> Any
    What `follow` needs of the store as it is now (texts by id, index texts, relations); reads, changes
    nothing.
report(proposal, journal, ...) -> Report
    The sections of the report on a plan. remark(journal, run) adds to a run's line in the list of runs,
    besides(journal, run) to the page about it, left_out() what may not be read.
limits(settings) -> Settings
    The same settings, as far as they make sense for this kind.
spoken(inventory, today) -> memories with their statements
    What a new text is held against by `check`. relevance(learning, ...) scores a learning by it.
remember(now, run)
    Notes the state after a run, where later passes compare with it.

The order in a pass: `view`, `rules`, `judge`, merges by `may_merge` and `unite`, `rules` again,
`conflicts`, doubts, the second opinion, what was answered before, `follow`. `Proposal.asked` is the plan
before `follow` and without answers; `Proposal.plan` is after it. With answers:
`follow(asked.with_choices(choices), present)`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Protocol

from ...models.text.statements import split_statements
from ...records import ActionKind, Inventory, Memory, Verdict
from ...settings import Settings
from ..actions import Action, Resolve
from ..judging.inventory import Judging
from ..plan import Plan
from ..planning.engine import conflicts_of
from ..planning.hooks import Entails, Hooks, Judge, United, View
from ..planning.merges import extractive
from ..planning.proposal import Means, OnStage, Proposal

if TYPE_CHECKING:
    from ...models.encoder import Encoder
    from ..judging.check import Known
    from ..reporting.graph.health import Health
    from ..reporting.report import Report
    from ..rules.graph.relevance import Learning, Relevance
    from ..rules.graph.use import GraphSettings
    from ..stores.base import Store
    from ..writing.journal import Journal, Run


class Kind(Hooks, Protocol):
    """One kind of store, bound to a store; see the module for its hooks.

    The defaults are those of single records.

    Attributes:
        scoped: Its memories belong to users, agents and runs, and can expire.
        explained: Its report shows all that changes only with explanations.
    """

    store: Store
    scoped: bool = False
    explained: bool = False
    wanted: Collection[ActionKind] = tuple(ActionKind)
    amends: bool = False
    collapses: bool = False
    keeps: str | None = None

    @property
    def kind(self) -> str:
        """Name of the store's kind, printed before ids."""
        return self.store.kind

    def limits(self, settings: Settings) -> Settings:
        """The same limits, as far as they make sense for this kind."""
        return settings

    def judge(self, view: View, means: Means, on_stage: OnStage) -> Judge:
        """The session's models, behind their cache."""
        models = means.models
        scorer, encoder = models.asked(on_stage=on_stage), models.read(on_stage=on_stage)
        return Judging(encoder, scorer, means.settings, means.circumstances, view.keys)

    def may_merge(self, a: Memory, b: Memory) -> bool:  # noqa: ARG002
        """Whatever is judged a duplicate."""
        return True

    def unite(self, units: Sequence[Memory], among: Sequence[Memory], entails: Entails) -> United:
        """One unit that says it all, else a new text of their sentences."""
        return extractive(units, among, entails)

    def conflicts(
        self, view: View, verdicts: Sequence[Verdict], actions: Sequence[Action]
    ) -> Sequence[Resolve]:
        """One for each two facts that contradict."""
        return conflicts_of(view, verdicts, actions)

    def present(self) -> Any:  # noqa: ANN401  (each kind has its own)
        """What `follow` needs of the store as it is now."""
        return None

    def follow(self, plan: Plan, present: Any) -> Plan:  # noqa: ANN401, ARG002
        """The plan with all that follows from its actions; pure, and the same for its own result."""
        return plan

    def report(self, proposal: Proposal, journal: Journal, *, explain: bool, texts: bool) -> Report:
        """What shows a proposal to a person; see `Session.reporter`."""
        ...

    def remark(self, journal: Journal, run: Run) -> str:  # noqa: ARG002
        """What there is to add about a run in the list of all."""
        return ""

    def left_out(self) -> list[str]:
        """What of the store may not be read, with the reason."""
        return []

    def besides(self, journal: Journal, run: str) -> list[str]:  # noqa: ARG002
        """What a run did that follows from its actions and has no line among them."""
        return []

    def spoken(self, inventory: Inventory, today: date) -> Iterator[tuple[Memory, Sequence[str]]]:
        """What a new text is held against: each living memory as it is judged, with its statements."""
        for memory in inventory.memories:
            if not memory.is_retired(today):
                yield memory, split_statements(memory.text)

    def relevance(
        self,
        learning: Learning,
        memories: Sequence[Memory],
        *,
        known: Known,
        encoder: Encoder,
        now: datetime,
        threshold: int | None = None,
        limits: GraphSettings | None = None,
        core: Sequence[tuple[str, str]] = (),
    ) -> Relevance:
        """Whether something is worth remembering, held against these memories.

        Args:
            learning: What an agent would like to remember.
            memories: What is known.
            known: The same, to be asked about each statement.
            encoder: Embeds the texts.
            now: The day it was discovered.
            threshold: Score from which it is saved; that of the limits if omitted.
            limits: Of a graph.
            core: Name and text of each core memory.
        """
        from ..rules.graph.relevance import relevance
        from ..rules.graph.use import GraphSettings
        from ..stores.graph.entities import nodes_of

        settings = limits or GraphSettings()
        if threshold is not None:
            settings = settings.model_copy(update={"keep_above": threshold})
        return relevance(
            learning, nodes_of(memories), core, known=known, encoder=encoder, settings=settings, now=now
        )

    def condemned(self, inventory: Inventory, means: Means) -> int | None:  # noqa: ARG002
        """How many memories a pass would prune, needing no model; None where age alone decides."""
        return None

    def health(self, inventory: Inventory, means: Means) -> Health:
        """How the memory is doing."""
        from ..reporting.graph.health import health_of_store

        return health_of_store(inventory, means, ages=self.condemned(inventory, means) is None)

    def remember(self, *, now: datetime, run: str) -> None:  # noqa: ARG002
        """Record the state of the store after a run, if later runs compare with it."""
        return
