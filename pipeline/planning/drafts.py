"""From merges and verdicts to actions of a plan: who stays with which metadata, which fact is the newer."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any

from ...models.facts import extract
from ...models.facts.attributes import named_attribute
from ...models.guards import missing
from ...models.merger import ENTAILED, MergeRefused, keeps
from ...models.rests import rest_of
from ...models.same_statement import statement_key
from ...models.stance import further
from ...models.text.statements import sentences, split_statements
from ...models.text.words import normalised, significant_words, tokens, topic
from ...records import (
    LAST_STATED_KEY,
    MERGED_VALUES_KEY,
    SUPERSEDED_KEYS,
    SUPERSEDES_KEY,
    Label,
    Memory,
    Verdict,
)
from ..plan import Action, Merge, Prune, Resolve, Side, draft_id
from .hooks import Hooks, United, View
from .merges import LONG_AGO, Consolidated, JudgeNew, last_stated, repeats

_OWN_KEYS = frozenset(
    {"merged_from", "last_accessed_at", LAST_STATED_KEY, MERGED_VALUES_KEY, SUPERSEDES_KEY, *SUPERSEDED_KEYS}
)  # what merges write themselves; none of it is a statement


def united_metadata(members: Sequence[Memory]) -> dict[str, Any]:
    """Metadata of a merged memory: every key of every member, the latest statement of each winning.

    Lists are united, and every value that lost is listed under `merged_values`. `merged_from` names all
    sources, earlier merges' sources included.
    """
    ordered = sorted(members, key=lambda memory: (last_stated(memory) or LONG_AGO, memory.id))
    united: dict[str, Any] = {}
    values: dict[str, list[Any]] = {}
    for memory in ordered:
        for key, value in memory.metadata.items():
            held = united.get(key)
            if isinstance(held, list) and isinstance(value, list):
                united[key] = held + [item for item in value if item not in held]
            else:
                united[key] = value
                _note_value(values, memory, key)
    if differing := {key: several for key, several in values.items() if len(several) > 1}:
        united[MERGED_VALUES_KEY] = differing
    earlier = [memory.metadata.get("merged_from") for memory in members]
    sources = {str(source) for each in earlier if isinstance(each, list) for source in each}
    united["merged_from"] = sorted(sources | {memory.id for memory in members})
    stated = max((moment for moment in map(last_stated, members) if moment), default=None)
    accessed = max((memory.accessed_at for memory in members if memory.accessed_at), default=None)
    dates = {LAST_STATED_KEY: stated, "last_accessed_at": accessed}  # they keep it from looking old
    return united | {key: moment.isoformat() for key, moment in dates.items() if moment}


def longest_life(members: Sequence[Memory], survivor: str | None) -> str | None:
    """The day until which a survivor must last, "" for ever; None if it lasts longest already."""
    kept = next((memory for memory in members if memory.id == survivor), None)
    if kept is None or kept.expires_on is None:
        return None
    days = [memory.expires_on for memory in members if memory.expires_on is not None]
    if len(days) < len(members):
        return ""
    return None if max(days) == kept.expires_on else max(days).isoformat()


def _note_value(values: dict[str, list[Any]], memory: Memory, key: str) -> None:
    if key in _OWN_KEYS:
        return
    noted = memory.metadata.get(MERGED_VALUES_KEY)
    earlier = noted.get(key, []) if isinstance(noted, Mapping) else []
    known = values.setdefault(key, [])
    for value in (*(earlier if isinstance(earlier, list) else []), memory.metadata[key]):
        if value in known:
            known.remove(value)
        known.append(value)


def merge_action(kind: Hooks, memories: Mapping[str, Memory], merge: Consolidated) -> Merge:
    """A drafted merge as an action of a plan; it has no id yet."""
    united = merge.united
    survivor = merge.survivor or (united.survivor if united else None)
    stored = [memories[memory.id] for memory in merge.members]
    exact = united.exact if united else None
    if exact is None:  # members that say literally what another one says: removing them takes no fact away
        seen, exact = {statement_key(merge.text)} if merge.survivor else set[str](), ()
        for memory in merge.members:
            key = statement_key(memory.text)
            exact += (memory.id,) if memory.id != merge.survivor and key in seen else ()
            seen.add(key)
    return Merge.of(
        *stored,
        survivor=survivor,
        text=united.stored if united and united.stored is not None else merge.text,
        metadata=united_metadata(stored) if kind.amends or survivor is None else {},
        expires=longest_life(stored, survivor) if kind.amends else None,
        created_at=min((m.created_at for m in stored if m.created_at), default=None),
        observations=united.observations if united else (),
        exact=exact,
        verdicts=merge.verdicts,
    )


def merge_of(
    kind: Hooks,
    units: Mapping[str, Memory],
    stored: Mapping[str, Memory],
    verdicts: Sequence[Verdict],
    *,
    judge_new: JudgeNew = lambda _new, _others: (),
) -> Merge | None:
    """What merging just these pairs would give; None where the kind asks about their sentences instead.

    Where a new text would say one thing twice, or cannot be written, one of the wordings stays alone: the one
    that lacks the fewest details of the others.
    """
    pairs = [frozenset((verdict.pair.a, verdict.pair.b)) for verdict in verdicts]
    members = tuple(units[name] for name in sorted(frozenset().union(*pairs)))
    entailed = {}
    for verdict in verdicts:
        a, b = units[verdict.pair.a].text, units[verdict.pair.b].text
        entailed[a, b], entailed[b, a] = verdict.entailment
    among = [unit for unit in members if all(unit.id in pair for pair in pairs)]
    try:
        united = kind.unite(members, among, lambda premise, said: entailed.get((premise, said), 0.0))
    except MergeRefused:
        if not kind.words_stay:
            return None
        united = _one_wording(members)
    if kind.words_stay and not united.whole and repeats(united.text, members, judge_new):
        united = _one_wording(members)
    united = _further_stays(members, united)
    return merge_action(kind, stored, Consolidated.of(members, united, verdicts))


def _one_wording(members: Sequence[Memory]) -> United:
    def place(memory: Memory) -> tuple[int, int, float, str]:
        lacking = missing([other.text for other in members if other is not memory], memory.text)
        words, stated = len(significant_words(memory.text)), last_stated(memory) or LONG_AGO
        return len(lacking), -words, -stated.timestamp(), memory.id

    stays = min(members, key=place)
    return United(text=stays.text, survivor=stays.id, whole=True)


def loses(merge: Merge | Resolve) -> list[str]:
    """The details of its memories that a merge neither keeps nor says in another form, in words."""
    if isinstance(merge, Resolve) or merge.said or merge.observations:
        return []
    said = set[str]()
    for each in merge.verdicts:
        names = each.pair.a, each.pair.b
        for stays, goes, sure in zip(names, names[::-1], each.entailment, strict=True):
            said |= {goes} if stays == merge.survivor and sure >= ENTAILED else set()
    lost = missing([member.text for member in merge.members if member.id not in said], merge.text)
    return list(dict.fromkeys(item.detail for item in lost))


def _further_stays(members: Sequence[Memory], united: United) -> United:
    """Of two of which one suspects or plans what the other states or has done, the other stays."""
    if len(members) != 2 or not united.whole or united.stored is not None or united.observations:
        return united
    ahead = further(members[0].text, members[1].text)
    stays = members[ahead > 0]
    return replace(united, survivor=stays.id, text=stays.text) if ahead else united


def conflicts_of(view: View, verdicts: Iterable[Verdict], actions: Sequence[Action]) -> list[Resolve]:
    """One conflict for each two facts that contradict, however many memories state them.

    A side holds the memory that was judged, and of those merged with it the ones that certainly say the same:
    nothing else goes with an answer.
    """
    verdicts = list(verdicts)
    merge_of = {m.id: action for action in actions if isinstance(action, Merge) for m in action.members}
    pruned = {name for action in actions if isinstance(action, Prune) for name in action.removes}
    same = {(v.pair.a, v.pair.b) for v in verdicts if v.auto}
    same |= {(v.pair.a, v.pair.b) for merge in merge_of.values() for v in merge.verdicts if v.auto}

    def fact(memory_id: str) -> frozenset[str]:
        merge = merge_of.get(memory_id)
        return frozenset(member.id for member in merge.members) if merge else frozenset({memory_id})

    def side(one: str) -> frozenset[str]:
        """Those of them that certainly say what this one says."""
        key = statement_key(view.stored[one].text)
        pairs = {name: (min(name, one), max(name, one)) for name in fact(one)}
        return frozenset(
            name
            for name, pair in pairs.items()
            if pair in same or statement_key(view.stored[name].text) == key
        )

    between: dict[frozenset[frozenset[str]], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        facts = frozenset({fact(verdict.pair.a), fact(verdict.pair.b)})
        if verdict.label is Label.CONTRADICTION and len(facts) == 2 and not any(f <= pruned for f in facts):
            between[facts].append(verdict)
    conflicts = []
    for pairs in between.values():
        judged = min(pairs, key=lambda item: (-item.probabilities[1], item.pair.a, item.pair.b)).pair
        sides = {judged.a: side(judged.a), judged.b: side(judged.b)}
        shown = frozenset().union(*sides.values())
        told = [item for item in pairs if {item.pair.a, item.pair.b} <= shown]
        conflicts.append(conflict(view.stored, sides, told))
    return conflicts


def conflict(
    stored: Mapping[str, Memory], sides: Mapping[str, frozenset[str]], pairs: Sequence[Verdict]
) -> Resolve:
    """The question which of two facts holds, by the memories that were judged and all that say the same."""

    def stated(judged: str) -> tuple[datetime, str]:
        return max(last_stated(stored[name]) or LONG_AGO for name in sides[judged]), min(sides[judged])

    older, newer = sorted(sides, key=stated)
    known: Side | None = "b" if LONG_AGO < stated(older)[0] < stated(newer)[0] else None
    a, b = (
        tuple(sorted(sides[judged], key=lambda name: (name != judged, name))) for judged in (older, newer)
    )
    texts = stored[older].text, stored[newer].text
    for said in (opposing_statements(*texts), texts):
        if shared := topic(*said):
            about: str | None = _shared_phrase(*said, shared) or shared
            break
    else:
        about = named_attribute(*map(extract, texts)) or stored[older].category
    memories = (stored[name] for name in (*a, *b))
    told: dict[str, Any] = {"topic": about or "same topic", "newer": known, "verdicts": tuple(pairs)}
    return Resolve.of(*memories, a=a, b=b, **told)


def with_rests(conflict: Resolve, kind: Hooks, judge_new: JudgeNew) -> Resolve:
    """The conflict with what each memory is shortened to if its side loses, where it says more than that.

    What several of a side say besides is kept once.
    """
    rewords = hasattr(kind.store, "_update") or kind.store.capabilities.in_place
    if not (kind.words_stay and rewords) or conflict.said or not conflict.topic:
        return conflict
    texts, rests = {member.id: member.text for member in conflict.members}, dict[str, str]()
    for side, winner in ((conflict.a, conflict.b[0]), (conflict.b, conflict.a[0])):
        held = texts[winner]

        def denied(part: str, held: str = held) -> float:
            return max(_opposition(part, one, conflict, judge_new) for one in {held, *sentences(held)})

        left = {name: rest_of(texts[name], held, denied) for name in side}
        kept = list[str]()
        for name in sorted(filter(left.get, left), key=lambda name: (-len(left[name]), side.index(name))):
            if not all(any(keeps(text, part) for text in kept) for part in sentences(left[name])):
                kept.append(left[name])
                rests[name] = left[name]
    return replace(conflict, rests=dict(sorted(rests.items()))) if rests else conflict


def _opposition(part: str, held: str, conflict: Resolve, judge_new: JudgeNew) -> float:
    """How surely one of two statements denies the other."""
    first = Memory("1", part, conflict.scope, conflict.category)
    second = replace(first, id=draft_id([first]), text=held)
    said = judge_new([second], [first])
    return max(
        (1.0 if each.label is Label.CONTRADICTION else each.probabilities[1] for each in said), default=0.0
    )


def conflict_of_pair(verdict: Verdict, stored: Mapping[str, Memory]) -> Resolve:
    """The question which of just these two holds."""
    return conflict(stored, {name: frozenset({name}) for name in (verdict.pair.a, verdict.pair.b)}, [verdict])


def _shared_phrase(older: str, newer: str, words: str) -> str:
    """The longest run of words in both texts, as the newer one has it, if it holds all of these words."""
    wanted = {token.stem for token in tokens(words)}
    first, second = tokens(older), tokens(newer)
    match = SequenceMatcher(
        None, [token.stem for token in first], [token.stem for token in second], autojunk=False
    ).find_longest_match()
    run = second[match.b : match.b + match.size]
    places = [place for place, token in enumerate(run) if token.stem in wanted]
    if len(places) < len(wanted) or len(places) < 2:
        return ""
    return normalised(newer)[run[places[0]].start : run[places[-1]].end]


def opposing_statements(older: str, newer: str) -> tuple[str, str]:
    """The statement of each text that shares most words with one of the other without saying the same.

    The whole texts where one of them is a single statement, or where no two statements share a word.
    """
    mine, theirs = split_statements(older), split_statements(newer)
    if min(len(mine), len(theirs)) < 2:
        return older, newer
    shares = {}
    for a, b in itertools.product(mine, theirs):
        if statement_key(a) != statement_key(b):
            first, second = significant_words(a), significant_words(b)
            shares[a, b] = len(first & second) / max(1, len(first | second))
    best = max(shares, key=shares.__getitem__, default=(older, newer))
    return best if shares.get(best) else (older, newer)
