"""Statements of one store that may say the same, or exclude each other, wherever they stand.

A statement is a sentence, a bullet, an observation: a memory of its own, with what its place is about. Pairs
are found by their words, across places; scorer and guards judge them. A template, a list, a step and its
result are never asked about, and a statement without a subject of its own ("Uses npm") is only compared where
its place is about the same thing. The words are rows of the table `statements`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import name as unicode_name

from ...models.bindings import HALF_SAID, relation
from ...models.same_statement import statement_key
from ...models.text.tables import table_lines, table_words
from ...models.text.vocabulary import opposite
from ...models.text.words import CACHED_TEXTS, significant_words, tokens
from ...records import Candidate, Evidence, Label, Memory, Verdict, rejection_key
from .judge import SAME, judge

if TYPE_CHECKING:
    from ...models.encoder import Encoder
    from ...models.scorer import PairScorer, Thresholds

MOST_HOLDERS = 40
"""Words that more statements have make no pairs."""

LIKELY = 0.6
"""Probability of a duplicate above which a person is asked."""

SURE = 0.85
"""Probability of a contradiction from which it needs no detail that differs."""

NEARLY_ALL, ALL, CONTAINED = 0.65, 0.95, 0.73
"""Share of the words of each text that the other says, or of one of them, from which they may be one; and the
probability that is asked for where one says more."""

CHANGED = 0.3
"""The share that what tells of a change and what it changed have at least in common."""

LIST = 3
"""So many statements of one frame are members of a list, and so many places of one statement a template."""

MOST, _COPIED = 0.6, 2
"""Share and number of the statements of a place that another place repeats, from which they may be one."""

_SHARED, _WITHIN = 0.4, 0.75
_SHORT = 4
_FRAME, _VALUE = 2, 4
"""Words around the one place in which members of a list differ, at least, and in it, at most."""
_KEY, _OWN = 3, 4
"""Words from which a key, or a statement, says what it is about; one less is enough beside its own verb."""

PROGRESS = "progress"
_STEPS = frozenset({PROGRESS, "stage", "past"})
_STATES = _STEPS | {"rival"}
_VALUES = _STATES | {"number", "version", "negation", "swap", "trait"}
"""Vetoes that make a conflict of what the scorer doubts: the first alone, the others where it tends to it."""


def _phrases(key: str) -> str:
    rows = " ".join(table_lines("statements", key)).split(",")
    return "(?:" + "|".join(row.strip() for row in rows if row.strip()) + ")"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_FIELD = re.compile(r"^\W*(\w[\w /.&()-]{0,48}?)\W{0,3}(?::\s|=)")
_FIELDS, _LABELS = (frozenset(table_words("statements", key)) for key in ("fields", "labels"))
_IMPLIED = _pattern(rf"^\W*(?:(?:also|now|currently|already|fully|still) )?{_phrases('implied')}\b")
_INTENDED, _TASK, _CASES, _CHANGED = (
    _pattern(rf"\b{_phrases(key)}\b") for key in ("intended", "tasks", "cases", "changed")
)
_ADDITIVE, _CORRECTED = (_pattern(rf"^\W*{_phrases(key)}\b") for key in ("additive", "corrected"))
_FINITE = _pattern(r"\b(?:is|are|was|were|has|have|must|should|cannot|can|may|always|never)\b")
_FINISHED = _pattern(rf"[✅☑✔]|\[x\]|\b{_phrases('finished')}\b")
_DONE = re.compile(
    r"^\W*(?:(?:\w+:? )?(?![Nn]eed)\w+ed\b|✅|☑|✔)|\b(?:is|are|was|were|has been|have been) (?:\w+ed|done)\b"
)
_STEP = _pattern(rf"^\W*(?:{'|'.join(sorted(_LABELS))})s? ?#?\d+")
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CODE = re.compile(r"[\w-]+(?:(?:[./_→]|::|->)[\w-]+)+")
"""Paths, dotted names, and names with an underscore."""
_QUOTED = re.compile(r"`([^`]+)`|(?<!\w)'([^']+)'(?!\w)|\"([^\"]+)\"")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

Pair = tuple[int, int]
Frame = tuple[str, ...]


class Statement(NamedTuple):
    """One statement: a memory of its own, and what its place is about ("" where that is not known)."""

    memory: Memory
    subject: str = ""

    @property
    def text(self) -> str:
        """What it says."""
        return self.memory.text


class Reader(NamedTuple):
    """Who judges statements: models, thresholds instead of the scorer's own, and what a person refused."""

    encoder: Encoder
    scorer: PairScorer
    thresholds: Thresholds | None = None
    refused: Collection[str] = ()


