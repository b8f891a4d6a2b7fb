"""What a language model's opinions change about a plan: which doubts become proposals, and which go.

It is asked only about pairs that the scorer left unsure, the most probable first, each once. An opinion may
propose a merge or report a conflict; it never overrules a guard, never settles a contradiction, and without
an answer everything stays as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from ...errors import NoAnswerError
from ...models.scorer import PairInput
from ...models.second_opinion import LABELS, PROMPT_VERSION, Adviser, load_adviser, opinion
from ...records import Evidence, Label, Memory, Verdict
from ...settings import Settings
from ..actions import Action, Merge, Resolve
from ..judging.cache import Cache, opinion_key
from ..judging.subjects import UNCLEAR
from ..plan import Plan
from ..stores.base import NamesModel, Store
from .doubts import Doubt, ranked
from .planner import conflict_of_pair, merge_of_pair

KIND = "second-opinion"
"""The kind of evidence that an opinion is."""
LONGEST_TEXT = 8_000
"""Characters of a memory that is sent at most; longer ones are documents, and expensive."""
FAILURES_IN_A_ROW = 3
"""Pairs without an answer after which no further pair is asked about: the model is down, or the wrong one."""

Say = Callable[[str], None]
Lookup = Callable[[Iterable[str]], Mapping[str, Memory]]


@dataclass(slots=True)
class Tally:
    """The outcome of asking.

    Attributes:
        wanted: Pairs to be asked about.
        labels: Answers by label.
        failures: Reasons for no answer, with their number.
    """

    wanted: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)

    @property
    def sentence(self) -> str:
        """All of it in one line."""
        said = ", ".join(f"{self.labels[name]} {name}" for name in LABELS if self.labels[name])
        line = f"second opinion: {self.labels.total()} of {self.wanted} pairs answered"
        line += f" ({said})" if said else ""
        left = self.wanted - self.labels.total()
        if not left:
            return f"{line}."
        unasked = left - self.failures.total()
        reasons = [f"{count} {reason}" for reason, count in self.failures.most_common()]
        reasons += [f"{unasked} not asked any more"] if unasked else []
        return f"{line}; {left} {'stay' if left > 1 else 'stays'} unsure: {', '.join(reasons)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How opinions are asked for.

    Attributes:
        adviser: Whose.
        cache: Keeps them.
        limit: Pairs that are asked about at most.
        timeout: Seconds for an answer.
        say: Told before and after, in one line each.
        progress: Told the number of pairs done.
    """

    adviser: Adviser
    cache: Cache
    limit: int
    timeout: float
    say: Say
    progress: Callable[[int], None] = lambda _done: None

    def opinions(self, doubts: Iterable[Doubt]) -> dict[str, str]:
        """Labels by the id of the doubt, as far as there are any."""
        pairs = {doubt.id: pair_of(doubt) for doubt in ranked(doubts) if askable(doubt)}
        name = f"{PROMPT_VERSION}:{self.adviser.name}"
        keys = {doubt: opinion_key(name, pair) for doubt, pair in pairs.items()}
        kept = self.cache.load(list(keys.values()))
        known = {doubt: kept[key].decode("ascii", "replace") for doubt, key in keys.items() if key in kept}
        known = {doubt: label for doubt, label in known.items() if label in LABELS}
        unknown = [doubt for doubt in pairs if doubt not in known]
        wanted = unknown[: self.limit]
        if wanted:
            self.adviser.prepare()
            self.say(self._announcement(len(wanted), known=len(known), left=len(unknown) - len(wanted)))
            known |= self._asked({doubt: pairs[doubt] for doubt in wanted}, keys)
        return known

    def _announcement(self, calls: int, *, known: int, left: int) -> str:
        line = f"second opinion: asking {self.adviser.spoken} about {calls} unsure pairs, one call each"
        line += f"; {known} answered before" if known else ""
        return line + (f"; {left} left for another run (limit {self.limit})." if left else ".")

    def _asked(self, pairs: Mapping[str, PairInput], keys: Mapping[str, bytes]) -> dict[str, str]:
        tally, labels, in_a_row = Tally(wanted=len(pairs)), dict[str, str](), 0
        for number, (doubt, pair) in enumerate(pairs.items(), 1):
            try:
                labels[doubt] = opinion(self.adviser, pair, timeout=self.timeout)
            except NoAnswerError as error:
                tally.failures[error.reason] += 1
                in_a_row += 1
                if error.hopeless or in_a_row == FAILURES_IN_A_ROW:
                    break
            else:
                in_a_row = 0
                tally.labels[labels[doubt]] += 1
                self.cache.store({keys[doubt]: labels[doubt].encode("ascii")})
            self.progress(number)
        self.say(tally.sentence)
        return labels


