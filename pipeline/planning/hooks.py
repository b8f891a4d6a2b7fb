"""What a plan is made with, and what the engine asks of a kind of store while it plans.

The engine (`planning.engine`) makes every plan in the same steps, and never asks what kind of store it works
on; whatever differs is one of the hooks:

    view -> rules -> judge -> merges (unite) -> rules again -> conflicts -> doubts
         -> what was answered before -> second opinion -> follow
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from ...models.merger import MergeRefused, drafted, whole_of
from ...records import ActionKind, Inventory, Memory, Verdict
from ...settings import Settings
from ..answers import Answer
from ..judging.cache import Models, OnStage
from ..judging.inventory import Judging
from ..judging.subjects import KeysOf
from ..plan import Action, Merge, Plan, Prune, Resolve
from ..stores.base import Store
from .stages import Observer, Silent

Entails = Callable[[str, str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a plan is made with, besides what the store holds; settings as the kind's `limits` gave them."""

    models: Models
    settings: Settings
    now: datetime
    accessed: Mapping[str, datetime] = field(default_factory=dict)  # latest reads, by memory id
    rejected: frozenset[str] = frozenset()  # keys of what a person refused, see `rejection_key`
    unattended: bool = False  # no person sees the plan before it is applied
    tracked: frozenset[str] = frozenset()  # ids that the agent's own client is known to have read
    hygiene: frozenset[str] = frozenset()  # classes of junk that may be proposed to go
    answers: tuple[Answer, ...] = ()
    observer: Observer = Silent()  # noqa: RUF009  (it holds nothing)
    say: Callable[[str], None] | None = None  # told of a second opinion; without it none is asked for


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a pass would do; with choices, `follow(asked.with_choices(choices), present)`."""

    plan: Plan  # all of it, as it follows from the answers so far
    asked: Plan  # what a person decides about: the plan before answers and consequences
    findings: Any = None  # how the kind looked at the inventory, for the report: its `View`
    present: Any = None  # what the consequences were worked out from; see `Hooks.follow`


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How a kind looks at an inventory; a kind that finds out more makes a subclass of it."""

    inventory: Inventory
    # What is judged and merged, as it is judged: a unit's `id` is the store's, its `text` may differ from the
    # stored one (dates written out, an entity as one statement). Neither pinned ones, nor what goes anyway.
    units: tuple[Memory, ...]
    stored: Mapping[str, Memory] = field(hash=False)  # by id as they stand; members of actions are of these
    keys: KeysOf = field(default_factory=dict, hash=False)  # empty where metadata names no subjects


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a kind alone knows about its units; ids of actions are given by the engine where they are empty.

    A prune of a unit yields to a merge that joins it to a unit that is not pruned; a new text yields to every
    other action on the same memory. Relations, indexes and links do not belong here: they follow.
    """

    actions: tuple[Action, ...] = ()  # prunes and new texts
    doubts: tuple[
        Merge | Resolve | Prune, ...
    ] = ()  # for a person, unless an action touches what they are about
    notes: tuple[str, ...] = ()  # what else a person should know


@dataclass(frozen=True, slots=True, kw_only=True)
class United:
    """What several units become."""

    text: str  # as it is judged: a new text must be judged a duplicate of each unit
    survivor: str | None = None  # the unit that stays; None if a new memory takes the place of all
    whole: bool = False  # the survivor's own text says it all, and nothing is written
    stored: str | None = None  # the text as it is stored, where that is not `text`
    observations: tuple[str, ...] = ()  # the same as a list, for a graph
    exact: tuple[str, ...] | None = None  # units that go and add no word; None: those with an equal text


class Judge(Protocol):
    """Judges pairs of units; `judging.inventory.Judging` is one."""

    @property
    def notes(self) -> Sequence[str]:
        """What a person should know about how the pairs were found."""

    def all_pairs(self, memories: Sequence[Memory]) -> tuple[Verdict, ...]:
        """The verdicts on every pair worth judging."""

    def drafted(self, new: Sequence[Memory], others: Sequence[Memory]) -> tuple[Verdict, ...]:
        """The verdicts on pairs of which at least one is a drafted text."""

    def staying(self, memories: Sequence[Memory], verdicts: Sequence[Verdict]) -> list[Verdict]:
        """The verdicts as they are once only these units are left."""


class Hooks(Protocol):
    """What differs between kinds while a plan is made; the defaults are those of single records."""

    store: Store
    wanted: Collection[ActionKind] = tuple(ActionKind)  # kinds of actions to propose
    amends: bool = False  # the survivor of a merge takes over the others' metadata
    # Of so many exact copies all but one are put aside before anything is judged, and follow the one that
    # stands for them; None where `unite` must see them to choose who stays.
    collapses: int | None = None
    # A memory is one text, of which a person keeps one wording where two cannot be joined; what has parts is
    # asked about part by part.
    words_stay: bool = False
    # What verdicts and merges of a scope depend on besides its units, the limits and the models, so that they
    # may be kept until one of these changes; None where that cannot be said.
    keeps: str | None = None

    def view(self, inventory: Inventory, means: Means) -> View:
        """What there is to judge; the only hook of planning that may read the store."""

    def rules(self, view: View, means: Means, merges: Sequence[Merge]) -> Found:
        """What this kind alone proposes; asked again with the drafts, on which only prunes may depend."""

    def judge(self, view: View, means: Means, on_stage: OnStage) -> Judge:
        """Who judges the units; a kind may put a screen before the scorer, or have pairs of its own."""
        return Judging.by(means.models, means.settings, view.keys, rejected=means.rejected, on_stage=on_stage)

    def unite(self, units: Sequence[Memory], among: Sequence[Memory], entails: Entails) -> United:
        """What these units become: the one that says it all, else a new text of their sentences.

        Only one of those `among` them, duplicates of every other one, may stay as it is. `entails` gives the
        probability that the first of two units' texts entails the second. MergeRefused if anything could be
        lost, or only a unit that is not `among` says it all.
        """
        return extractive(units, among, entails)

    def conflicts(
        self, view: View, verdicts: Sequence[Verdict], actions: Sequence[Action]
    ) -> Sequence[Resolve]:
        """What contradicts among what stays after these merges and prunes."""

    def present(self) -> Any:  # noqa: ANN401  (each kind has its own)
        """What `follow` needs of the store as it is now (texts by id, relations); changes nothing."""
        return None

    def follow(self, plan: Plan, present: Any) -> Plan:  # noqa: ANN401, ARG002
        """The plan with all that follows from its actions: links, indexes, relations, cut sentences.

        Of the plan that is proposed, with answers, or read from a file. It is pure, judges nothing, and gives
        its own result back unchanged: what it added earlier it takes out and makes anew. The ids of all other
        actions stay; its own are named by what they change, never by counting.
        """
        return plan


def extractive(units: Sequence[Memory], among: Sequence[Memory], entails: Entails) -> United:
    """The default of `Hooks.unite`."""
    whole = whole_of(units, among=among, entails=entails)
    if whole is not None:
        return United(text=whole.text, survivor=whole.id, whole=True)
    draft = drafted(units, entails=entails)
    if draft.whole is not None:
        raise MergeRefused("what says it all was not judged a duplicate of each")
    return United(text=draft.text)
