"""From duplicate verdicts to merges that hold: drafted, proven, and stable under a second pass.

Copies are collapsed into one before anything is embedded or judged, and come back in the plan.

A merge is refused rather than weakened. Every removed memory is judged a duplicate of the text that
stays, directly; no two members may contradict each other or differ in a detail; and the
consolidated scope, planned again, must give nothing new. What cannot meet this stays as it was.
"""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple, Self

from ...models.guards import compare
from ...models.merger import CERTAIN, MergeRefused, puts_together, whole_of
from ...models.same_statement import statement_key
from ...models.subject import keeps_subjects
from ...models.text.statements import sentences, split_statements
from ...records import LAST_STATED_KEY, Candidate, Label, Memory, Scope, Verdict, noted_moment, rejection_key
from ..judging.judge import EXACT, are_rivals, one_statement, same_evidence
from ..judging.subjects import NO_KEYS, KeysOf, MetadataKeys, apart, signature
from ..plan import draft_id
from .hooks import Entails, United, extractive

MAX_ROUNDS = 25  # re-planning rounds before what still moves is left alone; two or three are usual
LEARNING_ROUNDS = 5  # in which a merge that would grow in the second pass may grow in the first
SAID = 0.8  # entailment from which one of two memories that are one fact without doubt says the other
EACH_SAID = 0.6  # the same where each says the other
EQUALLY = 0.1  # difference of the two directions up to which each of two such memories says the other
LONG_AGO = datetime.min.replace(tzinfo=UTC)  # stands for an unknown date where the earlier one counts less

_NOT_BESIDE = (Label.DUPLICATE, Label.CONTRADICTION)  # what two statements of one text are not to each other

Pair = tuple[str, str]
JudgeNew = Callable[[Sequence[Memory], Sequence[Memory]], tuple[Verdict, ...]]
Unite = Callable[[Sequence[Memory], Sequence[Memory], Entails], United]


@dataclass(frozen=True, slots=True)
class Consolidated:
    """Memories that become one."""

    members: tuple[Memory, ...]  # sorted by id, at least two
    survivor: str | None  # the member that says it all; None if `text` is new
    text: str  # what is said afterwards, as it is judged
    verdicts: tuple[Verdict, ...] = ()  # one per removed member, against the survivor or the new text
    united: United | None = None  # what the kind of store makes of it, where it was asked

    @classmethod
    def of(cls, members: tuple[Memory, ...], united: United, verdicts: Iterable[Verdict]) -> Consolidated:
        """What a kind made of these members."""
        survivor = united.survivor if united.whole else None
        return cls(members, survivor, united.text, tuple(verdicts), united)

    @property
    def ids(self) -> frozenset[str]:
        """Ids of all members."""
        return frozenset(memory.id for memory in self.members)

    @property
    def kept(self) -> tuple[Any, ...]:
        """Its fields as a cache keeps them, members by their ids."""
        return tuple(m.id for m in self.members), self.survivor, self.text, self.verdicts, self.united