def advise(
    plan: Plan,
    *,
    settings: Settings,
    store: Store,
    cache: Cache,
    unattended: bool,
    say: Say,
    progress: Callable[[int], None],
) -> Plan:
    """The plan after the language model that the settings name was asked; see `Session.second_opinion`."""
    named = store.llm if isinstance(store, NamesModel) else None
    adviser = load_adviser(settings.second_opinion, llm=named, timeout=settings.second_opinion_timeout)
    if adviser is None:
        return plan
    asking = Asking(
        adviser=adviser,
        cache=cache,
        limit=settings.second_opinion_limit,
        timeout=settings.second_opinion_timeout,
        say=say,
        progress=progress,
    )

    def lookup(ids: Iterable[str]) -> dict[str, Memory]:
        """Memories as they are in the store now."""
        return {name: store.parse(row) for name, row in store.fetch(list(ids)).items()}

    merging = not unattended or settings.second_opinion_auto
    opinions = asking.opinions(plan.unsure)
    return advised(plan, opinions, merging=merging, lookup=lookup, amend=store.capabilities.amend)


def askable(doubt: Doubt) -> bool:
    """Whether the texts are what is in doubt, and short enough to be sent."""
    unclear = any(item.kind == UNCLEAR for verdict in doubt.verdicts for item in verdict.evidence)
    return len(doubt.members) == 2 and not unclear and all(len(m.text) <= LONGEST_TEXT for m in doubt.members)


def pair_of(doubt: Doubt) -> PairInput:
    """What a model may read of a doubt."""
    a, b = doubt.members
    return PairInput(
        a=a.text, b=b.text, cosine=0.0, category=doubt.category, a_date=a.stated_at, b_date=b.stated_at
    )


def advised(
    plan: Plan, labels: Mapping[str, str], *, merging: bool, lookup: Lookup, amend: bool = False
) -> Plan:
    """The plan after the opinions.

    Args:
        plan: As the scorer and the guards left it.
        labels: Opinions by the id of the doubt.
        merging: What is called a duplicate becomes a merge of the plan; else it stays a doubt that says so.
        lookup: Memories by id, for a doubt that turns out to be of the other sort.
        amend: The store keeps the united metadata of a merge on the memory that stays.
    """
    actions: list[Action] = list(plan.actions)
    unsure: list[Doubt] = []
    taken = {member.id for action in actions for member in action.members}
    for doubt in ranked(plan.unsure):
        label = labels.get(doubt.id)
        if label == Label.DISTINCT:
            continue
        said = _noted(doubt, label) if label in (Label.DUPLICATE, Label.CONTRADICTION) else doubt
        proposal = _proposal(
            said, label if label != Label.DUPLICATE or merging else None, lookup, amend=amend
        )
        ids = {member.id for member in doubt.members}
        if proposal is None or taken & ids:
            unsure.append(said)
        else:
            taken |= ids
            actions.append(proposal)
    order = {doubt.id: place for place, doubt in enumerate(plan.unsure)}
    return replace(
        plan, actions=tuple(actions), unsure=tuple(sorted(unsure, key=lambda each: order[each.id]))
    )


def _proposal(doubt: Doubt, label: str | None, lookup: Lookup, *, amend: bool) -> Doubt | None:
    """What an opinion makes of a doubt; nothing if it must stay one."""
    vetoed = any(item.veto for verdict in doubt.verdicts for item in verdict.evidence)
    if label == Label.CONTRADICTION:
        return _as_conflict(_with_label(doubt, Label.CONTRADICTION), lookup)
    if label == Label.DUPLICATE and not vetoed:
        return _as_merge(_with_label(doubt, Label.DUPLICATE), lookup, amend=amend)
    return None


def _as_conflict(doubt: Doubt, lookup: Lookup) -> Resolve | None:
    if isinstance(doubt, Resolve):
        return doubt
    memories = lookup(member.id for member in doubt.members)
    complete = len(memories) == len(doubt.members)
    return replace(conflict_of_pair(doubt.verdicts[0], memories), id=doubt.id) if complete else None


def _as_merge(doubt: Doubt, lookup: Lookup, *, amend: bool) -> Merge | None:
    if isinstance(doubt, Merge):
        return doubt
    memories = lookup(member.id for member in doubt.members)
    if len(memories) != len(doubt.members):
        return None
    merge = merge_of_pair(doubt.verdicts[0], memories, amend=amend)
    return replace(merge, id=doubt.id) if merge else None


def _noted(doubt: Doubt, label: str | None) -> Doubt:
    evidence = Evidence(KIND, str(label))
    return _with_verdicts(doubt, lambda item: replace(item, evidence=(*item.evidence, evidence)))


def _with_label(doubt: Doubt, label: Label) -> Doubt:
    return _with_verdicts(doubt, lambda verdict: replace(verdict, label=label))


def _with_verdicts(doubt: Doubt, change: Callable[[Verdict], Verdict]) -> Doubt:
    return replace(doubt, verdicts=tuple(change(verdict) for verdict in doubt.verdicts))