class Judged(NamedTuple):
    """What may be asked about statements.

    Attributes:
        verdicts: Duplicates, contradictions, and where the label is unsure what may be a contradiction.
        repeated: Pairs of subjects of which one repeats most of what the other says, with (few, of).
    """

    verdicts: list[Verdict]
    repeated: dict[frozenset[str], tuple[int, int]]


def judged(
    statements: Sequence[Statement], reader: Reader, *, one: Collection[frozenset[str]] = ()
) -> Judged:
    """Judge the statements of one scope that are worth it; verdicts are on the ids of their memories.

    Args:
        statements: Of one scope.
        reader: Models.
        one: Pairs of subjects that are known to be about the same thing.
    """
    shared, sizes = _sharing(statements), Counter(each.subject for each in statements)
    copies = _repeating(statements, shared, sizes) - {*one}
    pairs = [
        (i, j)
        for i, j in alike(statements, {*one, *copies}, shared)
        if rejection_key(statements[i].memory, statements[j].memory) not in reader.refused
    ]
    both = [(statements[i], statements[j]) for i, j in pairs]
    verdicts: list[Verdict] = []
    said: dict[frozenset[str], list[Pair]] = defaultdict(list)
    against: set[frozenset[str]] = set()
    for at, pair, verdict in zip(pairs, both, _scored(both, reader), strict=True):
        found, places = asked(pair, verdict), frozenset(each.subject for each in pair)
        if found is None:
            continue
        if found.label is Label.DUPLICATE and len(places) > 1:
            said[places].append(at if min(places) == pair[0].subject else (at[1], at[0]))
        if places not in copies or about_one(*pair):
            verdicts.append(found)
        elif found.label is not Label.DUPLICATE:
            against.add(places)
    repeated = {}
    for places, rows in said.items():
        few = min(len(set(side)) for side in zip(*rows, strict=True))
        of = min(sizes[name] for name in places)
        if few >= max(_COPIED, MOST * of) and places not in against:
            repeated[places] = (few, of)
    return Judged(verdicts, repeated)


def _repeating(
    statements: Sequence[Statement], shared: Iterable[Pair], sizes: Counter[str]
) -> set[frozenset[str]]:
    """Pairs of subjects of which one seems to repeat most of what the other says."""
    sides: dict[tuple[str, str], tuple[set[int], set[int]]] = defaultdict(lambda: (set(), set()))
    for i, j in shared:
        a, b = statements[i], statements[j]
        if a.subject != b.subject and min(relation(a.text, b.text).said) >= HALF_SAID:
            (x, at), (y, to) = sorted(((a.subject, i), (b.subject, j)))
            sides[x, y][0].add(at)
            sides[x, y][1].add(to)
    return {
        frozenset((a, b))
        for (a, b), (mine, theirs) in sides.items()
        if min(len(mine), len(theirs)) >= max(_COPIED, MOST * min(sizes[a], sizes[b]))
    }


def _scored(pairs: Sequence[tuple[Statement, Statement]], reader: Reader) -> Sequence[Verdict]:
    if not pairs:
        return ()
    memories = {each.memory.id: replace(each.memory, category=None) for pair in pairs for each in pair}
    names = sorted(memories)
    row = dict(zip(names, reader.encoder.encode([memories[name].text for name in names]), strict=True))
    candidates = []
    for pair in pairs:
        a, b = sorted(each.memory.id for each in pair)
        candidates.append(Candidate(a, b, float(row[a] @ row[b])))
    return judge(candidates, memories, reader.scorer, thresholds=reader.thresholds)


