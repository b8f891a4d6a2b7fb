"""Contradictions between single sentences of longer files, and how the losing sentence goes.

Whole bodies seldom share enough words to be compared; two sentences of them do. When a person, or the
rule that newer supersedes, has chosen, only the contradicted sentence leaves a file that says more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ...models.keywords import opposed
from ..judge import judge
from ..plan import Member, Resolve, Side
from ..records import Candidate, Label, Memory, Scope, Verdict
from ..words import overlap, significant_words, topic
from .folding import statements, without

if TYPE_CHECKING:
    from ...models.scorer import PairScorer, Thresholds

SENTENCE_OVERLAP = 0.6
"""Two sentences must share so many of their words: out of their texts, 40% is chance too often."""
MIN_SHARED = 3
"""And at least so many words: "Never run it" and "run tests" are about nothing in common."""
MAX_PARTNERS = 40
"""Sentences that share a word with more others than this are compared by their rarer words alone."""
_UNKNOWN = datetime.min.replace(tzinfo=UTC)
_NOWHERE = Scope.of(directory="sentence")


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
    decided: Callable[[str, str], bool] = lambda _a, _b: False,
    first: int = 1,
) -> tuple[Resolve, ...]:
    """Find files of one directory and type of which single sentences contradict each other.

    Args:
        memories: Those that stay, as they will read.
        scorer: Judges the pairs of sentences.
        thresholds: Instead of the scorer's own.
        decided: Whether nothing is to be said about a pair of ids.
        first: Number of the first conflict.
    """
    found: dict[tuple[str, str], tuple[Verdict, Sentence, Sentence]] = {}
    for a, b in _pairs(memories):
        key = (min(a.memory.id, b.memory.id), max(a.memory.id, b.memory.id))
        if key in found or decided(*key):
            continue
        verdict = _judged(a, b, scorer, thresholds)
        if verdict.label is Label.CONTRADICTION:
            found[key] = (verdict, a, b)
    return tuple(_conflict(f"c{number}", *found[key]) for number, key in enumerate(sorted(found), first))


def resolution(
    conflict: Resolve, side: Side, texts: Mapping[str, str], scorer: PairScorer
) -> dict[str, str | None] | None:
    """What becomes of the losing side: its text without the contradicted sentences, or None if it goes.

    Args:
        conflict: What was decided about.
        side: The side that stays.
        texts: Texts of all members.
        scorer: Finds the sentences.

    Returns:
        By id; None if a memory says more than the contradicted fact and that fact cannot be cut out, so
        that the conflict has to stay open.
    """
    winners, losers = (conflict.a, conflict.b) if side == "a" else (conflict.b, conflict.a)
    standing = [sentence for memory_id in winners for sentence in statements(texts[memory_id])]
    outcome: dict[str, str | None] = {}
    members = {member.id: member for member in conflict.members}
    for loser in losers:
        said = statements(texts[loser])
        against = [one for one in said if _contradicted(one, standing, members[loser], scorer)]
        if len(said) <= 1 and without(texts[loser], said) == "":
            against = said  # the verdict about the whole text was about this one sentence
        rest = without(texts[loser], against) if against else None
        if rest is None:
            return None
        outcome[loser] = rest or None
    return outcome


def _contradicted(sentence: str, standing: Iterable[str], member: Member, scorer: PairScorer) -> bool:
    for other in standing:
        if _against(sentence, other):
            return True
        if scorer.name.startswith("keywords"):
            continue
        a, b = (
            Memory(name, text, _NOWHERE) for name, text in ((member.id, sentence), (f"{member.id}+", other))
        )
        if _judge_pair(a, b, scorer, None).label is Label.CONTRADICTION:
            return True
    return False


def _pairs(memories: Sequence[Memory]) -> Iterator[tuple[Sentence, Sentence]]:
    """Sentences of different memories in one group that share words and turn against each other."""
    groups: dict[tuple[object, str | None], list[Memory]] = defaultdict(list)
    for memory in sorted(memories, key=lambda item: item.id):
        groups[memory.scope, memory.category].append(memory)
    for group in groups.values():
        sentences = [Sentence(m, said, significant_words(said)) for m in group for said in statements(m.text)]
        for i, j in _sharing(sentences):
            a, b = sentences[i], sentences[j]
            if a.memory is not b.memory and _against(a.text, b.text):
                yield a, b


def _against(a: str, b: str) -> bool:
    """Whether two sentences are about one thing and turn against each other."""
    shared = significant_words(a) & significant_words(b)
    return len(shared) >= MIN_SHARED and overlap(a, b) >= SENTENCE_OVERLAP and opposed(a, b)


def _sharing(sentences: Sequence[Sentence]) -> list[tuple[int, int]]:
    """Pairs of sentences with two words in common that are not in everybody's mouth."""
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


def _judged(a: Sentence, b: Sentence, scorer: PairScorer, thresholds: Thresholds | None) -> Verdict:
    return _judge_pair(replace(a.memory, text=a.text), replace(b.memory, text=b.text), scorer, thresholds)


def _judge_pair(a: Memory, b: Memory, scorer: PairScorer, thresholds: Thresholds | None) -> Verdict:
    pair = Candidate(min(a.id, b.id), max(a.id, b.id), overlap(a.text, b.text))
    return judge([pair], {a.id: a, b.id: b}, scorer, thresholds=thresholds)[0]


def _conflict(name: str, verdict: Verdict, a: Sentence, b: Sentence) -> Resolve:
    def stated(sentence: Sentence) -> tuple[datetime, str]:
        """When it was said; the id where both were said at once."""
        return (sentence.memory.stated_at or _UNKNOWN, sentence.memory.id)

    older, newer = sorted((a, b), key=stated)
    known = _UNKNOWN < stated(older)[0] < stated(newer)[0]
    members = sorted((older.memory, newer.memory), key=lambda memory: memory.id)
    return Resolve(
        id=name,
        scope=older.memory.scope,
        category=older.memory.category,
        members=tuple(Member.of(memory) for memory in members),
        a=(older.memory.id,),
        b=(newer.memory.id,),
        topic=topic(older.text, newer.text) or older.memory.category or "same topic",
        newer="b" if known else None,
        verdicts=(verdict,),
    )
