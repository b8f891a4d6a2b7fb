"""Contradictions between single sentences, and how the losing sentence goes.

Whole bodies say many things, so sentences are compared, each with those of other memories in its directory
and type. Rules on words decide which of them cannot both hold; the scorer may only reject a pair.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ....models.scorer import PairInput, limits_for
from ....models.words import exact_key, overlap, significant_words, topic
from ....records import Candidate, Evidence, Label, Memory, Verdict, rejection_key
from ...actions import Member, Resolve, Side
from ...answers import said_key
from ...judging.judge import decide, judge
from .prose import statements, without
from .rivalry import exclusion, framed

if TYPE_CHECKING:
    from ....models.scorer import PairScorer, Thresholds

MAX_PARTNERS = 40
"""Sentences that share a word with more others than this are compared by their rarer words alone."""
_LIST = 3
"""So many sentences of one frame are members of a list."""
_UNKNOWN = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One statement of a memory.

    Attributes:
        memory: Where it stands.
        text: What it says.
        words: Its significant words.
    """

    memory: Memory
    text: str
    words: frozenset[str]


def sentence_conflicts(
    memories: Sequence[Memory],
    scorer: PairScorer,
    *,
    thresholds: Thresholds | None = None,
    rejected: frozenset[str] = frozenset(),
) -> tuple[Resolve, ...]:
    """Find sentences of one directory and type that cannot both hold.

    Args:
        memories: Those that stay, as they will read.
        scorer: May reject a pair.
        thresholds: Instead of the scorer's own.
        rejected: Keys of pairs that a person left open before.
    """
    pairs = [
        (why, a, b)
        for why, a, b in _rivals(memories)
        if not {said_key(a.text, b.text), rejection_key(a.memory, b.memory)} & rejected
    ]
    verdicts = _verdicts([(a, b) for _, a, b in pairs], scorer, thresholds)
    conflicts = [
        _conflict(f"c{number}", why, verdict, a, b)
        for number, ((why, a, b), verdict) in enumerate(
            [
                (pair, verdict)
                for pair, verdict in zip(pairs, verdicts, strict=True)
                if _agreed(verdict, scorer, thresholds)
            ],
            1,
        )
    ]
    return tuple(conflicts)


def after(conflict: Resolve, side: Side, texts: Mapping[str, str]) -> str | None:
    """What the losing memory says without the contradicted sentence; None if the conflict stays open.

    Nothing is judged again: the sentences were named when they were found.

    Args:
        conflict: What was decided about.
        side: The side that stays.
        texts: Texts of both memories as they read now.
    """
    winner, loser = (conflict.a[0], conflict.b[0]) if side == "a" else (conflict.b[0], conflict.a[0])
    held, lost = conflict.said if side == "a" else conflict.said[::-1]
    if held not in statements(texts[winner]):
        return None  # it lost what it would win with
    if lost not in statements(texts[loser]):
        return texts[loser]
    return without(texts[loser], [lost])


def _rivals(memories: Sequence[Memory]) -> Iterator[tuple[str, Sentence, Sentence]]:
    """Sentences of different memories in one group that cannot both hold, each pair once."""
    groups: dict[tuple[object, str | None], list[Memory]] = defaultdict(list)
    for memory in sorted(memories, key=lambda item: item.id):
        groups[memory.scope, memory.category].append(memory)
    for group in groups.values():
        sentences = [Sentence(m, said, significant_words(said)) for m in group for said in statements(m.text)]
        frames: Counter[tuple[str, ...]] = Counter()
        pairs: list[tuple[str, Sentence, Sentence, tuple[str, ...] | None]] = []
        for i, j in _sharing(sentences):
            a, b = sentences[i], sentences[j]
            why = exclusion(a.text, b.text) if exact_key(a.text) != exact_key(b.text) else None
            frame = framed(a.text, b.text) if why == "value" else None
            if why is not None:
                frames.update([frame] if frame else [])
                if a.memory is not b.memory:
                    pairs.append((why, a, b, frame))
        for why, a, b, frame in pairs:
            if frame is None or frames[frame] < _LIST:
                yield why, a, b


def _sharing(sentences: Sequence[Sentence]) -> list[tuple[int, int]]:
    """Pairs of sentences that share two words, not counting words that most sentences have."""
    holders: dict[str, list[int]] = defaultdict(list)
    for number, sentence in enumerate(sentences):
        for word in sentence.words:
            holders[word].append(number)
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for numbers in holders.values():
        if len(numbers) <= MAX_PARTNERS:
            for position, i in enumerate(numbers):
                for j in numbers[position + 1 :]:
                    shared[i, j] += 1
    return sorted(pair for pair, count in shared.items() if count >= 2)


def _verdicts(
    pairs: Sequence[tuple[Sentence, Sentence]], scorer: PairScorer, thresholds: Thresholds | None
) -> list[Verdict]:
    """What the scorer says about pairs of sentences, asked once for all."""
    views: dict[str, Memory] = {}
    candidates = []
    for number, (a, b) in enumerate(pairs):
        names = (f"{number:06}a", f"{number:06}b")
        for name, sentence in zip(names, (a, b), strict=True):
            views[name] = replace(sentence.memory, id=name, text=sentence.text)
        candidates.append(Candidate(*names, overlap(a.text, b.text)))
    verdicts = judge(candidates, views, scorer, thresholds=thresholds) if candidates else ()
    return [
        replace(item, pair=replace(item.pair, a=a.memory.id, b=b.memory.id))
        for item, (a, b) in zip(verdicts, pairs, strict=True)
    ]


def _agreed(verdict: Verdict, scorer: PairScorer, thresholds: Thresholds | None) -> bool:
    """Whether the scorer does not object; the keyword rule knows no values, so it is not asked.

    The scorer is asked again, since a contradiction that a rule found says nothing about the scorer.
    """
    if scorer.name.startswith("keywords"):
        return True
    limits = thresholds or limits_for(scorer, PairInput("", "", verdict.pair.cosine))
    label, auto = decide(verdict.probabilities, verdict.evidence, limits, entailment=verdict.entailment)
    _, contradiction, distinct = verdict.probabilities
    return (label is not Label.DISTINCT or contradiction >= distinct) and not auto


def _conflict(name: str, why: str, verdict: Verdict, a: Sentence, b: Sentence) -> Resolve:
    def stated(sentence: Sentence) -> tuple[datetime, str]:
        """When it was said; the id where both were said at once."""
        return (sentence.memory.stated_at or _UNKNOWN, sentence.memory.id)

    older, newer = sorted((a, b), key=stated)
    known = _UNKNOWN < stated(older)[0] < stated(newer)[0]
    members = sorted((older.memory, newer.memory), key=lambda memory: memory.id)
    reason = Evidence(why, f"{older.text} / {newer.text}")
    return Resolve(
        id=name,
        scope=older.memory.scope,
        category=older.memory.category,
        members=tuple(Member.of(memory) for memory in members),
        a=(older.memory.id,),
        b=(newer.memory.id,),
        topic=topic(older.text, newer.text) or older.memory.category or "same topic",
        newer="b" if known else None,
        verdicts=(
            replace(verdict, label=Label.CONTRADICTION, auto=False, evidence=(*verdict.evidence, reason)),
        ),
        said=(older.text, newer.text),
    )
