"""Guards: the load-bearing details in which two memories differ, and those a merged text would lose.

A guard never says that two texts mean the same; it only finds reasons why they do not. `compare` gives evidence for
a pair, `missing` refuses a merged text, `is_specific` keeps short but exact memories, `features` feeds the scorer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain

from .facts import Clock, Day, Detail, Facts, Identifier, Name, Negation, Number, Quote, Relative, Trait, Version, extract
from .facts.names import same_name
from .facts.polarity import is_light
from .facts.synonyms import FRAME_WORDS, synonyms
from .facts.tokens import Word, fold, normalise, stem
from .records import Evidence

KINDS = {
    "number": "amounts, counts, ordinals, with unit and period",
    "date": "days, months, years and parts of years; relative days where both memories are dated",
    "weekday": "days of the week",
    "time": "times of day",
    "frequency": "how often something happens",
    "name": "people, places, products, organisations",
    "url": "URLs and e-mail addresses",
    "path": "files and folders",
    "identifier": "tickets, hosts, flags, variables, models, hashes",
    "version": "versions of something",
    "quote": "code spans and quoted strings; never a veto",
    "environment": "production, staging, ...",
    "kinship": "mother, brother, boss, ...",
    "quantifier": "always, all, only, any; an exception on one side",
    "negation": "one text denies what the other says",
    "order": "the same words with two of them exchanged: Anna reports to Ben / Ben reports to Anna",
    "swap": "one word or two exchanged in an otherwise equal text: studies medicine / studies law",
    "trait": "other words that exclude each other: left and right, colours, enabled and disabled",
}
_FAMILY_KIND = {"environment": "environment", "kinship": "kinship", "always": "quantifier", "all": "quantifier", "any": "quantifier", "frequency word": "quantifier"}
_SOFT_FAMILIES = frozenset({"before", "limit", "above", "all", "any", "start", "open", "allowed", "frequency word", "marital", "season", "diet", "like", "always", "pass", "buy"})
_NEVER_VETO = frozenset({"quote"})
_COPULAS = frozenset("is are was were and or with plus equals named called i.e namely as".split())
_JOINS = frozenset(("but", "while", "whereas", "although", "because", "so"))
_PAUSE = re.compile(r"[,;:](?=\s)")
_LONGEST_EXCHANGED = 4
_EXCEPTION = re.compile(r"\b(?:except|apart from|other than|aside from|but not|excluding|save for|besides)\b", re.IGNORECASE)
_UNIVERSAL = re.compile(r"\b(?:all|every|everything|everyone|always|any|each|whole|entire)\b", re.IGNORECASE)
# Ways of denying that are no negation word: prefixes, endings, limits. Where one stands, a denial may be a paraphrase.
_HIDDEN_NEGATION = re.compile(
    r"\b(?:non-?|un(?!i|der|til|less)|in\w+ble\b|im\w+ble\b|ir\w+ble\b|\w+less\b|\w+[- ]free\b|only\b|sole|earliest\b|latest\b|away\b|frozen\b|blocked\b|"
    r"trouble\b|yet to\b|still need|turn(?:s|ed)? down|keep\w* \w+(?: \w+)? out\b|at most\b|up to\b|max\b|until\b|end(?:s|ed)\b|limited\b|closed?\b|finish|complet|done\b|empty\b)",
    re.IGNORECASE,
)
_SHORTEST_FRAME = 2
_LONGEST_SWAP = 3
_REACH_SHARE = 0.6
_LITERAL_EDGE = r"(?<![^\W_])(?<![0-9][.,]){}(?![^\W_])(?![.,][0-9])"


def compare(a: str, b: str, *, a_date: datetime | None = None, b_date: datetime | None = None) -> tuple[Evidence, ...]:
    """Return one evidence per kind of detail in which two texts differ.

    Args:
        a: One text.
        b: The other text; swapping gives the same kinds and vetoes.
        a_date: When `a` was written, for "yesterday" and the like.
        b_date: When `b` was written.

    >>> compare("Takes 20 mg at 5 pm", "Takes 40 mg at 17:00")
    (Evidence(kind='number', detail='20 mg / 40 mg', veto=True),)
    """
    left, right = extract(a), extract(b)
    found = []
    for kind, mine, theirs in _pairs(left, right, a_date, b_date):
        evidence = _differ(kind, mine, theirs, left, right)
        if evidence is not None:
            found.append(evidence)
    found.extend(_denials(left, right))
    found.extend(_exceptions(left, right))
    found.extend(_exchanged(left, right) or _swapped(left, right, found))
    return tuple(found)


def _pairs(left: Facts, right: Facts, a_date: datetime | None, b_date: datetime | None) -> Iterable[tuple[str, Sequence[Detail], Sequence[Detail]]]:
    """Yield the details of both texts kind by kind."""
    yield "number", left.numbers, right.numbers
    yield "date", _days(left, a_date), _days(right, b_date)
    yield "weekday", left.weekdays, right.weekdays
    yield "time", left.clocks, right.clocks
    yield "frequency", left.frequencies, right.frequencies
    yield "name", left.names, right.names
    yield "url", left.links, right.links
    yield "path", left.paths, right.paths
    yield "identifier", left.identifiers, right.identifiers
    yield "version", left.versions, right.versions
    yield "quote", left.quotes, right.quotes
    if left.traits or right.traits:
        for kind in ("environment", "kinship", "quantifier", "trait"):
            yield kind, _family(left.traits, kind), _family(right.traits, kind)


def _days(facts: Facts, moment: datetime | None) -> tuple[Detail, ...]:
    """Dates of a text, relative ones resolved if it is known when it was written."""
    if not facts.relatives:
        return facts.days
    return (*facts.days, *(each if moment is None else each.on(moment) for each in facts.relatives))


def _family(traits: Sequence[Trait], kind: str) -> tuple[Trait, ...]:
    """Traits that are reported under a kind."""
    return tuple(each for each in traits if _FAMILY_KIND.get(each.family, "trait") == kind)


def _differ(kind: str, mine: Sequence[Detail], theirs: Sequence[Detail], left: Facts, right: Facts) -> Evidence | None:
    """Evidence for one kind, or None where nothing differs."""
    if not mine and not theirs:
        return None
    only_left = [each for each in mine if not _stated(each, theirs, right)]
    only_right = [each for each in theirs if not _stated(each, mine, left)]
    if not only_left and not only_right:
        return None
    rivals = [(x, y) for x in only_left for y in only_right if x.rivals(y) and not _soft(x)]
    veto = bool(rivals) and kind not in _NEVER_VETO
    if veto:
        only_left, only_right = [x for x, _ in rivals], [y for _, y in rivals]
    return Evidence(kind, f"{_show(only_left)} / {_show(only_right)}", veto)


def _soft(detail: Detail) -> bool:
    """Whether a trait is too common in other senses to forbid a merge by itself."""
    return isinstance(detail, Trait) and detail.family in _SOFT_FAMILIES


def _show(details: Sequence[Detail]) -> str:
    """Print details shortly, each once."""
    return ", ".join(dict.fromkeys(each.text for each in details)) or "-"


def _stated(detail: Detail, others: Sequence[Detail], facts: Facts) -> bool:
    """Whether the other text states this detail, as the same kind or as another."""
    if any(detail.agrees(other) for other in others):
        return True
    if isinstance(detail, Number):
        return _number_stated(detail, facts)
    if isinstance(detail, Clock):
        return any(detail.agrees(number) for number in facts.numbers)
    if isinstance(detail, Day):
        if any(n.form == "ordinal" and n.value == detail.day for n in facts.numbers):
            return True
        return detail.year is not None and detail.month is None and any(n.value == detail.year for n in facts.numbers)
    if isinstance(detail, Relative):
        return bool(facts.days)
    if isinstance(detail, Version):
        return any(number.unit is None and detail.key.split(".")[0] == f"{number.value:g}" for number in facts.numbers)
    if isinstance(detail, Name | Identifier):
        return _word_stated(detail, facts)
    if isinstance(detail, Quote):
        return detail.key in fold(facts.text)
    return False


def _number_stated(number: Number, facts: Facts) -> bool:
    """Whether the other text has this number as an hour, a version, a year, a day or a frequency."""
    if number.unit is not None:
        return False
    if any(clock.agrees(number) for clock in facts.clocks):
        return True
    if any(each.key.split(".")[0] == f"{number.value:g}" for each in facts.versions):
        return True
    return any(number.value in (day.year, day.day) for day in facts.days)


def _word_stated(detail: Name | Identifier, facts: Facts) -> bool:
    """Whether the other text has the word of a name in any case, spelling or as initials."""
    folded = detail.folded if isinstance(detail, Name) else detail.key
    if any(same_name(folded, word) for word in _vocabulary(facts)):
        return True
    if isinstance(detail, Name):
        if detail.opens and "user" in _vocabulary(facts):
            return True
        if detail.text.isupper() and len(folded) > 1 and folded in _initials(facts):
            return True
        return len(detail.phrase) > 1 and "".join(word[0] for word in detail.phrase) in _vocabulary(facts)
    return False


@lru_cache(maxsize=65536)
def _vocabulary(facts: Facts) -> frozenset[str]:
    """Folded words of a text."""
    return frozenset(word.folded for word in facts.words)


@lru_cache(maxsize=65536)
def _initials(facts: Facts) -> str:
    """First letters of the words of a text."""
    return "".join(word.folded[:1] for word in facts.words)


def _denials(left: Facts, right: Facts) -> list[Evidence]:
    """Evidence where one text denies a word that the other affirms."""
    first, second = _denied(left, right), _denied(right, left)
    if first or second:
        return [Evidence("negation", f"{_show(first)} / {_show(second)}", veto=True)]
    if bool(left.negations) != bool(right.negations):
        return [Evidence("negation", f"{_show(left.negations)} / {_show(right.negations)}")]
    return []


def _denied(denying: Facts, other: Facts) -> list[Negation]:
    """Negations whose reach the other text affirms, while it denies nothing of the kind in any way."""
    if not denying.negations or _HIDDEN_NEGATION.search(other.text):
        return []
    present = _stems(other)
    own_affirmed = _affirmed(denying)
    return [
        each
        for each in denying.negations
        if each.hard
        and each.reach
        and _affirms(present, each.reach)
        and not any(_same_denial(each, their) for their in other.negations)
        and not any(word in own_affirmed for word in each.objects & present)
    ]


def _affirms(present: frozenset[str], reach: tuple[str, ...]) -> bool:
    """Whether a text has most of what a negation reaches, its verb included; or all of its objects."""
    if reach[0] in present:
        return sum(word in present for word in reach) >= _REACH_SHARE * len(reach)
    return len(reach) > 2 and not is_light(reach[0]) and all(word in present for word in reach[1:])


def _same_denial(mine: Negation, theirs: Negation) -> bool:
    """Whether two negations deny a common thing; "not allergic" does not repeat the denial in "allergic"."""
    if not theirs.hard and stem(theirs.cue.split(" ")[0]) in mine.reach:
        return False
    if mine.objects & theirs.objects:
        return True
    return not (mine.heavy and theirs.heavy) and bool(set(mine.reach) & set(theirs.reach))


@lru_cache(maxsize=65536)
def _stems(facts: Facts) -> frozenset[str]:
    """Stems of a text's words."""
    return frozenset(stem(word.folded) for word in facts.words)


