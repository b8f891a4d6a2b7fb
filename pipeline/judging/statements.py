"""Statements that may say the same, or exclude each other, wherever they stand.

A statement is a sentence, a bullet, a row, an observation, with its place (a file, an entity) and what the
place is about. Pairs are found by their words, across places; scorer and guards judge them, and a verdict is
asked about only where enough of each is said by the other. What the store makes of an answer is its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ... import indexes
from ...models.bindings import ALIKE, HALF_SAID, relation
from ...models.doubts import BOTH_ENTAIL
from ...models.encoder import Encoder
from ...models.places import bound
from ...models.same_statement import statement_key
from ...models.scorer import PairScorer, Thresholds
from ...models.subject import below
from ...models.text.vocabulary import opposite, opposites
from ...models.text.words import significant_words, stem
from ...models.whose import whose
from ...records import Candidate, Evidence, Label, Memory, Scope, Verdict
from . import bare_fields, screens
from .candidates import shared_words
from .judge import EXACT, SAME, judge
from .subjects import headings_of

MOST_HOLDERS = 60  # words that more statements have make no pairs
BRIEF = 4  # up to so many significant words, a statement is read with the heading above it
FACT = 5  # significant words of an observation that says one thing alone

LIKELY, LIKELY_IN_OTHER_WORDS = 0.6, 0.7
"""Probability above which two may be one, where each says `ALIKE` of the other, and where they say less."""

NEARLY_ALL, CONTAINED = 0.65, 0.73
"""Share of the words of each text that the other says, from which they may be one; and the probability that
is asked for where one says more."""

NEAR, NEAR_IN_PROSE, NEIGHBOURS = 0.4, 0.6, 8
"""Cosine from which two statements may be one in other words, of observations and of sentences; how many near
ones of each are read."""

READ_AS_ONE, READ_AS_RIVALS = 0.8, 0.85
"""Probability that such a pair is one, or a contradiction, from which it is asked about."""

SEEN, SEEN_IN_PROSE = 0.2, 0.7
"""How much of each text the scorer must see in the other: of two observations, and of two sentences."""

CHANGED = 0.3  # the share that what tells of a change and what it changed have at least in common
STATED = 0.9  # probability from which two values of one frame exclude each other
DENIED = 0.7  # the share that a statement and its denial say of each other, on average
LIST = 3  # so many statements of one frame are a list, so many places of one statement a template
REPEATED = 0.6  # share of the statements of a place that another one repeats, from which they may be one

PROGRESS = "progress"
_SHORTER, _LONGER, _SAID = 0.5, 0.3, 0.4
"""Share of the words of the shorter and the longer of two statements that both have, and of what each says of
the other, from which they are compared."""
_COPIED = 2
_STEPS = frozenset({PROGRESS, "stage", "past"})
_STATES = _STEPS | {"rival"}
_NUMBERS = frozenset({"number", "version", "frequency", "rival"})
_DENIED, _ORDERS = frozenset({"negation", "denial", "trait"}), frozenset({"order", "binding"})
_VALUES = _STATES | _NUMBERS | _DENIED
"""Vetoes that make a conflict of what the scorer doubts: the first alone, the others where it tends to it."""
_WORDS = frozenset({"name", "swap"})
"""Vetoes that do so where the two end on the words in question: other things are what they begin with."""
_SCOPE = Scope.of(statements="all")

Pair = tuple[int, int]
Places = frozenset[str]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a store."""

    memory: Memory  # that says it
    text: str  # as it stands there
    words: str  # as it is read
    subject: str = ""  # the heading above it, or the name of the entity
    line: int = 0  # of the memory's text, from 0
    row: bool = False  # of a table
    block: str = ""  # the list or section it is a member of; empty for a sentence of a paragraph
    named: bool = False  # whether the subject is a name, of a thing of its own
    behind: str = ""  # the file, if another sentence stands in front of it, which may say what it is about

    @property
    def place(self) -> str:
        """The entity or the memory that it stands in."""
        return self.subject if self.named else self.memory.id

    @property
    def members_of(self) -> str:
        """The entity, or the one Markdown list, of which it is a member; empty if it is in none."""
        if self.named or self.row or not self.block:
            return self.subject if self.named else ""
        return bare_fields.list_of(self.memory, self.line, self.block)

    @property
    def file(self) -> str:
        """The file of a section, or the memory."""
        return self.memory.id.partition("#")[0]

    @property
    def judged(self) -> str:
        """The words, behind the heading where these are too few to name a subject, and name none."""
        few = not self.named and len(significant_words(self.words)) <= BRIEF
        few = few and not screens.stands_alone(self.words)
        above = significant_words(self.subject) - significant_words(self.words)
        return f"{self.subject}: {self.words}" if few and above else self.words

    @property
    def headings(self) -> list[str]:
        """The title of its file and the headings that it stands below; none in an entity."""
        title = screens.title(self.memory.text)
        return [] if self.named else [*headings_of(self.memory), title, self.subject]

    @property
    def key(self) -> tuple[str, int, str]:
        """Where it stands, for sorting."""
        return self.memory.id, self.line, self.text

    def told(self, other: Statement) -> tuple[float, float]:
        """The share of its words that another statement says, and the reverse, with and without headings."""
        read, bare = relation(self.judged, other.judged).said, relation(self.words, other.words).said
        return min(read[0], bare[0]), min(read[1], bare[1])