def asked(pair: tuple[Statement, Statement], verdict: Verdict) -> Verdict | None:
    """The verdict with the question that it is worth; None if it is worth none."""
    a, b = (each.text for each in sorted(pair, key=lambda each: each.memory.id))
    duplicate, against, _ = verdict.probabilities
    if any(item.kind in (SAME, "exact") for item in verdict.evidence):
        return verdict
    if verdict.label is Label.DUPLICATE and duplicate > max(LIKELY, against):
        nearly = min(relation(a, b).said) >= NEARLY_ALL
        if not nearly and not (duplicate >= CONTAINED and _contained(a, b)):
            return None
        if not finished(a, b):
            return verdict if comparable(a, b) else None
    one = min(relation(a, b).said) >= CHANGED or (_field(a) and _field(a) == _field(b))
    if verdict.label is not Label.DISTINCT and one and (words := finished(a, b)):
        done = Evidence(PROGRESS, words, veto=True)
        return replace(verdict, label=Label.CONTRADICTION, auto=False, evidence=(*verdict.evidence, done))
    held = side_by_side(a, b) or any(item.kind == "adds" for item in verdict.evidence)
    return verdict if not held and _excluded(pair, a, b, verdict) else None


def _excluded(pair: tuple[Statement, Statement], a: str, b: str, verdict: Verdict) -> bool:
    """Whether a verdict is enough to ask which of two texts holds."""
    said, kinds = relation(a, b).said, {item.kind for item in verdict.evidence if item.veto}
    duplicate, against, _ = verdict.probabilities
    field = _field(a) if _field(a) == _field(b) else ""
    field = field if pair[0].subject == pair[1].subject or len(significant_words(field)) >= _KEY else ""
    one = bool(field) or (_changes(a, b) and min(said) >= CHANGED)
    values = kinds - _STEPS
    states = bool(kinds & _STATES) and min(said) >= NEARLY_ALL and (len(kinds) > 1 or against > duplicate)
    if verdict.label is Label.UNSURE:
        limit = HALF_SAID if kinds & _VALUES else LIKELY
        return states or (against >= limit and bool(values & _VALUES or one))
    sure = against >= (HALF_SAID if values or one else SURE) and (values or one or min(said) >= LIKELY)
    return verdict.label is Label.CONTRADICTION and bool(sure or states)


def _contained(a: str, b: str) -> bool:
    """Whether one text says all of the other, code and paths left out, and is not much longer."""
    said, plain = relation(a, b).said, relation(_CODE.sub(" ", a), _CODE.sub(" ", b)).said
    return min(max(said), max(plain)) >= ALL and min(*said, *plain) >= _SHARED


def alike(
    statements: Sequence[Statement], one: Collection[frozenset[str]], shared: Iterable[Pair]
) -> list[Pair]:
    """Of pairs that share words those that are worth scoring, by their places in the row."""
    frames: dict[Frame, set[str]] = defaultdict(set)
    found: list[tuple[Pair, Frame | None]] = []
    keys = [statement_key(each.text) for each in statements]
    places: dict[str, set[str]] = defaultdict(set)
    for key, each in zip(keys, statements, strict=True):
        places[key].add(each.subject)
    for i, j in shared:
        a, b = statements[i], statements[j]
        frame = _frame(a.text, b.text)
        if frame is not None:
            frames[frame] |= {keys[i], keys[j]}
        if a.subject != b.subject and not (
            about_one(a, b, one) and len(places[keys[i]] | places[keys[j]]) < LIST
        ):
            continue
        if a.subject == b.subject and keys[i] == keys[j]:
            continue
        found.append(((i, j), frame))
    return [
        pair for pair, frame in found if frame is None or len(frames[frame]) < LIST or frame[0] in _FIELDS
    ]