@lru_cache(maxsize=65536)
def _affirmed(facts: Facts) -> frozenset[str]:
    """Stems that a text has outside the reach of its negations, so that it does not simply deny them."""
    counts: dict[str, int] = {}
    for word in facts.words:
        key = stem(word.folded)
        counts[key] = counts.get(key, 0) + 1
    for each in facts.negations:
        for key in each.reach:
            counts[key] = counts.get(key, 0) - 1
    return frozenset(key for key, count in counts.items() if count > 0)


def _exceptions(left: Facts, right: Facts) -> list[Evidence]:
    """Evidence where both speak of all and only one makes an exception."""
    mine, theirs = _EXCEPTION.search(left.text), _EXCEPTION.search(right.text)
    if bool(mine) == bool(theirs) or not (_UNIVERSAL.search(left.text) and _UNIVERSAL.search(right.text)):
        return []
    shown = (mine.group() if mine else "-", theirs.group() if theirs else "-")
    return [Evidence("quantifier", f"{shown[0]} / {shown[1]}", veto=True)]


def _exchanged(left: Facts, right: Facts) -> list[Evidence]:
    """Evidence where the texts differ only by two parts that changed places around a verb.

    >>> _exchanged(extract("Anna reports to Ben"), extract("Ben reports to Anna"))
    [Evidence(kind='order', detail='anna reports to ben / ben reports to anna', veto=True)]
    """
    mine, theirs = [word.folded for word in left.words], [word.folded for word in right.words]
    if mine == theirs or len(mine) != len(theirs) or sorted(mine) != sorted(theirs):
        return []
    if _PAUSE.search(left.text.rstrip(" .;:,")) or _PAUSE.search(right.text.rstrip(" .;:,")):
        return []
    start = next(i for i, (x, y) in enumerate(zip(mine, theirs, strict=True)) if x != y)
    end = len(mine) - next(i for i, (x, y) in enumerate(zip(mine[::-1], theirs[::-1], strict=True)) if x != y)
    core, other = mine[start:end], theirs[start:end]
    for i in range(1, len(core)):
        head = core[:i]
        if other[-i:] != head:
            continue
        for j in range(1, len(core) - i):
            tail = core[-j:]
            middle = core[i:-j]
            if max(i, j) > _LONGEST_EXCHANGED:
                continue
            if other[:j] == tail and other[j:-i] == middle and not set(middle) <= _COPULAS and (max(i, j) == 1 or not _JOINS & set(middle)):
                return [Evidence("order", f"{' '.join(core)} / {' '.join(other)}", veto=True)]
    return []