class Reader(NamedTuple):
    """Who judges statements: models, and thresholds instead of the scorer's own."""

    encoder: Encoder
    scorer: PairScorer
    thresholds: Thresholds | None = None

    def verdicts(self, memories: Iterable[Memory], pairs: Sequence[Candidate]) -> tuple[Verdict, ...]:
        """Judge pairs of these memories."""
        return judge(pairs, {m.id: m for m in memories}, self.scorer, thresholds=self.thresholds)


@dataclass(frozen=True, slots=True)
class Finding:
    """Two statements that say the same, or cannot both hold."""

    a: Statement
    b: Statement
    verdict: Verdict  # of their memories; DUPLICATE or CONTRADICTION
    sure: bool
    alone: bool = True  # worth a question by itself, and not only as one of many between two places

    @property
    def places(self) -> Places:
        """Where the two stand."""
        return frozenset((self.a.place, self.b.place))

    @property
    def same(self) -> bool:
        """Whether they say the same."""
        return self.verdict.label is Label.DUPLICATE

    @property
    def exact(self) -> bool:
        """Whether they are one statement written twice."""
        return _exact(self.verdict)


def findings(
    statements: Sequence[Statement],
    reader: Reader,
    *,
    of: Collection[str] | None = None,
    one: Collection[Places] = (),
) -> list[Finding]:
    """Judge all pairs of statements of one scope that may be one, or against each other, in their order.

    Only pairs with a statement of one of the memories `of`; `one` holds pairs of named places that are known
    to be about the same thing.
    """
    read = (replace(each, words=screens.unlabelled(each.words)) for each in statements)
    brief = (each for each in read if len(each.words.split()) <= screens.LONGEST)
    every = sorted(brief, key=lambda each: each.key)
    rows = [at for at, each in enumerate(every) if each.named or screens.says_something(each.words)]
    said = [every[at] for at in rows]
    shared = _sharing(said)
    copies = _copies(said, shared) - {*one}
    close = _neighbours(said, reader) - {*shared}
    worth = {(rows[i], rows[j]) for i, j in _worth_scoring(said, shared, {*one, *copies}, close)}
    near = {(rows[i], rows[j]) for i, j in close} & worth
    fields = _fields(every)
    ends = range(len(every)) if of is None else {at for at, each in enumerate(every) if each.memory.id in of}
    pairs = [(i, j) for i, j in sorted(worth | fields) if i in ends or j in ends]
    found = []
    for (i, j), told in zip(pairs, _scored(every, pairs, reader), strict=True):
        a, b = every[i], every[j]
        how = _finding(a, b, told, copies, field=(i, j) in fields)
        found.append(_as_read(a, b, told) if how is None and (i, j) in near else how)
    return [finding for finding in found if finding is not None]


def _neighbours(statements: Sequence[Statement], reader: Reader) -> set[Pair]:
    """Pairs that are near in meaning, in whatever words; members of one list are none."""
    rows = [at for at, e in enumerate(statements) if len(significant_words(e.words)) >= screens.FEWEST]
    vectors = reader.encoder.encode([statements[at].judged for at in rows])
    pairs = set[Pair]()
    for near, other, cosine in indexes.near_pairs(vectors, floor=NEAR, neighbours=NEIGHBOURS):
        a, b = statements[rows[near]], statements[rows[other]]
        if (a.named and b.named) or (cosine >= NEAR_IN_PROSE and not _in_one(a, b)):
            pairs.add((rows[near], rows[other]))
    return pairs