def about_one(a: Statement, b: Statement, one: Collection[frozenset[str]] = ()) -> bool:
    """Whether two statements of two places can be about one thing.

    Each has a subject of its own, or the places are about one thing, or one names what the other is about.
    """
    if frozenset((a.subject, b.subject)) in one or (own_subject(a.text) and own_subject(b.text)):
        return True
    names = _names(a.subject), _names(b.subject)
    return bool(names[0] and names[0] <= _names(b.text)) or bool(names[1] and names[1] <= _names(a.text))


@lru_cache(maxsize=CACHED_TEXTS)
def _names(text: str) -> frozenset[str]:
    return significant_words(" ".join(_HUMPS.sub(" ", text).replace("_", " ").split()))


@lru_cache(maxsize=CACHED_TEXTS)
def own_subject(text: str) -> bool:
    """Whether a statement says by itself what it is about.

    >>> own_subject("Audit logs are kept for 90 days"), own_subject("Uses npm"), own_subject("Status: done")
    (True, False, False)
    """
    field = _FIELD.match(text)
    if field and len(significant_words(field[1])) >= _KEY:
        return True
    if field and tokens(field[1])[-1].text.casefold() in _FIELDS:
        return False
    said = _CODE.sub(" ", text[field.end() :] if field else text)
    words = sum(not any(map(str.isdigit, word)) for word in significant_words(said))
    return not _IMPLIED.match(said) and words >= _OWN - bool(_FINITE.search(said))


def comparable(a: str, b: str) -> bool:
    """Whether two texts that share their words can say the same at all.

    Not in other than Latin letters, which neither the encoder nor the scorer reads; not two fields of one
    template ("Functions: load", "Exports: load"); not a step and another text, or a plan and its end; not
    where each has numbers, or names of code, that the other has not, or has elsewhere.
    """
    if not all("LATIN" in unicode_name(char, "") for char in a + b if char.isalpha()):
        return False
    fields = {_field(a), _field(b)} - {""}
    if len(fields) > 1 or any(
        bool(rule.search(a)) != bool(rule.search(b)) for rule in (_INTENDED, _FINISHED, _STEP)
    ):
        return False
    first, second = _NUMBER.findall(a), _NUMBER.findall(b)
    if not (_in_order(first, second) or _in_order(second, first)):
        return False
    return _among(_quoted(a), b) or _among(_quoted(b), a)


def finished(a: str, b: str) -> str:
    """The words by which one text tells a task that the other says was done; empty if they do not."""
    for task, end in ((a, b), (b, a)):
        ahead = _TASK.search(task)
        if ahead and _DONE.search(end) and not _TASK.search(end) and not _DONE.search(task):
            return f"{ahead[0]} / done"
    return ""


def side_by_side(a: str, b: str) -> bool:
    """Whether two texts that seem to exclude each other may both hold: steps, cases, dates, additions."""
    if set(_YEAR.findall(a)) != set(_YEAR.findall(b)) or bool(_CASES.search(a)) != bool(_CASES.search(b)):
        return True
    if _field(a) and _field(b) and _field(a) != _field(b):
        return True
    if _ADDITIVE.match(a) and _ADDITIVE.match(b):
        return True
    first, second = tokens(a), tokens(b)
    head, _ = _edges(first, second)
    if head == 0 or head in (len(first), len(second)):
        return False
    numbers = all(token.text[:1].isdigit() for token in (first[head], second[head]))
    return numbers and first[head - 1].text.casefold() in _LABELS