def _swapped(left: Facts, right: Facts, found: Sequence[Evidence]) -> list[Evidence]:
    """Evidence where one frame holds different words in one place, and nothing else explains the difference.

    >>> _swapped(extract("Nephew Dmitri studies medicine in Kraków"), extract("Nephew Dmitri studies law in Kraków"), [])
    [Evidence(kind='swap', detail='medicine / law', veto=True)]
    """
    if any(each.veto for each in found):
        return []
    mine, theirs = left.words, right.words
    shorter = min(len(mine), len(theirs))
    head = next((i for i in range(shorter) if not _alike(mine[i], theirs[i])), shorter)
    tail = next((i for i in range(shorter - head) if not _alike(mine[-1 - i], theirs[-1 - i])), shorter - head)
    core, other = mine[head : len(mine) - tail], theirs[head : len(theirs) - tail]
    frame = [word for word in (*mine[:head], *mine[len(mine) - tail :]) if word.folded not in FRAME_WORDS]
    parts = [[word for word in part if word.folded not in FRAME_WORDS] for part in (core, other)]
    sizes = [len(part) for part in parts]
    if min(sizes) < 1 or max(sizes) > _LONGEST_SWAP or len(frame) < max(_SHORTEST_FRAME, *sizes):
        return []
    if _explained(parts[0], parts[1], left, right):
        return []
    return [Evidence("swap", f"{_surface(left, core)} / {_surface(right, other)}", veto=True)]


