"""What the engine asks of a kind of store while it plans; `pipeline.kinds.base` says all a kind is.

The engine (`planning.engine`) makes every plan in the same steps:

    view -> rules -> judge -> merges (may_merge, unite) -> conflicts -> doubts
         -> second opinion -> what was answered before -> follow

It never asks what kind of store it works on; whatever differs is one of these hooks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ...records import ActionKind, Inventory, Memory, Verdict
from ..actions import Action, Merge, Resolve
from ..judging.subjects import KeysOf
from ..plan import Plan
from .proposal import Means, OnStage

Entails = Callable[[str, str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How a kind looks at an inventory; a kind that finds out more makes a subclass of it.

    Attributes:
        units: What is judged and merged, as it is judged: a unit's `id` is the store's id, its `text` may
            differ from the stored one (dates written out, an entity as one statement). Pinned ones, and what
            goes whatever else is decided, are not among them.
        stored: The memories by id as they stand: members of actions are made of these.
        keys: What the metadata keys of each scope mean; empty where metadata names no subjects.
    """

    inventory: Inventory
    units: tuple[Memory, ...]
    stored: Mapping[str, Memory] = field(hash=False)
    keys: KeysOf = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a kind alone knows about its units; ids of actions are given by the engine where they are empty.

    Attributes:
        actions: Prunes and new texts. A prune of a unit yields to a merge that joins it to a unit that is not
            pruned; a new text yields to every other action on the same memory. Relations, indexes and links
            do not belong here: they follow.
        doubts: Merges and conflicts that only a person can decide on, besides those of the scorer. One that
            touches what an action touches is left out.
        notes: What else a person should know.
    """

    actions: tuple[Action, ...] = ()
    doubts: tuple[Merge | Resolve, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class United:
    """What several units become.

    Attributes:
        text: What is said afterwards, as it is judged: a new text must be judged a duplicate of each unit.
        survivor: Id of the unit that stays; None if a new memory takes the place of all.
        whole: The survivor's own text says it all, and nothing is written.
        stored: The text as it is stored, where that is not `text`.
        observations: The same as a list, for a graph.
        exact: Ids of units that go and of which every word stands in the survivor; None: those with an
            equal text.
    """

    text: str
    survivor: str | None = None
    whole: bool = False
    stored: str | None = None
    observations: tuple[str, ...] = ()
    exact: tuple[str, ...] | None = None


class Judge(Protocol):
    """Judges pairs of units; `judging.inventory.Judging` is one."""

    @property
    def notes(self) -> Sequence[str]:
        """What a person should know about how the pairs were found."""
        ...

    def all_pairs(self, memories: Sequence[Memory]) -> tuple[Verdict, ...]:
        """The verdicts on every pair worth judging."""
        ...

    def drafted(self, new: Sequence[Memory], others: Sequence[Memory]) -> tuple[Verdict, ...]:
        """The verdicts on pairs of which at least one is a drafted text."""
        ...

    def staying(self, memories: Sequence[Memory], verdicts: Sequence[Verdict]) -> list[Verdict]:
        """The verdicts as they are once only these units are left."""
        ...


class Hooks(Protocol):
    """What differs between kinds while a plan is made; the defaults are those of single records.

    Attributes:
        wanted: Kinds of actions to propose.
        amends: The survivor of a merge takes over the others' metadata.
        collapses: Exact copies are put aside before anything is judged, and follow the one that stands for
            them; not where `unite` must see them to choose who stays.
        keeps: What verdicts and merges of a scope depend on besides its units, the limits and the models, so
            that they may be kept until one of these changes; None where that cannot be said.
    """

    wanted: Collection[ActionKind]
    amends: bool
    collapses: bool
    keeps: str | None

    @property
    def kind(self) -> str:
        """Name of the store's kind, printed before ids."""
        ...

    def view(self, inventory: Inventory, means: Means) -> View:
        """What there is to judge. May read the store besides, writes nothing."""
        ...

    def rules(self, view: View, means: Means, merges: Sequence[Merge]) -> Found:
        """What this kind alone proposes: prunes, new texts, doubts.

        Args:
            view: Of `view`.
            means: Settings, moment, answers.
            merges: What would be merged, as far as that is known: asked first with none, then again with what
                the engine drafted, until no more prunes are found. Nothing but prunes may depend on it.
        """
        ...

    def judge(self, view: View, means: Means, on_stage: OnStage) -> Judge:
        """Who judges the units."""
        ...

    def may_merge(self, a: Memory, b: Memory) -> bool:
        """Whether these two units may be merged without a person, if they are judged duplicates."""
        ...

    def unite(self, units: Sequence[Memory], among: Sequence[Memory], entails: Entails) -> United:
        """What these units become.

        Args:
            units: At least two, sorted by id.
            among: Those judged duplicates of every other one: only these may stay as they are.
            entails: Probability that the first text entails the second; of units' texts only.

        Raises:
            MergeRefused: If anything could be lost.
        """
        ...

    def conflicts(
        self, view: View, verdicts: Sequence[Verdict], actions: Sequence[Action]
    ) -> Sequence[Resolve]:
        """What contradicts among what stays after these merges and prunes."""
        ...

    def present(self) -> Any:  # noqa: ANN401
        """What `follow` needs of the store as it is now."""
        ...

    def follow(self, plan: Plan, present: Any) -> Plan:  # noqa: ANN401  (each kind has its own)
        """The plan with all that follows from its actions; see `pipeline.kinds.base.Kind.follow`."""
        ...