@dataclass(slots=True)
class _Pass:
    """One pass over the memories, and the next one over what it leaves; and what is known of their pairs."""

    by_id: Mapping[str, Memory]
    unite: Unite
    judge_new: JudgeNew
    keys: KeysOf  # what metadata keys mean
    verdicts: dict[Pair, Verdict] = field(default_factory=dict)  # by unordered pair
    blocked: set[Pair] = field(default_factory=set)  # pairs that must not be merged

    def learn(self, verdicts: Iterable[Verdict]) -> None:
        self.verdicts |= {(item.pair.a, item.pair.b): item for item in verdicts}

    def changed(self, fresh: Iterable[Verdict]) -> bool:
        """Add the verdicts on the memories once others are gone; whether any of them is new."""
        new = []
        for item in fresh:
            known = self.get(item.pair.a, item.pair.b)
            before = (known.label, known.auto) if known else (Label.DISTINCT, False)
            if {item.pair.a, item.pair.b} <= self.by_id.keys() and before != (item.label, item.auto):
                new.append(item)
        self.learn(new)
        return bool(new)

    def get(self, a: str, b: str) -> Verdict | None:
        return self.verdicts.get((min(a, b), max(a, b)))

    def duplicate(self, a: str, b: str) -> bool:
        verdict = self.get(a, b)
        return verdict is not None and verdict.auto and (min(a, b), max(a, b)) not in self.blocked

    def contradicts(self, a: str, b: str) -> bool:
        verdict = self.get(a, b)
        return verdict is not None and verdict.label is Label.CONTRADICTION

    def probability(self, a: str, b: str) -> float:
        verdict = self.get(a, b)
        return verdict.probabilities[0] if verdict else 0.0

    def entails(self, premise: str, hypothesis: str) -> float:
        """How likely one memory says all of the other; 0 if they were not judged."""
        verdict = self.get(premise, hypothesis)
        return verdict.entailment[verdict.pair.a != premise] if verdict else 0.0

    def says(self, premise: str, hypothesis: str) -> float:
        """The same, certain where both are one fact without doubt and this is the likelier direction.

        One of two such memories says the other; the scorer's entailment tells which one, or that both do.
        """
        likely, back = self.entails(premise, hypothesis), self.entails(hypothesis, premise)
        said = likely >= max(SAID, back - EQUALLY) or min(likely, back) >= EACH_SAID
        return CERTAIN if said and self.duplicate(premise, hypothesis) else likely

    def block(self, ids: Iterable[str]) -> bool:
        """Forbid merging any two of these; whether that changes anything."""
        pairs = set(itertools.combinations(sorted(ids), 2))
        new = pairs - self.blocked
        self.blocked |= new
        return bool(new)

    def settled(
        self, merges: tuple[Consolidated, ...]
    ) -> tuple[tuple[Consolidated, ...], list[Consolidated], tuple[Verdict, ...]]:
        """Merges with those that only they make possible, which a second pass would touch, and its verdicts.

        The second pass is this very procedure over what the merges leave. What it finds among memories
        that the first left alone is done in the first: something that stood in its way is gone by then.
        """
        while merges:
            removed = frozenset(i for merge in merges for i in merge.ids if i != merge.survivor)
            held = {merge.survivor: _held(merge.members) for merge in merges if merge.survivor}
            staying = [
                replace(memory, metadata=held[name]) if name in held else memory
                for name, memory in self.by_id.items()
                if name not in removed
            ]
            drafted = [fused(merge.members, merge.text) for merge in merges if merge.survivor is None]
            fresh = self.judge_new(drafted, staying)
            owner = {merge.survivor or draft_id(merge.members): merge for merge in merges}
            unstable = [merge for verdict in fresh for merge in self._newly_contradicting(verdict, owner)]
            again = draft_merges(
                [*staying, *drafted],
                [*self.verdicts.values(), *fresh],
                judge_new=self.judge_new,
                unite=self.unite,
                keys=self.keys,
            )
            unstable += [owner[i] for merge in again for i in sorted(merge.ids) if i in owner]
            if unstable or not again:
                return merges, list(dict.fromkeys(unstable)), fresh
            merges = (*merges, *again)
        return merges, [], ()

    def _newly_contradicting(self, verdict: Verdict, owner: Mapping[str, Consolidated]) -> list[Consolidated]:
        """Drafts that contradict something none of their sources contradicted."""
        ends = (verdict.pair.a, verdict.pair.b)
        sources = itertools.product(*(owner[end].ids if end in owner else {end} for end in ends))
        if verdict.label is not Label.CONTRADICTION or any(self.contradicts(*each) for each in sources):
            return []
        return [owner[end] for end in ends if end in owner and owner[end].survivor is None]

    def merges(self) -> tuple[Consolidated, ...]:
        """Form merges until no two unclaimed duplicates are left that could be merged."""
        edges: dict[str, set[str]] = {memory_id: set() for memory_id in self.by_id}
        for a, b in self.verdicts:
            if a in edges and b in edges and self.duplicate(a, b):
                edges[a].add(b)
                edges[b].add(a)
        rank = {memory_id: _rank(self.by_id[memory_id]) for memory_id, others in edges.items() if others}
        drafts: list[Consolidated] = []
        while batch := stars(edges, rank=rank):
            for centre, others in batch:
                merge = self._form(centre, others)
                drafts += [merge] if merge else []
                for gone in merge.ids if merge else {centre}:
                    for other in edges.pop(gone, set()):
                        edges.get(other, set()).discard(gone)
        return tuple(drafts)

    def _form(self, centre: str, star: Sequence[str]) -> Consolidated | None:
        """The largest merge around a centre that can be drafted and proven.

        Memories that contradict each other or are about different subjects are left out, both of them:
        whatever the centre says, one of them is not the same fact.
        """
        keys = self.keys.get(self.by_id[centre].scope, NO_KEYS)
        quarrelling = {
            memory_id
            for pair in itertools.combinations(star, 2)
            if self.contradicts(*pair) or apart(self.by_id[pair[0]], self.by_id[pair[1]], keys)
            for memory_id in pair
        }
        others = [other for other in star if other not in quarrelling]
        if not others or (best := self._prove([centre, *others])):
            return best if others else None
        members = [centre]
        for other in sorted(others, key=lambda other: (-self.probability(centre, other), other)):
            merge = self._prove([*members, other])
            if merge is not None:
                members.append(other)
                best = merge
        return best

    def _prove(self, ids: Sequence[str]) -> Consolidated | None:
        """Draft one text for these memories; keep it only if it is a duplicate of every one of them."""
        members = tuple(self.by_id[memory_id] for memory_id in sorted(ids))
        id_of = {memory.text: memory.id for memory in members}

        def entails(premise: str, hypothesis: str) -> float:
            """The same by texts, as the merger asks; of two sentences each may say something of its own."""
            asked = self.says if len(sentences(hypothesis)) == 1 else self.entails
            return asked(id_of[premise], id_of[hypothesis])

        direct = [m for m in members if all(n is m or self.duplicate(m.id, n.id) for n in members)]
        try:
            united = self.unite(members, direct, entails)
        except MergeRefused:
            return None
        if united.whole:
            stays = str(united.survivor)
            pairs = [self.get(stays, memory.id) for memory in members if memory.id != stays]
            return Consolidated.of(members, united, [pair for pair in pairs if pair])
        for a, b in itertools.combinations(members, 2):
            if not self.duplicate(a.id, b.id) and any(
                item.veto for item in compare(a.text, b.text, a_date=a.stated_at, b_date=b.stated_at)
            ):
                return None
        if not united.observations and repeats(united.text, members, self.judge_new):
            return None  # two sentences that say one thing: which of them goes, a person says
        # A new text stands only if the judge calls it a duplicate of each source, directly.
        proof = {item.pair.a: item for item in self.judge_new([fused(members, united.text)], members)}
        for memory in members:
            # Where one source's text goes into another, the others are not candidates of its copy besides.
            twins = (self.get(each.id, memory.id) for each in members if each.text == united.text)
            known = next((verdict for verdict in twins if verdict), None)
            if known is not None:
                proof.setdefault(memory.id, known)
        if all(memory.id in proof and proof[memory.id].auto for memory in members):
            return Consolidated.of(members, united, [proof[memory.id] for memory in members])
        return None