def _alike(mine: Word, theirs: Word) -> bool:
    """Whether two words are the same up to their endings."""
    return mine.folded == theirs.folded or stem(mine.folded) == stem(theirs.folded)


def _explained(core: Sequence[Word], other: Sequence[Word], left: Facts, right: Facts) -> bool:
    """Whether two exchanged parts share a meaning: a stem, a synonym, a negation, or details already compared."""
    mine, theirs = {stem(word.folded) for word in core}, {stem(word.folded) for word in other}
    if mine & theirs or any(synonyms(x.folded, y.folded) for x in core for y in other):
        return True
    typed = (_typed(core, left), _typed(other, right))
    return any(typed)


def _typed(part: Sequence[Word], facts: Facts) -> bool:
    """Whether a part holds a number, date, time or negation, which have guards of their own."""
    spans = [each.text for each in chain(facts.numbers, facts.days, facts.clocks, facts.frequencies, facts.weekdays, facts.negations)]
    return any(word.text in span for word in part for span in spans)


def _surface(facts: Facts, part: Sequence[Word]) -> str:
    """A run of words as it stands in the text."""
    return facts.text[part[0].start : part[-1].end]


def missing(sources: Sequence[str], merged: str) -> tuple[Evidence, ...]:
    """Return every load-bearing detail of the sources that a merged text does not keep.

    An equivalent form counts as kept, a less precise one does not. A merge whose result here is not empty is refused.

    >>> missing(["Takes 20 mg at 5 pm", "Anna knows"], "Anna knows: 20 mg at 17:00")
    ()
    >>> missing(["Takes 20 mg", "Does not smoke"], "Takes 20 mg, smokes")
    (Evidence(kind='negation', detail='not', veto=True),)
    """
    target = extract(merged)
    kept = _carried(target)
    folded = fold(target.text)
    lost: dict[tuple[str, str], Evidence] = {}
    for source in sources:
        for detail in _carried(extract(source)):
            if not _kept(detail, kept, target, folded):
                kind = detail.family if isinstance(detail, Trait) else "date" if isinstance(detail, Relative) else detail.kind
                lost[kind, detail.text] = Evidence(kind, detail.text, veto=True)
    return tuple(lost.values())