def _sharing(statements: Sequence[Statement]) -> list[Pair]:
    """Pairs that share so many words, a field, a change or an opposite that one may be about the other."""
    words = [significant_words(each.text) for each in statements]
    holders: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(words):
        for word in row:
            holders[word].append(number)
    shared: Counter[Pair] = Counter()
    for numbers in holders.values():
        if len(numbers) <= MOST_HOLDERS:
            shared.update((i, j) for at, i in enumerate(numbers) for j in numbers[at + 1 :])
    found = {pair for pair in shared if _near(*(words[at] for at in pair))}
    pairs = {pair for pair in found if _said(*(statements[at].text for at in pair))}
    pairs |= {(i, j) for i, j in shared if _changes(statements[i].text, statements[j].text)}
    places: dict[str, list[int]] = defaultdict(list)
    for number, each in enumerate(statements):
        places[each.subject].append(number)
    for numbers in places.values():
        pairs |= set(_of_one_place([(at, statements[at].text, words[at]) for at in numbers]))
    return sorted(pairs)


def _near(a: frozenset[str], b: frozenset[str]) -> bool:
    both, (few, many) = len(a & b), sorted((len(a), len(b)))
    return both >= _SHARED * many or (both >= _KEY and both >= _WITHIN * few)


def _said(a: str, b: str) -> bool:
    fewer, more = sorted(relation(a, b).said)
    return fewer >= _SHARED and fewer + more >= 2 * HALF_SAID


def _changes(a: str, b: str) -> bool:
    """Whether one text tells of a change of something with a name that the other one names."""
    return any(
        _CHANGED.search(told) is not None
        and any(
            ((token.text[:1].isupper() and token.start > 0) or any(map(str.isdigit, token.text)))
            and token.stem in significant_words(other)
            for token in tokens(told)
        )
        for told, other in ((a, b), (b, a))
    )


def _of_one_place(rows: Sequence[tuple[int, str, frozenset[str]]]) -> Iterable[Pair]:
    """Short texts of one place that turn on an opposite, and the two values of one field."""
    fields: dict[str, list[int]] = defaultdict(list)
    for at, text, _ in rows:
        if (field := _field(text)) and field.split()[-1] in _FIELDS:
            fields[field].append(at)
    yield from ((held[0], held[1]) for held in fields.values() if len(held) == 2)
    short = [(at, words) for at, _, words in rows if 0 < len(words) <= _SHORT]
    for place, (i, mine) in enumerate(short):
        for j, theirs in short[place + 1 :]:
            only, others = mine - theirs, theirs - mine
            if len(only) == len(others) == 1 and opposite(*only, *others):
                yield i, j


def _frame(a: str, b: str) -> Frame | None:
    """What two texts share around the one short place in which they differ; None if they differ more."""
    first, second = tokens(a), tokens(b)
    head, tail = _edges(first, second)
    if head + tail < _FRAME or max(len(first), len(second)) - head - tail > _VALUE:
        return None
    return (
        *(token.text.casefold() for token in first[:head]),
        "…",
        *(t.stem for t in first[len(first) - tail :]),
    )


def _edges(first: Sequence[object], second: Sequence[object]) -> tuple[int, int]:
    """How many words two texts share at the beginning, and how many at the end."""
    rows = [[getattr(token, "stem", token) for token in row] for row in (first, second)]
    limit = min(map(len, rows))
    head = next((n for n in range(limit) if rows[0][n] != rows[1][n]), limit)
    rest = limit - head
    tail = next((n for n in range(rest) if rows[0][-1 - n] != rows[1][-1 - n]), rest)
    return head, tail


def _field(text: str) -> str:
    """The key that a text opens with, in small letters, behind a mark of correction; empty if it has none."""
    field = _FIELD.match(_CORRECTED.sub("", text))
    return field[1].casefold() if field else ""


def _in_order(few: Sequence[str], many: Sequence[str]) -> bool:
    rest = iter(many)
    return all(number in rest for number in few)


def _quoted(text: str) -> list[str]:
    """Names of code, and what stands in quotes: a command, a message."""
    quoted = [max(quotation) for quotation in _QUOTED.findall(text.casefold())]
    return [*quoted, *_CODE.findall(text.casefold())]


def _among(names: Iterable[str], text: str) -> bool:
    """Whether a text holds all of these names, or all behind the first part ("github.com/a/b": "a/b")."""
    held = text.casefold()
    return all(each in held or each.partition("/")[2] in _CODE.findall(held) for each in names)