def repeats(text: str, members: Sequence[Memory], judge_new: JudgeNew) -> bool:
    """Whether a drafted text says one thing twice, of another one, or two things that exclude each other.

    Two statements are judged unless one member has both.
    """
    sources = [member.text for member in members]
    if puts_together(text, sources) or not keeps_subjects(text, sources):
        return True
    said = [split_statements(sentence) for sentence in sentences(text)]
    own = [set(map(statement_key, sentences(source))) for source in sources]
    for some, others in itertools.combinations(zip(sentences(text), said, strict=True), 2):
        if any({statement_key(some[0]), statement_key(others[0])} <= keys for keys in own):
            continue
        for one, other in itertools.product(some[1], others[1]):
            first = replace(members[0], id="1", text=one)
            second = replace(members[0], id=draft_id([first]), text=other)
            if any(v.label in _NOT_BESIDE or are_rivals(v) for v in judge_new([second], [first])):
                return True
    return False


def draft_merges(
    memories: Sequence[Memory],
    verdicts: Sequence[Verdict],
    *,
    judge_new: JudgeNew,
    keys: KeysOf,
    unite: Unite = extractive,
) -> tuple[Consolidated, ...]:
    """The disjoint merges of one scope and category that survive their own second pass, by smallest id.

    Pairs without a verdict are distinct; `judge_new` judges a drafted text against living memories, as a
    second pass would.
    """
    this = _Pass({memory.id: memory for memory in memories}, unite, judge_new, keys)
    this.learn(verdicts)
    this.learn(_of_copies(this))
    for number in range(MAX_ROUNDS):
        merges, unstable, fresh = this.settled(this.merges())
        if not unstable:
            return tuple(sorted(merges, key=lambda merge: merge.members[0].id))
        if number < LEARNING_ROUNDS and this.changed(fresh):
            continue
        if not any([this.block(merge.ids) for merge in unstable]):  # noqa: C419  (block all of them)
            break
    return ()


def _of_copies(known: _Pass) -> list[Verdict]:
    """What was judged of a copy's representative, for the copy, which was not searched for neighbours."""
    copies = [item for item in known.verdicts.values() if item.pair.exact and item.auto]
    ends = {name for item in copies for name in (item.pair.a, item.pair.b)}
    partners: dict[str, list[Verdict]] = defaultdict(list)
    for item in known.verdicts.values() if ends else ():
        for name in {item.pair.a, item.pair.b} & ends:
            partners[name].append(item)
    shared = []
    for same in copies:
        for standing, copy in ((same.pair.a, same.pair.b), (same.pair.b, same.pair.a)):
            for item in partners[standing]:
                other = item.pair.b if item.pair.a == standing else item.pair.a
                if other != copy and known.get(copy, other) is None:
                    shared.append(of_copy(item, standing, copy))
    return shared


