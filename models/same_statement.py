"""Whether two texts are one statement that is only written differently; no model, no network.

A text is brought to a plain form, its key. What the key leaves out can never be what a text says; where a
letter is the fact (versions, flags, names, code), nothing. Two texts may differ in one slip of the pen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from itertools import product

from .facts import Clock, Day, Facts, Frequency, Number, Weekday, extract
from .facts.calendar import MONTH_NUMBER, WEEKDAY_NUMBER
from .facts.numbers import ORDINALS, PARTS, PERIODS, SCALES, SMALL, TENS, UNITS, UNITS_IN_WORDS
from .guards import compare
from .restated import restated
from .text.tables import pattern, table_pairs, table_set
from .text.vocabulary import common, is_word, known_names
from .text.words import CACHED_TEXTS, STOP_WORDS, exact_key, fold, normalised

SAME_WORDS = "the same words; only marks, case or order differ"
Typed = Day | Weekday | Frequency | Clock | Number
_TYPED = "#"  # opens the token of a number, day or time
_KEPT = "\x01"  # opens a token that stands as it is: code, paths, names with capitals inside
_BREAK = "|"
_QUOTES = frozenset("\"'")
_SHOUTED = 0.6
_IN_A_PATH = frozenset("/`_")
SHOUT = 4  # letters from which a plain word in capitals is emphasis, and no sign of its own
_ALOUD = table_set("sameness", "aloud")
_PLAIN_FORMS = {
    "have_no": " has no ", "is_for_has": r"\1 has ", "fillers": "", "roughly": " ", "article": "",
    "day_parts": r"\1", "preferred_to": r"\1 over", "space_before": "", "comma_in_list": " ",
}  # fmt: skip
"""Patterns, and the plain form of what they find; in this order."""
_BEFORE_LIST = table_set("sameness", "verbs", "before_list")
_NO_ITEM = STOP_WORDS | _BEFORE_LIST - {"user"}
_BEHIND_LIST = table_set("sameness", "behind_list") | {",", _BREAK, ")", "?"}
_BEHIND_SUBJECTS = table_set("sameness", "behind_subjects")
_TELLING_SIGNS, _CALLING, _DUNDERS, _WITH_CAPITAL = (
    table_set("sameness", key) for key in ("telling_signs", "calling_signs", "dunders", "with_capital")
)
_CONTRACTIONS = table_pairs("sameness", "contractions")
_ACRONYMS = (table_set("names", "acronyms") | {"api", "apis", "app", "tv", "cv"}) - {"us"}
_ENDINGS = (("n't", " not"), ("'re", " are"), ("'ve", " have"), ("'ll", " will"))
_JOINING = {"of", "the", "and", "in", "at", "to", "a", "an", "per", "each", "every"}
_NUMERALS = {*SMALL, *TENS, *SCALES, *PARTS, *ORDINALS, "halves", "st", "nd", "rd", "th"}
_NUMERALS |= {part for word in ORDINALS for part in word.split("-")} | _JOINING
_SPANS = {*PERIODS} - {"night", "nightly"} | {f"{each}s" for each in PERIODS if each.isalpha()} - {"nights"}
_UNIT_WORDS = {
    part for unit in (*UNITS, *UNITS_IN_WORDS) for part in pattern("letters").findall(unit.lower())
}
_WEEK = {f"{day}{s}" for day in (*WEEKDAY_NUMBER, "weekend", "weekday") for s in ("", "s")}
_SPELLED_OUT: dict[type[Typed], set[str]] = {
    Day: _NUMERALS | {*MONTH_NUMBER, "q", "week", "wk", "kw", "cw", "calendar"},
    Weekday: _WEEK | {"to", "through", "thru"},
    Frequency: _NUMERALS | _SPANS | {"once", "twice", "thrice", "times", "x", "hourly", "fortnightly"},
    Clock: _NUMERALS | table_set("sameness", "times_of_day"),
    Number: _NUMERALS | _SPANS | _UNIT_WORDS | {"k", "bn", "mn", "tn", "b", "trillion", "minus"},
}
"""Words that a number, day or time may be written in. With any other, its value is not all that it says."""


def same_statement(a: str, b: str) -> bool:
    """Whether two texts are one statement; swapping them changes nothing."""
    return sameness(a, b) is not None


def sameness(a: str, b: str, *, a_date: datetime | None = None, b_date: datetime | None = None) -> str | None:
    """Say in what texts of one statement differ, None of two; the dates are for "yesterday" and the like."""
    said = _sameness(a, b, a_date, b_date)
    return None if said and told_by_a_sign(a, b) else said


def _sameness(a: str, b: str, a_date: datetime | None, b_date: datetime | None) -> str | None:
    if exact_key(a) == exact_key(b):
        return SAME_WORDS
    first, second, said = a, b, ""
    if _key(a, b) != _key(b, a):
        near = len(_spelt(a).keys() ^ _spelt(b).keys()) <= _MOST_DIFFERING  # of hardly any pair
        if near and (slip := slip_in(a, b)):
            first, said = mended(a, *slip), " / ".join(slip)
        elif near and (slip := slip_in(b, a)):
            second, said = mended(b, *slip), " / ".join(reversed(slip))
        if not said or _key(first, second) != _key(second, first):
            return restated(bare(a), bare(b)) if as_written(a) == as_written(b) else None
    if any(each.veto for each in compare(bare(first), bare(second), a_date=a_date, b_date=b_date)):
        return None
    mine, theirs = ([word.folded for word in extract(text).words] for text in (a, b))
    only = [word for word in mine if word not in theirs], [word for word in theirs if word not in mine]
    shown = " / ".join(" ".join(words) or "-" for words in only) if any(only) else SAME_WORDS
    return said or shown


def told_by_a_sign(a: str, b: str) -> tuple[str, ...]:
    """Equal words of which a capital or a sign makes others: polish, Polish; Gb, GB; a tick, a cross."""
    mine, theirs = _capitals(a), _capitals(b)
    for word in sorted(mine.keys() & theirs.keys()):
        if mine[word].isdisjoint(theirs[word]):
            return min(mine[word]), min(theirs[word])
    written, written_there = _decimals(a), _decimals(b)
    for value in sorted(written.keys() & written_there.keys()):
        if written[value] != written_there[value]:
            return written[value], written_there[value]
    codes, codes_there = _codes(a) - _codes(b), _codes(b) - _codes(a)
    for x, y in product(sorted(codes), sorted(codes_there)):
        if x.startswith(y) or y.startswith(x):
            return x, y
    both = all(map(pattern("bits").search, (a, b)))
    for signs in (_bits, _signs) if both else (_signs,):
        if (left := signs(a)) != (right := signs(b)):
            return left or "-", right or "-"
    return ()


@lru_cache(maxsize=CACHED_TEXTS)
def _capitals(text: str) -> dict[str, set[str]]:
    """Words that a capital makes others as they stand; of a text that has all or no capitals nothing."""
    found: dict[str, set[str]] = {}
    if has_case(text):
        worked_for = {name.lower() for name in pattern("worked_for").findall(text)}
        read = extract(text)
        for word in read.words:
            lower = word.text.lower()
            if {read.text[word.start - 1 : word.start], read.text[word.end : word.end + 1]} & _IN_A_PATH:
                continue
            if not word.opens and (lower in _WITH_CAPITAL or (lower in worked_for and common(lower))):
                found.setdefault(lower, set()).add(word.text)
    return found


@lru_cache(maxsize=CACHED_TEXTS)
def has_case(text: str) -> bool:
    """Whether a writer tells names by capitals: some words have one, and half of those inside have none."""
    inside = [word.text for word in extract(text).words if not word.opens and word.text.isalpha()]
    small = sum(word.islower() for word in inside)
    return any(map(str.isupper, text)) and small * 2 >= len(inside) > 0


@lru_cache(maxsize=CACHED_TEXTS)
def _decimals(text: str) -> dict[float, str]:
    """Numbers with a point and no unit, which may be versions: 1.10 is not 1.1 then."""
    return {each.base: each.text for each in extract(text).numbers if each.unit is None and "." in each.text}


@lru_cache(maxsize=CACHED_TEXTS)
def _codes(text: str) -> frozenset[str]:
    """Names of models and rooms, as one word: X-100, B12."""
    return frozenset(code.replace("-", "").casefold() for code in pattern("model_code").findall(text))


def _bits(text: str) -> str:
    return " ".join(match[0].strip() for match in pattern("bits").finditer(text) if match[1] == "b")


def _signs(text: str) -> str:
    return " ".join(sorted({sign for line in normalised(text).splitlines() for sign in _ends_in(line)}))


def _key(text: str, other: str) -> str:
    """The key of a text, without capitals where the other one uses none."""
    return statement_key(text) if has_case(other) or not _capitals(text) else statement_key(text.lower())


def respelt(a: str, b: str) -> tuple[str, ...]:
    """A path, flag or identifier that only one text has, and the other with another letter, or nothing."""
    mine, theirs = as_written(a), as_written(b)
    if mine == theirs:
        return ()
    left, right = ({word.lstrip(_KEPT): word for word in _written(text)} for text in (a, b))
    return next(
        (
            (x, y)
            for x in sorted(left.keys() - right.keys())
            for y in sorted(right.keys() - left.keys())
            if _KEPT in left[x] + right[y] and _one_edit(fold(x), fold(y)) and fold(x) not in known_names()
            if not (x.isalpha() and len(x) >= SHOUT and x.lower() == y.lower() and x.upper() in (x, y))
        ),
        (),
    )


@lru_cache(maxsize=CACHED_TEXTS)
def as_written(text: str) -> frozenset[str]:
    """Paths, flags, identifiers and the like: what only its very letters name."""
    return frozenset(word for word in _written(text) if word[0] == _KEPT and word[1:].strip("=/@#$"))


@lru_cache(maxsize=CACHED_TEXTS)
def statement_key(text: str) -> str:
    """The plain form of a text; texts of one plain form are one statement.

    >>> statement_key("**Note:** The user speaks French & German 🎉")
    'speaks french and german'
    """
    sentences: list[list[str]] = [[]]
    for token in _written(text):
        if token == _BREAK:
            sentences.append([])
        else:
            sentences[-1].append(token)
    said = dict.fromkeys(filter(None, map(_sentence, sentences)))
    return f" {_BREAK} ".join(said) or f"{_KEPT}{exact_key(text)}"


@lru_cache(maxsize=CACHED_TEXTS)
def bare(text: str) -> str:
    """The text without emoji at its ends, list marks and emphasis."""
    lines = []
    for line in normalised(text).splitlines():
        bare = line if pattern("keycap").search(line) else pattern("emoji_at_ends").sub(_decoration, line)
        bare = pattern("numbered").sub("", pattern("list_mark").sub("", bare))
        lines.append(pattern("emoji_at_ends").sub(_decoration, bare))
    bare = pattern("plain_code").sub(r"\1", "\n".join(lines)).replace(" & ", " and ")
    if bare[:1] == bare[-1:] == '"' and bare.count('"') == 2:
        bare = bare[1:-1]
    bare = pattern("underlined").sub(_unmarked, pattern("starred").sub(r"\2", bare))
    return pattern("opening").sub("", pattern("part_of_unit").sub(_decimal, bare))


def _decoration(signs: re.Match[str]) -> str:
    """What stays of the emoji at an end of a line: those that say something, and what the line is about."""
    before = signs.string[: signs.start()].split()
    is_object = before and (len(before) == 1 or before[-1].lower().rstrip(":") in _BEFORE_LIST)
    if is_object or (before and before[-1][-1] in ":="):
        return signs[0]
    telling = [sign for sign in signs[0] if sign in _TELLING_SIGNS and (before or sign not in _CALLING)]
    return f" {' '.join(telling)} " if telling else ""


def _ends_in(line: str) -> list[str]:
    found = (_decoration(match) for match in pattern("emoji_at_ends").finditer(line))
    return [sign for each in found for sign in each if sign not in '\ufe0f\u200d" ']


def _unmarked(marked: re.Match[str]) -> str:
    """The words between underscores; a name of Python, or no word of everyday, stays as it stands."""
    plain = marked[1] == "_" or not marked[2].isalpha() or is_word(fold(marked[2]))
    return marked[2] if plain and not (marked[1] == "__" and marked[2] in _DUNDERS) else marked[0]


def _decimal(part: re.Match[str]) -> str:
    """1½, 1 1/2 and "half a" as the number before its unit: 1.5, 0.5."""
    of = int(part[3]) / int(part[4]) if part[3] else unicodedata.numeric(part[2]) if part[2] else 0.5
    return f"{int(part[1] or 0) + of:g}{' ' * (part.string[part.end() : part.end() + 1].isalpha())}"


@lru_cache(maxsize=CACHED_TEXTS)
def _written(text: str) -> tuple[str, ...]:
    return tuple(_tokens(bare(text)))


def _tokens(text: str) -> Iterator[str]:
    letters = pattern("letters").findall(text)
    shouted = len(letters) > 2 and sum(map(str.isupper, letters)) > _SHOUTED * len(letters)
    opens, last, cased = True, 0, has_case(text)
    for start, end, token in [*_spans(text), (len(text), len(text), "")]:
        gap = text[last:start]
        if (mark := pattern("sign_of_length").match(text, last)) and mark[0] not in text[:last]:
            yield _KEPT + mark[0]
            gap = gap[1:]
        if last and gap[:1] in {".", ";", "!"}:
            gap = f"\n{gap[1:]}"
        elif last and gap.startswith("-"):
            gap = f" to {gap[1:]}" if gap.strip() == "-" and token else gap[1:]
        for chunk in pattern("chunk").findall(gap):
            for plain in _plain(chunk, opens=opens, shouted=shouted, cased=cased):
                yield plain
                opens = plain == _BREAK
        if token:
            yield token
            opens = False
        last = end


def _spans(text: str) -> list[tuple[int, int, str]]:
    """Where code and typed values stand, in order, and the token that stands for each."""
    spans = [(*match.span(), _code(match[2])) for match in pattern("code_in_ticks").finditer(text)]
    facts = extract(text)
    values = _values(facts)
    for start, end in facts.marks if values else ():
        surface = facts.text[start:end]
        token = values.get(surface.strip())
        quoted = text[start - 1 : start] in _QUOTES and text[end : end + 1] in _QUOTES
        if not token or quoted or any(start < stop and first < end for first, stop, _ in spans):
            continue
        first = start + len(surface) - len(surface.lstrip())
        stop = first + len(surface.strip())
        if text[stop - 1] == "." and pattern("ends_sentence").match(text, stop):
            stop -= 1
        spans.append((first, stop, token))
    return sorted(spans)


def _code(code: str) -> str:
    inner = code.strip()
    if "  " in inner or not inner:
        return _KEPT + inner.replace(" ", "\x02").replace("\n", "\x03")
    return " ".join(word if word.isalpha() and word.islower() else _KEPT + word for word in inner.split(" "))


def _values(facts: Facts) -> dict[str, str]:
    """The token of each typed value whose spelling says nothing else."""
    found: dict[tuple[type[Typed], str], set[str]] = {}
    typed: tuple[Typed, ...] = (
        *facts.days, *facts.weekdays, *facts.frequencies, *facts.clocks, *facts.numbers,
    )  # fmt: skip
    for detail in typed:
        if {word.lower() for word in pattern("letters").findall(detail.text)} <= _SPELLED_OUT[type(detail)]:
            found.setdefault((type(detail), detail.text), set()).add(_value(detail).replace(" ", "_"))
    return {
        surface: f"{_TYPED}{kind.kind}:{'+'.join(sorted(values))}"
        for (kind, surface), values in found.items()
        if all(values) and (len(values) == 1 or kind is Weekday)
    }


def _value(detail: Typed) -> str:
    """The value of a detail; nothing where its words say it ("a month") or nobody knows it (1/2/2024)."""
    match detail:
        case Day():
            return "" if detail.swapped else f"{detail.year}-{detail.month}-{detail.day}{detail.part}"
        case Weekday():
            return str(detail.number)
        case Frequency():
            return ",".join(f"{each:.6g}" for each in detail.seconds)
        case Clock():
            return f"{detail.minute}{'?' * detail.either}"
    if detail.form == "weak" and detail.unit is not None:
        return ""
    of = "" if detail.unit is None else detail.unit.name if detail.dimension == "money" else detail.dimension
    period = "" if detail.period is None else f"/{detail.period:.6g}"
    bits = "bits" * bool(_bits(detail.text))
    if detail.unit is None and detail.text.endswith("0") and "." in detail.text:
        of += f" as {detail.text}"  # which may be a version
    return f"{detail.base:.9g}{of}{period}{bits}{'th' * (detail.form == 'ordinal')}"


def _plain(chunk: str, *, opens: bool, shouted: bool, cased: bool) -> list[str]:
    if chunk == "\n":
        return [_BREAK]
    if pattern("box").match(chunk) or chunk in ("..", '""'):
        return [_KEPT + chunk]
    if set(chunk) == {"."} and len(chunk) > 2:
        return [_BREAK]
    before: list[str] = []
    behind: list[str] = []
    while chunk and (chunk[0] in _QUOTES or (chunk[0] in "([{" and len(chunk) > 1)):
        before += [] if chunk[0] in _QUOTES else [chunk[0]]
        chunk = chunk[1:]
    while chunk and (chunk[-1] in "\"',;:!?…" or _ends(chunk)):
        behind += [] if chunk[-1] in "\"':" else [_BREAK if chunk[-1] in ".;!…" else chunk[-1]]
        chunk = chunk[:-1]
    other = cased and not opens and chunk.capitalize() == chunk and chunk.lower() in _WITH_CAPITAL
    words = _folded(chunk, opens=opens, shouted=shouted) if chunk.strip("-*") and not other else []
    words += [_KEPT + chunk] if other else []
    return [*before, *words, *reversed(behind)]


def _ends(chunk: str) -> bool:
    """Whether the last sign is a point of no path, or a bracket that was opened outside of the chunk."""
    if chunk[-1] == ".":
        return chunk.endswith("...") or (len(chunk) > 1 and chunk[-2] not in "/\\*~-.")
    opening = {")": "(", "]": "[", "}": "{"}.get(chunk[-1])
    return opening is not None and chunk.count(opening) < chunk.count(chunk[-1])


def _folded(word: str, *, opens: bool, shouted: bool) -> list[str]:
    """The words of a word: small letters where case says nothing, contractions in full."""
    lower = word.casefold()
    if lower in _CONTRACTIONS:
        return _CONTRACTIONS[lower].split()
    if pattern("compound").match(word):
        return [each for part in word.split("-") for each in _folded(part, opens=opens, shouted=shouted)]
    if (
        pattern("as_written").search(word)
        or (word == "A" and not (opens or shouted))
        or (not shouted and _case_tells(word, lower))
    ):
        return [_KEPT + word]
    for ending, said in _ENDINGS:
        if lower.endswith(ending) and lower != ending:
            return (lower.removesuffix(ending) + said).split()
    return [normalised(lower)]


def _case_tells(word: str, lower: str) -> bool:
    """Whether the case of a word may be a fact: an identifier, or "US" beside "us"."""
    if pattern("letter_and_digit").match(word):
        return not pattern("short_code").match(word)
    if pattern("acronym").match(word):
        if lower in STOP_WORDS or lower in _ALOUD:
            return len(lower) < SHOUT
        return common(lower) and lower not in _ACRONYMS
    return pattern("inner_capital").search(word) is not None and not is_word(lower)


def _sentence(tokens: list[str]) -> str:
    text = " " + " ".join(tokens)
    for form, plain in _PLAIN_FORMS.items():
        text = pattern(form).sub(plain, text)
    for frame in ("about_user", "users_own", "users_state"):
        text = pattern(frame).sub("", text)
    text = text.rstrip()
    if "respectively" not in text and " and " in text:
        text = pattern("list").sub(_ordered, text)
    if not pattern("negated").search(text):
        text = pattern("comma").sub("", text)
    return text.strip(" ,")


def _ordered(match: re.Match[str]) -> str:
    """The items of a list of single words in alphabetic order, where it surely is one."""
    items = pattern("between_items").split(match[0])
    before = (match.string[: match.start()].rsplit(maxsplit=1)[-1:] or [""])[0]
    behind = (match.string[match.end() :].split(maxsplit=1) or [""])[0]
    closed = not behind or behind in _BEHIND_LIST or behind.startswith(_TYPED + "frequency")
    is_list = (before in _BEFORE_LIST and closed) or (not before and behind in _BEHIND_SUBJECTS)
    if not is_list or any(item in _NO_ITEM for item in items):
        return match[0]
    items.sort()
    return " , ".join(items[:-1]) + " and " + items[-1]


_SHORTEST = 4  # letters of a word that may be meant
_ENGLISH = 0.5  # of the plain words of the other text; in other languages a slip cannot be told
_MOST_DIFFERING = 6  # words


def slip_in(a: str, b: str) -> tuple[str, str] | None:
    """A word of `a` that is a slip of the pen for a word of `b`, and that word; None where not just one.

    A slip is one letter added, left out, replaced or exchanged with its neighbour. Never a name, a number or
    an identifier, and never where both spellings are words: "form" is no slip for "from".
    """
    mine, theirs = _spelt(a), _spelt(b)
    if abs(len(mine) - len(theirs)) > _MOST_DIFFERING or len(mine.keys() ^ theirs.keys()) > _MOST_DIFFERING:
        return None
    odd = [word for word, named in mine.items() if word not in theirs and not named and not is_word(word)]
    slips = [
        (word, meant) for word in odd for meant, named in theirs.items() if not named and _meant(word, meant)
    ]
    if len(slips) != 1:
        return None
    plain = [is_word(word) for word, named in theirs.items() if not named and word != slips[0][1]]
    return slips[0] if plain and sum(plain) >= _ENGLISH * len(plain) else None


def mended(text: str, slip: str, meant: str) -> str:
    """The text with one word put right; a capital stays one."""
    spelt = re.compile(rf"(?<![^\W_]){re.escape(slip)}(?![^\W_])", re.IGNORECASE)
    return spelt.sub(lambda match: meant.capitalize() if match[0][0].isupper() else meant, text, count=1)


@lru_cache(maxsize=CACHED_TEXTS)
def _spelt(text: str) -> dict[str, bool]:
    """The words of a text outside code, folded, each with whether it may be a name."""
    spelt: dict[str, bool] = {}
    for word in extract(text).words:
        if word.text.isalpha():
            spelt[word.folded] = spelt.get(word.folded, False) or _named(word.text, opens=word.opens)
    for code in pattern("spelt_apart").findall(text):
        spelt.update((word.folded, True) for word in extract(code).words)
    return spelt


def _named(word: str, *, opens: bool) -> bool:
    """Whether a word may be a name: by a capital inside a sentence, or by the tables."""
    lower = fold(word)
    if word.islower() or (opens and word[1:].islower()) or lower in WEEKDAY_NUMBER:
        return lower in known_names()
    return not (word.isupper() and common(lower))


def _meant(word: str, meant: str) -> bool:
    """Whether one edit makes a known word of a word that is none."""
    if len(meant) < _SHORTEST and not (meant in STOP_WORDS and sorted(word) == sorted(meant)):
        return False
    known = is_word(meant) or (meant in WEEKDAY_NUMBER and word[0] == meant[0])
    if abs(len(word) - len(meant)) > 1 or not known or not _one_edit(word, meant):
        return False
    one, other = map(pattern("twin_ending").search, (word, meant))
    return not (one and other and one[0] != other[0] and word[: one.start()] == meant[: other.start()])


def _one_edit(x: str, y: str) -> bool:
    short, long = sorted((x, y), key=len)
    head = next((i for i, (p, q) in enumerate(zip(short, long, strict=False)) if p != q), len(short))
    if len(short) < len(long):
        return short[head:] == long[head + 1 :]
    rest, other = short[head:], long[head:]
    return rest[1:] == other[1:] or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