def _as_read(a: Statement, b: Statement, verdict: Verdict) -> Finding | None:
    """What the scorer alone says of two statements in other words, where it is nearly sure; else None."""
    duplicate, against, _ = verdict.probabilities
    vetoed = any(item.veto for item in verdict.evidence)
    observed = a.named and b.named  # a sentence of prose means little without those around it
    seen = min(verdict.entailment) >= (SEEN if observed else SEEN_IN_PROSE)
    if duplicate >= READ_AS_ONE and not vetoed and seen:
        return _placed(a, b, replace(verdict, label=Label.DUPLICATE), sure=verdict.auto, alone=True)
    if observed and against >= READ_AS_RIVALS and verdict.label in (Label.CONTRADICTION, Label.UNSURE):
        return _placed(a, b, replace(verdict, label=Label.CONTRADICTION), sure=False, alone=True)
    return None


def repeating(
    found: Iterable[Finding], statements: Iterable[Statement], *, fewest: int = _COPIED
) -> dict[Places, tuple[int, int]]:
    """Pairs of places of which one repeats most of what the other says: how many, of how many."""
    sizes = Counter(each.place for each in statements)
    said: dict[Places, list[Finding]] = defaultdict(list)
    for each in found:
        if len(each.places) > 1:
            said[each.places].append(each)
    repeated = {}
    for places, rows in said.items():
        of = min(sizes[place] for place in places)
        few = min(
            len({e.key for row in rows for e in (row.a, row.b) if e.place == place and row.same})
            for place in places
        )
        if few >= max(fewest, REPEATED * of) and all(row.same for row in rows):
            repeated[places] = (few, of)
    return repeated


def about_one(a: Statement, b: Statement, one: Collection[Places] = ()) -> bool:
    """Whether two statements of two places can be about one thing: one names it, or each has a subject."""
    if not (a.named and b.named) or frozenset((a.place, b.place)) in one:
        return True
    if screens.own_subject(a.words) and screens.own_subject(b.words):
        return True
    return any(
        bool(screens.names(this.subject)) and screens.names(this.subject) <= screens.names(other.words)
        for this, other in ((a, b), (b, a))
    )


def _sharing(statements: Sequence[Statement]) -> list[Pair]:
    texts = [each.judged for each in statements]
    words = [significant_words(text) for text in texts]
    shared = shared_words(texts, most=MOST_HOLDERS)
    pairs = {(i, j) for i, j in shared if screens.changes(statements[i].words, statements[j].words)}
    for i, j in shared:
        if _near(words[i], words[j]):
            told = statements[i].told(statements[j])
            pairs |= {(i, j)} if min(told) >= _SAID and sum(told) >= 2 * HALF_SAID else set()
    places: dict[str, list[int]] = defaultdict(list)
    for row, each in enumerate(statements):
        if each.named:
            places[each.place].append(row)
    for rows in places.values():
        pairs |= set(_of_one_place([(at, statements[at].words, words[at]) for at in rows]))
    return sorted(pairs)


def _fields(statements: Sequence[Statement]) -> set[Pair]:
    """Pairs of one entity, or of one list, that are one attribute with two values and nothing besides."""
    told = ((each.members_of if bare_fields.bare(each.words) else "", each.words) for each in statements)
    return set(bare_fields.rivals(told))


def sharing(texts: Sequence[str]) -> list[Pair]:
    """Pairs of texts that share enough words to be compared, as rows in order."""
    words = [significant_words(text) for text in texts]
    return sorted(
        pair for pair in shared_words(texts, most=MOST_HOLDERS) if _near(*(words[row] for row in pair))
    )


def _near(a: frozenset[str], b: frozenset[str]) -> bool:
    few, many = sorted((len(a), len(b)))
    return len(a & b) >= max(_SHORTER * few, _LONGER * many, 1)


def _of_one_place(rows: Sequence[tuple[int, str, frozenset[str]]]) -> Iterable[Pair]:
    """Short texts of one place that turn on an opposite, and the two values of one field."""
    fields: dict[str, list[int]] = defaultdict(list)
    for at, text, _ in rows:
        if (key := screens.field(text)) and key.split()[-1] in screens.FIELDS:
            fields[key].append(at)
    yield from ((held[0], held[1]) for held in fields.values() if len(held) == 2)
    turning: dict[tuple[frozenset[str], str], list[int]] = defaultdict(list)
    for at, _, words in rows:
        for word in words if len(words) <= BRIEF else ():
            turning[words - {word}, stem(word)].append(at)
    for (rest, word), held in turning.items():
        for other in opposites(word):
            against = turning.get((rest, other), ())[:MOST_HOLDERS]
            yield from ((min(i, j), max(i, j)) for i in held[:MOST_HOLDERS] for j in against)