def of_copy(verdict: Verdict, standing: str, copy: str) -> Verdict:
    """The same verdict about a copy instead of the memory that stands for it."""
    a, b = verdict.pair.a, verdict.pair.b
    other = b if a == standing else a
    pair = Candidate(min(copy, other), max(copy, other), verdict.pair.cosine)
    swapped = (copy < other) != (a == standing)
    return replace(verdict, pair=pair, entailment=verdict.entailment[::-1] if swapped else verdict.entailment)


def most_complete(members: Sequence[Memory]) -> Memory:
    """The member that can take in a text: the longest, then the one stated last."""
    return max(members, key=lambda memory: (_rank(memory), memory.id))


def _rank(memory: Memory) -> tuple[float, ...]:
    stated = memory.stated_at.timestamp() if memory.stated_at else 0.0
    return (float(len(memory.text)), stated)


def fused(members: Sequence[Memory], text: str) -> Memory:
    """The memory that a merge would add, as a second pass reads it; its id sorts behind every real one."""
    first = members[0]
    dates = [memory.created_at for memory in members if memory.created_at]
    stated = [moment for moment in (last_stated(memory) for memory in members) if moment]
    return Memory(
        id=draft_id(members),
        text=text,
        scope=first.scope,
        category=first.category,
        created_at=min(dates, default=None),
        updated_at=max(stated, default=None),
        accessed_at=max((memory.accessed_at for memory in members if memory.accessed_at), default=None),
        metadata=_held(members),
    )


def _held(members: Sequence[Memory]) -> dict[str, Any]:
    return {key: value for memory in members for key, value in memory.metadata.items()}


def last_stated(memory: Memory) -> datetime | None:
    """When the fact was last stated, a previous merge's own record of it included."""
    known = (memory.stated_at, noted_moment(memory.metadata.get(LAST_STATED_KEY)))
    return max((moment for moment in known if moment is not None), default=None)


