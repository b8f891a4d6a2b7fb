"""Whether two texts are one statement that is only written differently; no model, no network.

A text is brought to a plain form, its key: equal keys are one statement. What the key leaves out can never be
what a text says: marks, the case of plain words, articles, fillers, the order of a plain list, the spelling
of a number with its unit. Two texts may differ in one slip of the pen besides. Where a letter is the fact
(versions, flags, names, code), nothing is left out. What is told from another side is read by `restated`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache

from .facts import Clock, Day, Facts, Frequency, Number, Weekday, extract
from .facts.calendar import MONTH_NUMBER, WEEKDAY_NUMBER
from .facts.numbers import ORDINALS, PARTS, PERIODS, SCALES, SMALL, TENS, UNITS, UNITS_IN_WORDS
from .guards import compare
from .restated import restated
from .text.tables import table_lines, table_words
from .text.vocabulary import common, is_word, known_names
from .text.words import CACHED_TEXTS, STOP_WORDS, exact_key, fold, normalised

SAME_WORDS = "the same words; only marks, case or order differ"

Typed = Day | Weekday | Frequency | Clock | Number
_TYPED = "#"  # opens the token of a number, day or time
_KEPT = "\x01"  # opens a token that stands as it is: code, paths, names with capitals inside
_BREAK = "|"
_QUOTES = frozenset("\"'")

_LIST_MARK = re.compile(r"^\s*(?:(?:[-+•◦▪‣·–]|\*(?!\*)|#{1,6}|>|\d{1,2}\)|[a-h]\))\s+)+")
_NUMBERED = re.compile(  # not "3. Oktober"
    r"^\s*\d{1,2}\.\s+(?=[A-Z`\"*])(?!(?:Jan|Feb|Mär|Mar|Apr|Ma[iy]|Jun|Jul|Aug|Sep|Okt|Oct|Nov|De[cz]))"
)
_EMPHASIS = (
    re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]+?)(?<=[^\s*])\1(?![\w*])"),
    re.compile(r"(?<![\w_])(__?)(?=[^\s_])([^_\n]*[\s.,!?:][^_\n]*|(?<!__)[^\W\d_]+)(?<=[^\s_])\1(?![\w_])"),
)
_EMOJI = (
    "\u200d\u20e3\ufe0e\ufe0f\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2934\u2935\u2b00-\u2bff\u3030\u303d"
    "\U0001f000-\U0001faff\U000e0020-\U000e007f"
)
_EMOJI_AT_ENDS = re.compile(
    rf'^[\s"{_EMOJI}]*[{_EMOJI}][\s"{_EMOJI}]*|[\s"{_EMOJI}]*[{_EMOJI}][\s"{_EMOJI}]*$'
)
_CODE_SPAN = re.compile(r"(`+)([^`]*)\1")
_PLAIN_CODE = re.compile(r"(?<!`)`([a-z]+(?: [a-z]+)*)`(?!`)")
_NO_SIGN = re.compile(r"[\d#*]\ufe0f?\u20e3")
_AS_WRITTEN = re.compile(r"[/\\_@#$=]|[^\W\d_][.:][^\W\d_]|^-{1,2}\w|\(\)$|^\.\w|^\*\.|~\w|\*\*?\w+\*?$")
_INNER_CAPITAL = re.compile(r"[a-zß-öø-ÿ][A-ZÀ-ÖØ-Þ]|^[A-Z]{2,}[a-z]{3,}$")
_ACRONYM = re.compile(r"[A-Z]{2,}s?$")
_SHORT_CODE = re.compile(r"[A-Za-z]{1,2}\d{1,3}$|\d{1,3}[A-Za-z]{1,2}$")
_LETTER_AND_DIGIT = re.compile(r"(?=.*\d)(?=.*[^\W\d_])", re.DOTALL)
_COMPOUND = re.compile(r"[^\W\d_]{2,}(?:-[^\W\d_]{2,})+$")
_LETTERS = re.compile(r"[^\W\d_]+")
_ENDS_SENTENCE = re.compile(r"\s*$|\s+[A-Z`\"'-]")
_BOX = re.compile(r"\[.?\]$")
_SHOUTED = 0.6

_COMMA = re.compile(r" ,(?!\S)")
_NEGATED = re.compile(r"(?<!\S)(?:not|no|never|without|only|yes|neither|nor|except|but)(?!\S)")
_CHUNK = re.compile(r"\n|\S+")


def _any(words: tuple[str, ...]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def _table(key: str) -> tuple[str, ...]:
    return table_words("sameness", key)


_OPENING = re.compile(
    rf"(?:^\"?|(?<=[.!?] ))(?:(?:{_any(table_lines('sameness', 'openings'))})\s+)+(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
_USER = re.compile(
    rf"^(?:the )?user (?!(?:{_any(_table('user_nouns'))})(?!\S))"
    rf"(?=(?:{_any((*_table('user_helpers'), *_table('verbs')))})(?!\S)|[a-z]{{2,}}(?:s|ed)(?!\S)"
    rf"(?! (?:{_any(_table('behind_subjects'))})(?!\S)))"
)
_FILLERS = _any((*table_lines("sameness", "filler_phrases"), *_table("fillers")))
_NO_LETTER = f"(?<! (?:{'))(?<! (?:'.join(_table('before_letter'))}))"
_PLAIN_FORMS = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        (r"(?<!\S)(it|he|she|that|there|what|who) is (?=(?:been|got|had)(?!\S))", r"\1 has "),
        (
            rf"(?<!not)(?<!never)(?<!only)(?<!but) (?:{_FILLERS})(?!\S)| (?:too|as well)(?= \||$)",
            "",
        ),
        (rf" (?:{_any(_table('roughly'))}) (?={_TYPED})", " "),
        (
            rf"{_NO_LETTER} (?:the|an|a)(?= [^\s|,?)]+)(?! (?:{_any(_table('kept_behind_article'))})(?!\S))",
            "",
        ),
        (r"(?<!\S)(morning|afternoon|evening|night|weekend|weekday)s(?!\S)", r"\1"),
        (r"(?<!\S)(prefer\S* \S+(?: \S+)?) to(?= \S+(?: \S+)?(?: \||$))", r"\1 over"),
        (r"^\s+", ""),
        (r" , (?=(?:and|or)(?!\S))", " "),
    )
)
_SPAN = rf"{_TYPED}(?:weekday:\S+|date:None-\d+-None)"
_ITEM = rf"(?:[^\W\d_][\w'’-]*|{_KEPT}[^\s,|]+|{_SPAN})"
_LIST = re.compile(rf"(?<!\S){_ITEM}(?: , {_ITEM})*(?: ,)? and {_ITEM}(?!\S)")
_SPLIT_LIST = re.compile(r" , and | and | , ")
_BEFORE_LIST = frozenset((*_table("verbs"), *_table("before_list")))
_NO_ITEM = STOP_WORDS | _BEFORE_LIST - {"user"}
_BEHIND_LIST = frozenset((*_table("behind_list"), ",", _BREAK, ")", "?"))
_BEHIND_SUBJECTS = frozenset(_table("behind_subjects"))

_CONTRACTIONS = dict(line.split(": ") for line in table_lines("sameness", "contractions"))
_ACRONYMS = frozenset((*table_words("names", "acronyms"), "api", "apis", "app", "tv", "cv")) - {"us"}
_ENDINGS = (("n't", " not"), ("'re", " are"), ("'ve", " have"), ("'ll", " will"))

_JOINING = {"of", "the", "and", "in", "at", "to", "a", "an", "per", "each", "every"}
_NUMERALS = {*SMALL, *TENS, *SCALES, *PARTS, *ORDINALS, "halves", "st", "nd", "rd", "th"}
_NUMERALS |= {part for word in ORDINALS for part in word.split("-")} | _JOINING
_SPANS = {*PERIODS} - {"night", "nightly"} | {f"{each}s" for each in PERIODS if each.isalpha()} - {"nights"}
_UNIT_WORDS = {part for unit in (*UNITS, *UNITS_IN_WORDS) for part in _LETTERS.findall(unit.lower())}
_WEEK = {f"{day}{s}" for day in (*WEEKDAY_NUMBER, "weekend", "weekday") for s in ("", "s")}
_SPELLED_OUT: dict[type[Typed], set[str]] = {
    Day: _NUMERALS | {*MONTH_NUMBER, "q", "week", "wk", "kw", "cw", "calendar"},
    Weekday: _WEEK | {"to", "through", "thru"},
    Frequency: _NUMERALS | _SPANS | {"once", "twice", "thrice", "times", "x", "hourly", "fortnightly"},
    Clock: _NUMERALS | {*_table("times_of_day")},
    Number: _NUMERALS | _SPANS | _UNIT_WORDS | {"k", "bn", "mn", "tn", "b", "trillion", "minus"},
}
"""Words that a number, day or time may be written in. With any other, its value is not all that it says."""


def same_statement(a: str, b: str) -> bool:
    """Whether two texts are one statement; swapping them changes nothing.

    >>> same_statement("User runs the 5 km loop on Tuesdays.", "- runs 5000 m loop on Tuesday")
    True
    >>> same_statement("Uses v1.8", "Uses v1.9"), same_statement("Jan sings", "Jon sings")
    (False, False)
    """
    return sameness(a, b) is not None


def sameness(a: str, b: str, *, a_date: datetime | None = None, b_date: datetime | None = None) -> str | None:
    """Say in what two texts of one statement differ, or None where they are two statements.

    The dates are for "yesterday" and the like.

    >>> sameness("Tag releases as vX.", "Tag the releases as vX"), sameness("Is alergic", "Is allergic")
    ('- / the', 'alergic / allergic')
    """
    if exact_key(a) == exact_key(b):
        return SAME_WORDS
    first, second, said = a, b, ""
    if statement_key(a) != statement_key(b):
        if slip := slip_in(a, b):
            first, said = mended(a, *slip), " / ".join(slip)
        elif slip := slip_in(b, a):
            second, said = mended(b, *slip), " / ".join(reversed(slip))
        if not said or statement_key(first) != statement_key(second):
            return restated(_bare(a), _bare(b))
    if any(each.veto for each in compare(_bare(first), _bare(second), a_date=a_date, b_date=b_date)):
        return None
    mine, theirs = ([word.folded for word in extract(text).words] for text in (a, b))
    only = [word for word in mine if word not in theirs], [word for word in theirs if word not in mine]
    shown = " / ".join(" ".join(words) or "-" for words in only) if any(only) else SAME_WORDS
    return said or shown


@lru_cache(maxsize=CACHED_TEXTS)
def statement_key(text: str) -> str:
    """The plain form of a text; texts of one plain form are one statement.

    >>> statement_key("**Note:** The user speaks French & German 🎉")
    'speaks french and german'
    """
    sentences: list[list[str]] = [[]]
    for token in _tokens(_bare(text)):
        if token == _BREAK:
            sentences.append([])
        else:
            sentences[-1].append(token)
    said = dict.fromkeys(filter(None, map(_sentence, sentences)))
    return f" {_BREAK} ".join(said) or f"{_KEPT}{exact_key(text)}"


@lru_cache(maxsize=CACHED_TEXTS)
def _bare(text: str) -> str:
    """The text without emoji at its ends, list marks and emphasis."""
    lines = []
    for line in normalised(text).splitlines():
        bare = line if _NO_SIGN.search(line) else _EMOJI_AT_ENDS.sub("", line)
        bare = _NUMBERED.sub("", _LIST_MARK.sub("", bare))
        lines.append(_EMOJI_AT_ENDS.sub("", bare))
    bare = _PLAIN_CODE.sub(r"\1", "\n".join(lines)).replace(" & ", " and ")
    if bare[:1] == bare[-1:] == '"' and bare.count('"') == 2:
        bare = bare[1:-1]
    for pattern in _EMPHASIS:
        bare = pattern.sub(r"\2", bare)
    return _OPENING.sub("", bare)


def _tokens(text: str) -> Iterator[str]:
    letters = _LETTERS.findall(text)
    shouted = len(letters) > 2 and sum(map(str.isupper, letters)) > _SHOUTED * len(letters)
    opens, last = True, 0
    for start, end, token in [*_spans(text), (len(text), len(text), "")]:
        gap = text[last:start]
        if last and gap[:1] in {".", ";", "!"}:
            gap = f"\n{gap[1:]}"
        elif last and gap.startswith("-"):
            gap = f" to {gap[1:]}" if gap.strip() == "-" and token else gap[1:]
        for chunk in _CHUNK.findall(gap):
            for plain in _plain(chunk, opens=opens, shouted=shouted):
                yield plain
                opens = plain == _BREAK
        if token:
            yield token
            opens = False
        last = end


def _spans(text: str) -> list[tuple[int, int, str]]:
    """Where code and typed values stand, in order, and the token that stands for each."""
    spans = [(*match.span(), _code(match[2])) for match in _CODE_SPAN.finditer(text)]
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
        if text[stop - 1] == "." and _ENDS_SENTENCE.match(text, stop):
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
        if {word.lower() for word in _LETTERS.findall(detail.text)} <= _SPELLED_OUT[type(detail)]:
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
    return f"{detail.base:.9g}{of}{period}{'th' * (detail.form == 'ordinal')}"


def _plain(chunk: str, *, opens: bool, shouted: bool) -> list[str]:
    if chunk == "\n":
        return [_BREAK]
    if _BOX.match(chunk):
        return [_KEPT + chunk]
    before: list[str] = []
    behind: list[str] = []
    while chunk and (chunk[0] in _QUOTES or (chunk[0] in "([{" and len(chunk) > 1)):
        before += [] if chunk[0] in _QUOTES else [chunk[0]]
        chunk = chunk[1:]
    while chunk and (chunk[-1] in "\"',;:!?…" or _ends(chunk)):
        behind += [] if chunk[-1] in "\"':" else [_BREAK if chunk[-1] in ".;!…" else chunk[-1]]
        chunk = chunk[:-1]
    words = _folded(chunk, opens=opens, shouted=shouted) if chunk.strip("-*") else []
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
    if _COMPOUND.match(word):
        return [each for part in word.split("-") for each in _folded(part, opens=opens, shouted=shouted)]
    if _AS_WRITTEN.search(word) or (word == "A" and not opens) or (not shouted and _case_tells(word, lower)):
        return [_KEPT + word]
    for ending, said in _ENDINGS:
        if lower.endswith(ending) and lower != ending:
            return (lower.removesuffix(ending) + said).split()
    return [normalised(lower)]


def _case_tells(word: str, lower: str) -> bool:
    """Whether the case of a word may be a fact: an identifier, or "US" beside "us"."""
    if _LETTER_AND_DIGIT.match(word):
        return not _SHORT_CODE.match(word)
    if _ACRONYM.match(word):
        return lower in STOP_WORDS or (common(lower) and lower not in _ACRONYMS)
    return _INNER_CAPITAL.search(word) is not None and not is_word(lower)


def _sentence(tokens: list[str]) -> str:
    text = " " + _USER.sub("", " ".join(tokens))
    for pattern, plain in _PLAIN_FORMS:
        text = pattern.sub(plain, text)
    text = text.rstrip()
    if "respectively" not in text and " and " in text:
        text = _LIST.sub(_ordered, text)
    if not _NEGATED.search(text):
        text = _COMMA.sub("", text)
    return text.strip(" ,")


def _ordered(match: re.Match[str]) -> str:
    """The items of a list of single words in alphabetic order, where it surely is one."""
    items = _SPLIT_LIST.split(match[0])
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
_SPELT_APART = re.compile(r"`+[^`]*`+|\S*[/\\_@#$=]\S*|(?<!\S)-\S+")
_TWIN_ENDING = re.compile(r"(?:ate|ite|ide|ine|ane|ene|yne|one|ol|al|yl|ase|ose)s?$")
"""Endings of substances: one letter makes another of them ("nitrate", "nitrite")."""


def slip_in(a: str, b: str) -> tuple[str, str] | None:
    """A word of `a` that is a slip of the pen for a word of `b`, and that word; None where not just one.

    A slip is one letter added, left out, replaced or exchanged with its neighbour. Never a name, a number or
    an identifier, and never where both spellings are words: "form" is no slip for "from".

    >>> slip_in("Is alergic to nuts", "Is allergic to nuts")
    ('alergic', 'allergic')
    >>> slip_in("Met Jon", "Met Jan") is None, slip_in("Fill in the form", "Fill in the from") is None
    (True, True)
    """
    mine, theirs = _spelt(a), _spelt(b)
    if len(mine.keys() ^ theirs.keys()) > _MOST_DIFFERING:
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
    pattern = re.compile(rf"(?<![^\W_]){re.escape(slip)}(?![^\W_])", re.IGNORECASE)
    return pattern.sub(lambda match: meant.capitalize() if match[0][0].isupper() else meant, text, count=1)


@lru_cache(maxsize=CACHED_TEXTS)
def _spelt(text: str) -> dict[str, bool]:
    """The words of a text outside code, folded, each with whether it may be a name."""
    spelt: dict[str, bool] = {}
    for word in extract(text).words:
        if word.text.isalpha():
            spelt[word.folded] = spelt.get(word.folded, False) or _named(word.text, opens=word.opens)
    for code in _SPELT_APART.findall(text):
        spelt.update((word.folded, True) for word in extract(code).words)
    return spelt


def _named(word: str, *, opens: bool) -> bool:
    """Whether a word may be a name: by a capital inside a sentence, or by the tables."""
    lower = fold(word)
    if word.islower() or (opens and word[1:].islower()):
        return lower in known_names()
    return not (word.isupper() and common(lower))


def _meant(word: str, meant: str) -> bool:
    """Whether one edit makes a known word of a word that is none."""
    if len(meant) < _SHORTEST and not (meant in STOP_WORDS and sorted(word) == sorted(meant)):
        return False
    if abs(len(word) - len(meant)) > 1 or not is_word(meant) or not _one_edit(word, meant):
        return False
    one, other = _TWIN_ENDING.search(word), _TWIN_ENDING.search(meant)
    return not (one and other and one[0] != other[0] and word[: one.start()] == meant[: other.start()])


def _one_edit(x: str, y: str) -> bool:
    short, long = sorted((x, y), key=len)
    head = next((i for i, (p, q) in enumerate(zip(short, long, strict=False)) if p != q), len(short))
    if len(short) < len(long):
        return short[head:] == long[head + 1 :]
    rest, other = short[head:], long[head:]
    return rest[1:] == other[1:] or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