def _opposite(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    only, others = mine - theirs, theirs - mine
    return len(only) == len(others) == 1 and opposite(*only, *others)


def _copies(statements: Sequence[Statement], shared: Iterable[Pair]) -> set[Places]:
    sizes = Counter(each.place for each in statements)
    sides: dict[tuple[str, str], tuple[set[int], set[int]]] = defaultdict(lambda: (set(), set()))
    for i, j in shared:
        a, b = statements[i], statements[j]
        if a.named and b.named and a.place != b.place and min(a.told(b)) >= HALF_SAID:
            (x, at), (y, to) = sorted(((a.place, i), (b.place, j)))
            sides[x, y][0].add(at)
            sides[x, y][1].add(to)
    return {
        frozenset((a, b))
        for (a, b), (mine, theirs) in sides.items()
        if min(len(mine), len(theirs)) >= max(_COPIED, REPEATED * min(sizes[a], sizes[b]))
    }


def _worth_scoring(
    statements: Sequence[Statement], shared: Iterable[Pair], one: Collection[Places], close: Collection[Pair]
) -> list[Pair]:
    """Of pairs that share words, or are close, those worth scoring: no lists, templates, other subjects."""
    keys = [statement_key(each.judged) for each in statements]
    places: dict[str, set[str]] = defaultdict(set)
    for key, each in zip(keys, statements, strict=True):
        places[key].add(each.place)
    sections: dict[str, set[str]] = defaultdict(set)
    for each in statements:
        sections[screens.field(each.words)].add(each.place if each.named else each.block)
    labels = {label for label, blocks in sections.items() if label and len(blocks) >= LIST}
    frames = defaultdict[tuple[object, ...], set[str]](set)
    found: list[tuple[Pair, tuple[tuple[object, ...], ...]]] = []
    for i, j in sorted({*shared, *close}):
        a, b, same = statements[i], statements[j], keys[i] == keys[j]
        own = () if same else _frames(a, b)
        for shape in own:
            frames[shape] |= {keys[i], keys[j]}
        template = (a.named and a.place != b.place and len(places[keys[i]] | places[keys[j]]) >= LIST) or (
            screens.field(a.words) in labels and not _one_heading(a, b, one)
        )
        if template or _apart(a, b, one):
            continue
        asked = not same and ((i, j) in close or _may_be_asked(a, b))
        if asked or (same and not (a.named and a.place == b.place)):
            found.append(((i, j), own))
    return [pair for pair, own in found if all(len(frames[each]) < LIST for each in own)]


def _apart(a: Statement, b: Statement, one: Collection[Places]) -> bool:
    """Whether two statements are about two things: of two subjects, rows of one table, or two fields.

    In one file a brief sentence in the middle of a text is about what stands in front of it.
    """
    # Rows of a table, or values of cases: "0.5 for short texts".
    rows = _in_one(a, b) and (
        (a.row and b.row) or all(screens.leads_with_number(each.words) for each in (a, b))
    )
    if a.behind and a.behind == b.behind:
        few = min(len(significant_words(each.words)) for each in (a, b))
        if few <= FACT or not (screens.own_subject(a.words) and screens.own_subject(b.words)):
            return True  # "Applies to guests.", of one form and of another
    elif a.named and b.named:
        if screens.numbered_apart(a.subject, b.subject) or screens.describes_itself(
            a.words, a.subject, b.words, b.subject
        ):
            return True
    elif a.file != b.file and screens.bare_field(a.words) and screens.bare_field(b.words):
        return True
    if rows or screens.report(a.words, b.words) or screens.fields_apart(a.words, b.words):
        return True
    told = whose(below(a.headings, a.words), below(b.headings, b.words))
    if told is not None and told.veto:
        return True
    return a.place != b.place and not about_one(a, b, one)


def _in_one(a: Statement, b: Statement) -> bool:
    return a.block == b.block != "" and not a.named


def _one_heading(a: Statement, b: Statement, one: Collection[Places]) -> bool:
    """Whether two statements with a label that many sections or entities have stand below one name."""
    if a.named and b.named:
        return a.place == b.place or frozenset((a.place, b.place)) in one
    few, many = sorted((significant_words(each.subject) for each in (a, b)), key=len)
    return a.block == b.block or (bool(few) and few <= many)


def _may_be_asked(a: Statement, b: Statement) -> bool:
    """Whether any verdict on these two would be worth a question."""
    told, texts = a.told(b), (a.judged, b.judged)
    if bare_fields.several(a.words, b.words):
        return False
    if screens.brief(*texts) and (
        _one_attribute(a, b, told) or screens.finished(*texts) or _opposed(a, b, told)
    ):
        return True
    return (min(told) >= NEARLY_ALL or screens.contained(*texts)) and screens.comparable(*texts)


def _opposed(a: Statement, b: Statement, told: tuple[float, float]) -> bool:
    """Whether two statements say enough of each other to be rivals; a brief fact has one value."""
    facts = a.named and max(len(significant_words(each.words)) for each in (a, b)) <= FACT
    near = max(told) >= NEARLY_ALL or screens.ends_apart(a.words, b.words)
    return facts or (min(told) >= HALF_SAID and near)


def _one_attribute(a: Statement, b: Statement, told: tuple[float, float]) -> bool:
    if a.place == b.place and _opposite(significant_words(a.judged), significant_words(b.judged)):
        return True
    single = not any(screens.lists(text) for text in (a.words, b.words))
    key = screens.attribute(a.judged, b.judged) if single else ""
    key = key if a.place == b.place or len(significant_words(key)) >= screens.KEY else ""
    changed = screens.changes(a.judged, b.judged) or screens.corrects(a.text) != screens.corrects(b.text)
    return bool(key) or (changed and min(told) >= CHANGED)


def _frames(a: Statement, b: Statement) -> tuple[tuple[object, ...], ...]:
    mine, theirs = significant_words(a.judged), significant_words(b.judged)
    if screens.turns(mine, theirs):
        return ()
    around: screens.Frame | None = screens.frame(a.words, b.words)
    found: list[tuple[object, ...]] = [(mine & theirs, at) for at in {a.block, b.block} if not a.named]
    if around is not None and around[0] not in screens.FIELDS:
        found.append(around)
    return tuple(found)


def _scored(statements: Sequence[Statement], pairs: Sequence[Pair], reader: Reader) -> Sequence[Verdict]:
    if not pairs:
        return ()
    ends = sorted({row for pair in pairs for row in pair})
    bare: dict[str, Any] = {"scope": _SCOPE, "category": None, "metadata": {}}
    texts, names = [statements[row].judged for row in ends], [f"{row:07}" for row in ends]
    memories = {
        name: replace(statements[row].memory, id=name, text=text, **bare)
        for name, row, text in zip(names, ends, texts, strict=True)
    }
    vectors = dict(zip(ends, reader.encoder.encode(texts), strict=True))
    rows = [Candidate(f"{i:07}", f"{j:07}", float(np.clip(vectors[i] @ vectors[j], -1, 1))) for i, j in pairs]
    return judge(rows, memories, reader.scorer, thresholds=reader.thresholds, keys={})


def _finding(
    a: Statement, b: Statement, verdict: Verdict, copies: Collection[Places], *, field: bool
) -> Finding | None:
    asked = _asked(a, b, verdict, a.told(b))
    if field and verdict.label is not Label.DUPLICATE:
        values = Evidence("rival", bare_fields.rival_values(a.words, b.words), veto=True)
        asked = replace(verdict, label=Label.CONTRADICTION, evidence=(*verdict.evidence, values))
    if asked is None:
        return None
    alone = frozenset((a.place, b.place)) not in copies or about_one(a, b)
    if _exact(verdict) and a.named and a.place != b.place and not screens.tells(a.words):
        alone = False  # what an entity is like it says of itself
    elif a.named and a.place != b.place and asked.label is Label.DUPLICATE and _general(a, b):
        alone = alone and min(verdict.entailment) >= BOTH_ENTAIL
    # sure: the verdict itself, or a task that was done, says what a person is asked
    sure = verdict.label is asked.label or len(asked.evidence) > len(verdict.evidence)
    return _placed(a, b, asked, sure=sure, alone=alone)


def _placed(a: Statement, b: Statement, verdict: Verdict, *, sure: bool, alone: bool) -> Finding:
    """A verdict on two statements as one on the memories that they stand in."""
    ids = (a.memory.id, b.memory.id)
    pair = replace(verdict.pair, a=min(ids), b=max(ids))
    directions = verdict.entailment if ids == (pair.a, pair.b) else verdict.entailment[::-1]
    return Finding(a, b, replace(verdict, pair=pair, auto=False, entailment=directions), sure, alone)


def _general(a: Statement, b: Statement) -> bool:
    """Whether two statements of few words name nothing: "All tests pass" holds of its own entity."""
    few = min(len(significant_words(each.words)) for each in (a, b)) <= BRIEF
    return few and not all(any(unit.detail for unit in bound(each.words).units) for each in (a, b))


def _exact(verdict: Verdict) -> bool:
    return any(item.kind in (EXACT.kind, SAME) for item in verdict.evidence)


def _asked(a: Statement, b: Statement, verdict: Verdict, told: tuple[float, float]) -> Verdict | None:
    if _exact(verdict):
        return replace(verdict, label=Label.DUPLICATE)
    duplicate, against, _ = verdict.probabilities
    texts = a.judged, b.judged
    ended = screens.finished(*texts)
    floor = LIKELY if min(told) >= ALIKE else LIKELY_IN_OTHER_WORDS
    if verdict.label is Label.DUPLICATE and duplicate > max(floor, against):
        near = min(told) >= NEARLY_ALL or (duplicate >= CONTAINED and screens.contained(*texts))
        if not (near and ended):
            two = a.named and a.place != b.place and screens.codes_apart(*texts)
            return verdict if near and not two and screens.comparable(*texts) else None
    one = min(told) >= CHANGED or bool(
        screens.field(texts[0]) and screens.field(texts[0]) == screens.field(texts[1])
    )
    if ended and one and screens.brief(*texts) and verdict.label is not Label.DISTINCT:
        done = Evidence(PROGRESS, ended, veto=True)
        return replace(verdict, label=Label.CONTRADICTION, auto=False, evidence=(*verdict.evidence, done))
    held = screens.side_by_side(*texts) or any(item.kind == "adds" for item in verdict.evidence)
    excluded = screens.brief(*texts) and not held and _excluded(a, b, verdict, told)
    return replace(verdict, label=Label.CONTRADICTION, auto=False) if excluded else None


def _excluded(a: Statement, b: Statement, verdict: Verdict, told: tuple[float, float]) -> bool:
    """Whether a verdict is enough to ask which of two statements holds.

    They must be about one thing, and something must state that only one value holds: a guard, a field, a
    change. A scorer alone calls every second pair of facts about one feature a contradiction.
    """
    kinds = {item.kind for item in verdict.evidence if item.veto}
    duplicate, against, _ = verdict.probabilities
    one, denied = _one_attribute(a, b, told), not (a.row or b.row) and _denied(a, b, verdict)
    whole = denied and max(told) >= 1  # a brief text, and that it does not hold
    about_it = a.named or all(
        screens.own_subject(each.words) or (whole and screens.tells(each.words)) for each in (a, b)
    )
    if not one and not (about_it and _opposed(a, b, told)):
        return False
    values = one or denied or _two_values(a, b, verdict, told)
    states = bool(kinds & _STATES) and min(told) >= NEARLY_ALL and (len(kinds) > 1 or against > duplicate)
    states |= "rival" in kinds and screens.ends_apart(a.words, b.words, uses=True)  # one attribute
    if verdict.label is Label.UNSURE:
        return states or (against >= (HALF_SAID if denied or kinds & _VALUES else LIKELY) and values)
    held = against >= HALF_SAID or duplicate >= against  # or guards say so, whatever the scorer thinks
    return verdict.label is Label.CONTRADICTION and (states or (held and values))


def _denied(a: Statement, b: Statement, verdict: Verdict) -> bool:
    """Whether two statements say much the same, and one of them that it is not so."""
    near = sum(relation(a.words, b.words).said) >= 2 * DENIED
    return screens.only_denied(a.words, b.words) or (
        near and any(item.kind in _DENIED for item in verdict.evidence)
    )


def _two_values(a: Statement, b: Statement, verdict: Verdict, told: tuple[float, float]) -> bool:
    """Whether two statements give one thing two values, or two orders, by their guards or their words."""
    kinds = {item.kind for item in verdict.evidence if item.veto}
    against, near = verdict.probabilities[1], min(told) >= NEARLY_ALL
    if kinds & _NUMBERS and (near or verdict.label is not Label.UNSURE):
        return True
    if kinds & _ORDERS and min(told) >= ALIKE:
        return True
    if (kinds & _WORDS or against >= LIKELY) and screens.ends_apart(a.words, b.words):
        return True
    return against >= STATED and screens.frame(a.words, b.words) is not None
