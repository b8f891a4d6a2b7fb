"""The words of a text: normal forms, stems, which carry meaning, and when two texts have the same letters.

`tokens` cuts a text for measures of shared words and knows scripts without spaces; `words` gives the words of
a text at their places, for readers that must find them again.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from .tables import pattern, table_pairs, table_set

CACHED_TEXTS = (
    16_384  # what is known of a text takes some 10 kB, and is asked for with each of its neighbours
)
STOP_WORDS = table_set("grammar", "stop")
_SIGNS = str.maketrans(
    {**dict.fromkeys("‘’‚‛ʼ′", "'"), **dict.fromkeys("“”„‟«»″", '"'), **dict.fromkeys("‐‑‒–—―−﹣－", "-")}
    | dict.fromkeys("\u200b\ufeff\u00ad", "")
)
_SAME_LENGTH = str.maketrans(
    {**dict.fromkeys("’‘ʼ′", "'"), **dict.fromkeys("“”„«»″", '"'), **dict.fromkeys("–‐‑−", "-")}
    | {**dict.fromkeys("\u00a0\u202f\u2009", " "), "—": ";", "µ": "μ"}
)
_LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i"}
)
IRREGULAR = {
    form: base for base, forms in table_pairs("grammar", "irregular").items() for form in forms.split()
}
_JOINTS = frozenset({"", "-", "_", "/", "."})
_OPPOSING = frozenset({"prefer", "us", "avoid", "stop", "alway", "lik", "want"})


class Word(NamedTuple):
    """One word, or one pair of characters of a script without spaces, at its place in the normalised text."""

    text: str
    folded: str  # in small letters; by `words` without diacritics and a possessive ending, too
    start: int
    end: int
    opens: bool = False  # it is the first word of a sentence, of a clause in brackets, a quotation or a line

    @property
    def stem(self) -> str:
        """What its forms have in common."""
        return stem(self.folded)

    @property
    def is_stop(self) -> bool:
        """Whether it is a word of grammar that says nothing by itself."""
        return self.folded in STOP_WORDS


def normalised(text: str) -> str:
    """NFKC with one kind of quote and dash; superscripts and fractions stay, since 10² is not 102."""
    if text.isascii():
        return text
    kept = ("<super>", "<sub>", "<fraction>")
    compatible = (
        char if unicodedata.decomposition(char).startswith(kept) else unicodedata.normalize("NFKC", char)
        for char in text
    )
    return unicodedata.normalize("NFC", "".join(compatible)).translate(_SIGNS)


@lru_cache(maxsize=CACHED_TEXTS)
def stem(word: str) -> str:
    """Cut plural, -ing and -ed off a lower-case word, so that its forms are equal; not a dictionary form."""
    word = word.removesuffix("'s").removesuffix("'")
    word = IRREGULAR.get(word, word)
    if not word.isalpha() or len(word) < 3:
        return word
    if len(word) > 4 and word.endswith(("ies", "ied")):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-2] if word.endswith(("sses", "xes", "ches", "shes", "zzes")) else word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 1 and not word.endswith("eed") and pattern("vowel").search(rest):
            word = rest
            break
    if len(word) > 3 and word[-1] == word[-2]:
        return word[:-1]
    return word.removesuffix("e") if len(word) > 2 else word


@lru_cache(maxsize=CACHED_TEXTS)
def tokens(text: str) -> tuple[Word, ...]:
    """All words of a text in order, stop words included."""
    clean = normalised(text)
    words: list[Word] = []
    for match in pattern("token").finditer(clean):
        word, (start, end) = match[0], match.span()
        if match["run"]:
            ends = ((at, min(at + 2, end)) for at in range(start, max(end - 1, start + 1)))
            words += [Word(clean[at:to], clean[at:to], at, to) for at, to in ends]
        else:
            words.append(Word(word, word.casefold(), start, end))
    return tuple(words)


@lru_cache(maxsize=CACHED_TEXTS)
def significant_words(text: str) -> frozenset[str]:
    """The stems of all words that carry meaning; negations are left out, polarity is judged apart."""
    return frozenset(token.stem for token in tokens(text) if not token.is_stop)


def overlap(a: str, b: str) -> float:
    """Share of significant words in both texts, of the larger set; without any, whether they are the same.

    Measured against the smaller set, a short text would be a duplicate of every long one that mentions it.
    """
    first, second = significant_words(a), significant_words(b)
    larger = max(len(first), len(second))
    if larger == 0:
        return float(exact_key(a) == exact_key(b))
    return len(first & second) / larger


@lru_cache(maxsize=CACHED_TEXTS)
def exact_key(text: str) -> str:
    """Key of the exact-duplicate group: two texts with one key say the same and need no model.

    Ignored: Unicode forms, white space, kinds of quotes and dashes, final full stops, and the case of plain
    words. Kept: code in backticks to the letter, and the case of tokens whose case carries meaning.
    """
    pieces = pattern("code").split(text)  # every second piece is a code span
    unified = "".join(piece if at % 2 else _unified_prose(piece) for at, piece in enumerate(pieces))
    key = pattern("final_mark").sub("", unified.strip())
    return key if key == text else exact_key(key)  # case folding can undo normal forms


def _unified_prose(piece: str) -> str:
    clean = normalised(piece)  # white space at its edges stays as one space
    cased, mixed = pattern("cased"), pattern("letter_and_digit")
    body = " ".join(
        word if cased.search(word) or mixed.match(word) else normalised(word.casefold())
        for word in clean.split()
    )
    if not body:
        return " " if clean else ""
    return " " * clean[0].isspace() + body + " " * clean[-1].isspace()


def topic(older: str, newer: str) -> str:
    """Name what two opposing texts are about in up to four shared words, as the newer text spells them.

    Words that only carry the opposition (use, avoid, prefer ...) are left out.
    """
    stems = set((significant_words(older) & significant_words(newer)) - _OPPOSING)
    clean, spans = normalised(newer), list[tuple[int, int]]()
    for token in tokens(newer):
        if token.is_stop or token.stem not in stems:
            continue
        stems.remove(token.stem)
        if spans and (token.start < spans[-1][1] or clean[spans[-1][1] : token.start] in _JOINTS):
            spans[-1] = (spans[-1][0], token.end)  # what adjoins becomes one: "trunk-based"
        else:
            spans.append((token.start, token.end))
    return " ".join(clean[start:end] for start, end in spans[:4])


def normalise(text: str) -> str:
    """Unify quotes, dashes, spaces and digits of other scripts without changing the length."""
    text = text.translate(_SAME_LENGTH)
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)


@lru_cache(maxsize=CACHED_TEXTS)
def fold(word: str) -> str:
    """Lower-case a word and strip its diacritics."""
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(char for char in parts if not unicodedata.combining(char)).translate(_LETTERS)


def words(text: str) -> Iterator[Word]:
    """Yield the words of a normalised text in order."""
    last = 0
    for match in pattern("word").finditer(text):
        gap, (start, end) = text[last : match.start()], match.span()
        opens = last == 0 or (gap != " " and pattern("before_opening").search(gap) is not None)
        yield Word(match[0], fold(match[0]).removesuffix("'s"), start, end, opens)
        last = end


def out_of_order(places: Sequence[int]) -> set[int]:
    """Indices outside one longest rising run."""
    tails, ends, before = list[int](), list[int](), list[int]()  # of the shortest runs: place, index, link
    for at, place in enumerate(places):
        where = bisect_left(tails, place)
        before.append(ends[where - 1] if where else -1)
        tails[where : where + 1], ends[where : where + 1] = [place], [at]
    outside, at = set(range(len(places))), ends[-1] if ends else -1
    while at >= 0:
        outside.remove(at)
        at = before[at]
    return outside


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number with its noun."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


_FOREIGN, _ENGLISH = (table_set("languages", key) for key in ("foreign", "english"))
_DENIALS = table_set("denials", "words")
MOST_FOREIGN_SPELT = 0.3
SHORT = 3
_READ = ("LATIN", "MICRO SIGN", "MODIFIER", "FEMININE ORDINAL", "MASCULINE ORDINAL")


@lru_cache(maxsize=8_192)
def is_english(text: str) -> bool:
    """Whether a text may be read by a scorer that knows English only."""
    letters = [char for char in text[:1_000] if char.isalpha()]
    other = sum(not unicodedata.name(char, "LATIN").startswith(_READ) for char in letters)
    if other > MOST_FOREIGN_SPELT * len(letters):
        return False
    words = [word.lower() for word in pattern("spelt").findall(text[:1_000])]
    foreign = {word for word in words if word in _FOREIGN}
    if len(foreign) < 2 and not any(len(word) > SHORT for word in foreign):
        return True  # "til", "en", "por": one of them stands in English texts, too
    return len(foreign) <= sum(word in _ENGLISH for word in words)


def only_denied(a: str, b: str) -> bool:
    """Whether a word of denial of another language is all that one of two texts has more than the other."""
    whole = (pattern("elided_ne").sub("ne ", text.lower()) for text in (a, b))
    first, second = (set(pattern("spelt").findall(text)) for text in whole)
    sign = pattern("denying_sign")
    if sign.sub("", a) == sign.sub("", b):
        return bool(sign.search(a)) != bool(sign.search(b))
    return bool(first ^ second) and first ^ second <= _DENIALS
