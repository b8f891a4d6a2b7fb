"""What a plan is made with, and what the engine asks of a kind of store while it plans.

The engine (`planning.engine`) makes every plan in the same steps, and never asks what kind of store it works
on; whatever differs is one of the hooks:

    view -> rules -> judge -> merges (may_merge, unite) -> rules again -> conflicts -> doubts
         -> second opinion -> what was answered before -> follow
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ...models.merger import MergeRefused, drafted, whole_of
from ...records import ActionKind, Inventory, Memory, Verdict
from ...settings import Settings
from ..actions import Action, Merge, Resolve
from ..answers import Answer
from ..judging.inventory import Circumstances, Judging
from ..judging.models import Models
from ..judging.subjects import KeysOf
from ..plan import Plan
from .stages import Observer, Silent

Entails = Callable[[str, str], float]
OnStage = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Means(Circumstances):
    """What a plan is made with, besides what the store holds; settings as the kind's `limits` gave them.

    `advise` asks a second opinion about the doubts of a plan, if one is wanted.
    """

    models: Models
    settings: Settings
    answers: tuple[Answer, ...] = ()
    observer: Observer = Silent()  # noqa: RUF009  (it holds nothing)
    advise: Callable[[Plan], Plan] = lambda plan: plan

    @property
    def circumstances(self) -> Circumstances:
        """The same, with the thresholds of a person's calibration; loads the scorer."""
        return replace(self, thresholds=self.models.calibrated)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a pass would do.

    Attributes:
        plan: All of it, as it follows from the answers so far.
        asked: What a person decides about: the plan before answers and consequences. With choices the plan
            is `follow(asked.with_choices(choices), present)`.
        findings: How the kind looked at the inventory, for the report: its `View`.
        present: What the consequences were worked out from; see `Hooks.follow`.
    """

    plan: Plan
    asked: Plan
    findings: Any = None
    present: Any = None

    @classmethod
    def of(cls, plan: Plan) -> Proposal:
        """A plan from which nothing else follows."""
        return cls(plan, plan)


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
    """Judges pairs of units; `judging.inventory.Judging` is one.

    `notes` say what a person should know about how the pairs were found.
    """

    @property
    def notes(self) -> Sequence[str]:
        """See the class."""
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

    wanted: Collection[ActionKind] = tuple(ActionKind)
    amends: bool = False
    collapses: bool = False
    keeps: str | None = None

    @property
    def kind(self) -> str:
        """Name of the store's kind, printed before ids."""
        ...

    def view(self, inventory: Inventory, means: Means) -> View:
        """What there is to judge, by the store's ids and in the words in which it is judged.

        The only hook of planning that may read the store. What else a kind finds out (drift, nodes, secrets)
        it keeps in a subclass of `View`, which every later hook and the report get.
        """
        ...

    def rules(self, view: View, means: Means, merges: Sequence[Merge]) -> Found:
        """What this kind alone proposes: prunes, new texts, doubts.

        It is asked first with no merges, then again with what the engine drafted, until no more prunes are
        found. Nothing but prunes may depend on them.
        """
        ...

    def judge(self, view: View, means: Means, on_stage: OnStage) -> Judge:
        """Who judges the units; a kind may put a screen before the scorer, or have pairs of its own."""
        models = means.models
        scorer, encoder = models.asked(on_stage=on_stage), models.read(on_stage=on_stage)
        return Judging(encoder, scorer, means.settings, means.circumstances, view.keys)

    def may_merge(self, a: Memory, b: Memory) -> bool:  # noqa: ARG002
        """Whether these two units may be merged without a person, if they are judged duplicates."""
        return True

    def unite(self, units: Sequence[Memory], among: Sequence[Memory], entails: Entails) -> United:
        """What these units become: the one that says it all, else a new text of their sentences.

        Args:
            units: At least two, sorted by id.
            among: Those judged duplicates of every other one: only these may stay as they are.
            entails: Probability that the first text entails the second; of units' texts only.

        Raises:
            MergeRefused: If anything could be lost, or only a unit that is not `among` says it all.
        """
        return extractive(units, among, entails)

    def conflicts(
        self, view: View, verdicts: Sequence[Verdict], actions: Sequence[Action]
    ) -> Sequence[Resolve]:
        """What contradicts among what stays after these merges and prunes."""
        ...

    def present(self) -> Any:  # noqa: ANN401  (each kind has its own)
        """What `follow` needs of the store as it is now (texts by id, relations); changes nothing."""
        return None

    def follow(self, plan: Plan, present: Any) -> Plan:  # noqa: ANN401, ARG002
        """The plan with all that follows from its actions: links, indexes, relations, cut sentences.

        The one function for it: of the plan that is proposed, of the plan with answers, and of a plan read
        from a file. It is pure, judges nothing, and gives its own result back unchanged: what it added
        earlier (`Reindex`, `Relate`, or by its cause) it takes out and makes anew. The ids of all other
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