def _carried(facts: Facts) -> tuple[Detail, ...]:
    """The details that a merge must carry over."""
    return tuple(each for each in facts.details() if not isinstance(each, Trait) or each.family == "environment")


def _kept(detail: Detail, kept: Sequence[Detail], target: Facts, folded: str) -> bool:
    """Whether a merged text keeps a detail: by value, or letter for letter."""
    if any(each.covers(detail) for each in kept):
        return True
    if isinstance(detail, Name) and detail.folded in _vocabulary(target):
        return True
    if isinstance(detail, Negation):
        return False
    surface = fold(normalise(detail.text))
    return re.search(_LITERAL_EDGE.format(re.escape(surface)), folded) is not None


def is_specific(text: str) -> bool:
    """Return whether a text holds something exact: a name, number, date, identifier or an attribute with its value.

    >>> is_specific("Blood type O-"), is_specific("Fixed bug"), is_specific("Licence: AGPL-3.0")
    (True, False, True)
    """
    facts = extract(text)
    exact = (facts.links, facts.paths, facts.days, facts.weekdays, facts.clocks, facts.identifiers, facts.versions, facts.names)
    if any(exact) or any(number.form != "weak" for number in facts.numbers):
        return True
    return _ATTRIBUTE.search(facts.text) is not None


_ATTRIBUTE = re.compile(r"^\W*[^\W\d_][\w '/-]{1,40}(?::|=| is | are )\s*\S+|\b(?:allerg|intoleran)\w+ (?:to|of)\b|\b[A-Z]{1,3}[+-](?!\w)", re.IGNORECASE)
_COUNTED = ("number", "date", "weekday", "time", "frequency", "name", "identifier", "version", "environment", "kinship", "quantifier", "trait", "negation")
_FACETS = ("equal", "conflict", "only_min", "only_max")
FEATURE_NAMES = tuple(f"{kind}_{facet}" for kind in _COUNTED for facet in _FACETS) + ("vetoes", "order", "exception")


def features(a: str, b: str) -> dict[str, float]:
    """Return the named numbers that the calibrator learns from; swapping the texts gives the same.

    For each kind: how many details agree, whether they conflict, and how many only one text has (the smaller and
    the larger count). See `FEATURE_NAMES`.

    >>> found = features("Takes 20 mg", "Takes 40 mg daily")
    >>> found["number_conflict"], found["frequency_only_max"], found["vetoes"]
    (1.0, 1.0, 1.0)
    """
    left, right = extract(a), extract(b)
    values = dict.fromkeys(FEATURE_NAMES, 0.0)
    for kind, mine, theirs in _pairs(left, right, None, None):
        name = "identifier" if kind in {"url", "path", "quote"} else kind
        only = sorted((sum(not _stated(x, theirs, right) for x in mine), sum(not _stated(y, mine, left) for y in theirs)))
        values[f"{name}_equal"] += min(len(mine) + len(theirs) - sum(only), 2 * min(len(mine), len(theirs))) / 2
        values[f"{name}_only_min"] += only[0]
        values[f"{name}_only_max"] += only[1]
    counts = sorted((len(left.negations), len(right.negations)))
    values["negation_only_min"], values["negation_only_max"] = float(counts[0]), float(counts[1] - counts[0])
    for evidence in compare(a, b):
        if evidence.veto:
            name = "identifier" if evidence.kind in {"url", "path"} else evidence.kind
            values["vetoes"] += 1
            values["order" if name == "order" else f"{name}_conflict"] = 1.0
    values["exception"] = float(bool(_exceptions(left, right)))
    return values