def stars(
    edges: Mapping[str, Collection[str]], *, rank: Mapping[str, tuple[float, ...]]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Cover a symmetric graph of duplicates with disjoint stars, most unclaimed duplicates first.

    Each is a centre and its duplicates, sorted: connected components would let A~B~C drop C although A and C
    differ. Ties go to the larger rank, then to the smaller id. Stars have at least one other member.
    """
    free = {node for node, others in edges.items() if others}
    degree = {node: sum(other in free for other in edges[node]) for node in free}

    def key(node: str) -> tuple[int, tuple[float, ...], str]:
        return (-degree[node], tuple(-part for part in rank.get(node, ())), node)

    queue = list(map(key, free))
    heapq.heapify(queue)
    drawn: list[tuple[str, tuple[str, ...]]] = []
    while queue:
        entry = heapq.heappop(queue)
        centre = entry[-1]
        if centre not in free or entry != key(centre):
            continue  # claimed, or queued again since with fewer free neighbours
        if not degree[centre]:
            break
        others = tuple(sorted(other for other in edges[centre] if other in free))
        drawn.append((centre, others))
        free -= {centre, *others}
        for neighbour in {node for gone in (centre, *others) for node in edges[gone]} & free:
            degree[neighbour] = sum(other in free for other in edges[neighbour])
            heapq.heappush(queue, key(neighbour))
    return tuple(drawn)


Copies = dict[str, tuple[Memory, ...]]  # of each representative that has any, by its id
CopyIds = dict[str, tuple[str, ...]]
Apart = tuple[tuple[str, str, str], ...]  # equal words about two subjects: an id of each, and what differs


class Collapsed(NamedTuple):
    """Memories without their copies."""

    standing: tuple[Memory, ...]  # sorted by id
    copies: Copies
    apart: Apart

    @classmethod
    def again(cls, memories: Sequence[Memory], copies: CopyIds, apart: Apart) -> Self:
        """The same memories, sorted by id, as they were collapsed before: see `kept`."""
        by_id = {memory.id: memory for memory in memories}
        out = {copy for some in copies.values() for copy in some}
        found = {name: tuple(by_id[copy] for copy in some) for name, some in copies.items()}
        return cls(tuple(memory for memory in memories if memory.id not in out), found, apart)

    @property
    def kept(self) -> tuple[CopyIds, Apart]:
        """What a cache keeps of it."""
        return {name: tuple(copy.id for copy in some) for name, some in self.copies.items()}, self.apart


def collapse(
    memories: Sequence[Memory], *, keys: KeysOf, rejected: frozenset[str] = frozenset(), fewest: int = 2
) -> Collapsed:
    """A representative of each group of `fewest` copies or more, the newest wording; and its copies."""
    standing: list[Memory] = []
    copies: Copies = {}
    differing: list[tuple[str, str, str]] = []
    for same in _equal_texts(memories):
        if 1 < len(same) < fewest:
            standing += same
            continue
        meaning, alone = keys.get(same[0].scope, NO_KEYS), list[Memory]()
        for group in _by_subject(same, meaning):
            best = (whole_of(group) or group[0]) if len(group) > 1 else group[0]
            others = [memory for memory in group if memory is not best]
            refused = [memory for memory in others if rejection_key(best, memory) in rejected]
            alone += [best, *refused]
            if collapsed := tuple(memory for memory in others if memory not in refused):
                copies[best.id] = collapsed
        standing += alone
        differing += _kept_apart(alone, meaning) if len(alone) > 1 else []
    return Collapsed(tuple(sorted(standing, key=lambda memory: memory.id)), copies, tuple(sorted(differing)))


def _equal_texts(memories: Sequence[Memory]) -> list[list[Memory]]:
    groups: dict[tuple[Scope, str | None, str], list[Memory]] = defaultdict(list)
    for memory in sorted(memories, key=lambda item: item.id):
        groups[memory.scope, memory.category, statement_key(memory.text)].append(memory)
    return list(groups.values())


def _by_subject(group: list[Memory], meaning: MetadataKeys) -> list[list[Memory]]:
    """Equal texts in groups that are about one subject; where any two differ, what names none is alone."""
    parts: dict[tuple[tuple[str, str], ...], list[Memory]] = defaultdict(list)
    for memory in group:
        parts[signature(memory, meaning)].append(memory)
    firsts = [members[0] for members in parts.values()]
    differ = any(apart(a, b, meaning) for a, b in itertools.combinations(firsts, 2))
    return list(parts.values()) if differ else [group]


def _kept_apart(same: list[Memory], meaning: MetadataKeys) -> list[tuple[str, str, str]]:
    """Of memories with equal words the first of each two subjects, and what differs."""
    by_id = sorted(same, key=lambda memory: memory.id)
    firsts = {signature(memory, meaning): memory for memory in reversed(by_id)}
    pairs = itertools.combinations(sorted(firsts.values(), key=lambda memory: memory.id), 2)
    return [(a.id, b.id, found.detail) for a, b in pairs if (found := apart(a, b, meaning))]


def expand(
    merges: Sequence[Consolidated], representatives: Sequence[Memory], copies: Copies
) -> tuple[Consolidated, ...]:
    """Put the copies back: into the merge of their representative, or into one of their own."""
    merged = {memory_id for merge in merges for memory_id in merge.ids}
    alone = [
        Consolidated((memory,), memory.id, memory.text)
        for memory in representatives
        if memory.id in copies and memory.id not in merged
    ]
    whole = []
    for merge in (*merges, *alone):
        members, verdicts = list(merge.members), list(merge.verdicts)
        for standing in merge.members:
            for copy in copies.get(standing.id, ()):
                members.append(copy)
                verdicts.append(_verdict_of_copy(copy, standing, merge))
        members.sort(key=lambda memory: memory.id)
        verdicts.sort(key=lambda verdict: (verdict.pair.a, verdict.pair.b))
        whole.append(replace(merge, members=tuple(members), verdicts=tuple(verdicts)))
    return tuple(sorted(whole, key=lambda merge: merge.members[0].id))


def _verdict_of_copy(copy: Memory, standing: Memory, merge: Consolidated) -> Verdict:
    """A copy of the survivor is an exact duplicate; any other shares its representative's verdict."""
    ends = sorted((copy, standing), key=lambda memory: memory.id)
    if standing.id == merge.survivor:
        pair = Candidate(ends[0].id, ends[1].id, 1.0, exact=True)
        return one_statement(pair, same_evidence(*ends) or EXACT)
    judged = next(item for item in merge.verdicts if standing.id in (item.pair.a, item.pair.b))
    shared = of_copy(judged, standing.id, copy.id)
    # the side of the copy is named first where it is the first of the pair
    sides = (copy, standing) if copy.id == shared.pair.a else (standing, copy)
    return replace(shared, evidence=(*judged.evidence, same_evidence(*sides) or EXACT))
