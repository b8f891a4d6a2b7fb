"""How many edits of our texts stay the same statement: those that keep the meaning, and those that change it.

    python -m mem0_dream.scripts.evaluate.metamorphic [FILE ...] --texts 3000

Each edit is made by program where it fits. Asked: 98 of 100 of each keeping edit, none of the others.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ...models.facts.calendar import MONTHS
from ...models.same_statement import same_statement
from ...models.text.vocabulary import common, is_word

Edit = Callable[[str, random.Random], str | None]
Report = Mapping[str, tuple[int, int, tuple[tuple[str, str], ...]]]

DATA = Path(__file__).parents[1] / "data"
ASKED = 0.98
_KEYS = ("anchor", "base", "dup", "para", "distinct", "near")
_LINE = re.compile(r"\s*[-=~!] (?:\[[^\]]*\] )?(?:\d{4}-\d\d-\d\d )?(?P<text>[^{]+)")
_NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NAMES = ("Oslo", "Lisbon", "Anna", "Tomas", "Marta", "Postgres", "Jenkins", "Terraform", "Berlin", "Ines")
_MONTHS = tuple(month.capitalize() for month in MONTHS)
_CONTRACTED = {
    r"\b(does|do|did|is|are|was|were|has|have|had|would|should|could) not\b": r"\1n't",
    r"\bcannot\b": "can't",
    r"\bwill not\b": "won't",
    r"\b(I|We|They|You) (?:are)\b": r"\1're",
    r"\b([Ii]t|[Hh]e|[Ss]he|[Tt]hat) is\b": r"\1's",
}
_UNITS = (
    (r"(?<![\w.,-])(\d+) ?km\b(?!/)", lambda m: f"{int(m[1]) * 1000} m"),
    (r"(?<![\w.,-])(\d+) ?kg\b", lambda m: f"{int(m[1]) * 1000} g"),
    (r"(?<![\w.,-])(\d+)%", lambda m: f"{m[1]} percent"),
    (r"(?<![\w.,-])(\d+) percent\b", lambda m: f"{m[1]}%"),
    (r"(?<![\w.,-])([1-9]|1[0-2]) hours\b", lambda m: f"{int(m[1]) * 60} minutes"),
    (r"(?<![\w.,-])([2-9]) weeks\b", lambda m: f"{int(m[1]) * 7} days"),
    (r"(?<![\w.,-])(\d+) ?GB\b", lambda m: f"{int(m[1]) * 1000} MB"),
    (r"(?<![\w.,-])(\d+) minutes\b", lambda m: f"{m[1]} min"),
)


def _first(pattern: str, by: str | Callable[[re.Match[str]], str]) -> Edit:
    """Replace the first match."""
    found = re.compile(pattern)

    def edit(text: str, _: random.Random) -> str | None:
        edited = found.sub(by, text, count=1)
        return edited if edited != text else None

    return edit


def _either(*edits: Edit) -> Edit:
    """The first of several edits that fits, in random order."""

    def edit(text: str, dice: random.Random) -> str | None:
        for each in dice.sample(edits, len(edits)):
            edited = each(text, dice)
            if edited is not None:
                return edited
        return None

    return edit


def _typo(text: str, dice: random.Random) -> str | None:
    if "`" in text:
        return None
    places = [m for m in re.finditer(r"(?<![\w/.@`'-])[a-z]{5,}(?![\w/@`'-]|\.\w)", text) if is_word(m[0])]
    for place in dice.sample(places, len(places)):
        word = place[0]
        at = dice.randrange(1, len(word) - 1)
        slips = (
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
            word[:at] + dice.choice("aeinorst") + word[at + 1 :],
        )
        slip = dice.choice(slips)
        if slip != word and not is_word(slip):
            return text[: place.start()] + slip + text[place.end() :]
    return None


def _bullet(text: str, dice: random.Random) -> str:
    return dice.choice(("- ", "* ", "• ", "  - ")) + text


def _emoji(text: str, dice: random.Random) -> str:
    sign = dice.choice("🎉🚀😀✅👍🐶☕✨")
    return f"{text} {sign}" if dice.random() < 0.5 else f"{sign} {text}"


def _small(text: str, _: random.Random) -> str | None:
    small = text[0].lower() + text[1:]
    return small if small != text and text[1:2].islower() else None


def _all_small(text: str, _: random.Random) -> str | None:
    """All in small letters, where no letter is code, a name of one, or a plain word otherwise ("US")."""
    letter_counts = r"[A-Z]{2}|\w[A-Z]|[/_@#$=\\]|[A-Z]\d|\w[.:]\w|\b(?:May|March|Mar|Sun|Sat|Wed|[A-Z])\b"
    fits = text.isascii() and "`" not in text and not re.search(letter_counts, text)
    return text.lower() if fits and text.lower() != text else None


def _compatible(text: str, dice: random.Random) -> str | None:
    if "`" in text:
        return None
    form = dice.choice((str.maketrans(" ", "\u00a0"), {ord(x): ord(x) + 0xFEE0 for x in "aeinrt"}))
    edited = text.translate(form)
    return edited if edited != text else unicodedata.normalize("NFD", text)


def _quotes(text: str, _: random.Random) -> str | None:
    if "`" in text or '"' in text:
        return None
    return text.replace("'", "’") if "'" in text else f"“{text}”"


def _ticked(text: str, dice: random.Random) -> str | None:
    words = re.findall(r"(?<!\S)[a-z]{4,}(?!\S)", text)
    return text.replace(word := dice.choice(words), f"`{word}`", 1) if words and "`" not in text else None


def _emphasis(text: str, dice: random.Random) -> str | None:
    words = re.findall(r"(?<!\S)[A-Za-z]{3,}(?!\S)", text)
    if not words or re.search(r"[*_`]", text):
        return None
    mark = dice.choice(("*", "**", "_"))
    return re.sub(rf"(?<!\S){(word := dice.choice(words))}(?!\S)", f"{mark}{word}{mark}", text, count=1)


def _closing(text: str, _: random.Random) -> str | None:
    if text.endswith((".", "!")) and not text.endswith("..") and not re.search(r"[/\\~*.-]\.$", text):
        return text[:-1] if not re.search(r"\b(?:[a-z]\.[a-z]|etc|approx|\w)\.$", text) else None
    return text + "." if text[-1].isalnum() else None


def _frame(text: str, dice: random.Random) -> str | None:
    subject = re.match(r"(?:The user|User) (?=(?:is|has|was|[a-z]+s)\b)", text)
    if subject:
        rest = text[subject.end() :]
        return dice.choice((rest[0].upper() + rest[1:], f"The user {rest}", f"User {rest}"))
    return dice.choice(("Note: ", "Remember that ", "Remember: ")) + text


def _filler(text: str, dice: random.Random) -> str | None:
    found = re.search(r"(?<=\w )(?:is|are|has) (?!not|no |never|n't|been|to )(?=[a-z]{4})", text)
    if not found:
        return None
    return f"{text[: found.end()]}{dice.choice(('currently', 'also', 'really'))} {text[found.end() :]}"


def _listed(text: str, _: random.Random) -> str | None:
    """Exchange the items of a plain list at the end of a sentence, behind a verb or a preposition."""
    opening = r"\b(?:in|to|for|on|speaks|likes|loves|uses|plays|eats|drinks|visits|studies|knows|owns) "
    found = re.search(rf"{opening}(\w+) and (\w+)(?=\.?$)", text)
    if not found or not all(len(word) > 2 and not re.search(r"\d", word) for word in found.groups()):
        return None
    return f"{text[: found.start(1)]}{found[2]} and {found[1]}{text[found.end(2) :]}"


def _doubled(text: str, _: random.Random) -> str | None:
    return f"{text} {text}" if text.endswith((".", "!")) and "\n" not in text else f"{text}\n{text}"


def _spaces(text: str, dice: random.Random) -> str | None:
    if "`" in text or " " not in text:
        return None
    return dice.choice((text.replace(" ", "  ", 2), f" {text}\n", text.replace(" ", "\t", 1)))


def _number_word(text: str, dice: random.Random) -> str | None:
    def other(match: re.Match[str]) -> str:
        return _NUMBER_WORDS[int(match[0])] if match[0].isdigit() else str(_NUMBER_WORDS.index(match[0]))

    unfit = r"(?:am|pm|and|to|of|or|at|past|o'clock|in|for|until|thirds|fifths|quarters|hundred|hours|days)\b"
    numbers = rf"(?:{'|'.join(_NUMBER_WORDS[2:])}|[2-9]|1[0-2])"
    return _first(rf"(?<=[a-z] ){numbers}(?= (?!{unfit})[a-z]{{4,}})", other)(text, dice)


_KEPT_OF = (
    "few|little|lot|bit|couple|most|more|only|one|other|same|less|half|third|quarter|tenth|metre|morning|afternoon|"
    "evening|early|late|moment|minute|second|day|week|month|year|night|hour"
)
_NO_ROUGHLY = "".join(
    f"(?<!{word} )" for word in ("about", "roughly", "than", "least", "most", "to", "every", "minus", "and")
)
_MEASURE = r"\d+(?: (?:minutes|hours|days|weeks|people|metres|euros)|%| ?(?:km|kg|mg|GB|ms)\b)"
_TO_24 = r"(?<![\w:.,/-])(?<!to )([1-9]|1[01]) ?pm\b(?! ?[-–])(?<!-)"
_MONTH = "|".join(_MONTHS)

KEEPING: Mapping[str, Edit] = {
    "article left out": _first(rf"(?<=[a-z] )(?<!half )(?:the|an|a) (?!{_KEPT_OF})(?=[a-z]{{3}})", ""),
    "bullet": _bullet,
    "emoji": _emoji,
    "& for and": _first(r"(?<=\w) and (?!a half|a quarter)(?=\w)", " & "),
    "typo": _typo,
    "contraction": _either(*(_first(pattern, by) for pattern, by in _CONTRACTED.items())),
    "small first letter": _small,
    "small letters": _all_small,
    "Unicode form": _compatible,
    "quotes": _quotes,
    "ticks": _ticked,
    "emphasis": _emphasis,
    "final mark": _closing,
    "frame": _frame,
    "filler": _filler,
    "roughly": _first(rf"(?<=[a-z] ){_NO_ROUGHLY}(?={_MEASURE})", "about "),
    "order of a list": _listed,
    "unit": _either(*(_first(pattern, by) for pattern, by in _UNITS)),
    "number in words": _number_word,
    "said twice": _doubled,
    "plural of a day": _first(rf"\b(on (?:{'|'.join(_DAYS)}))\b(?!s| \w+ \d|,? \d)", r"\1s"),
    "white space": _spaces,
    "dash": _first(r"(?<=\w)-(?=\w)", "–"),
    "time of day": _first(_TO_24, lambda match: f"{int(match[1]) + 12}:00"),
    "date": _first(rf"\b({_MONTH}) (\d\d?)\b(?!,? \d|[-–:.]\d|[a-z]| ?(?:-|–|and|to) )", r"\2 \1"),
}


def _names_in(text: str) -> list[re.Match[str]]:
    return [each for each in re.finditer(r"(?<=[a-z] )[A-Z][a-z]{2,}\b", text) if not common(each[0].lower())]


def _other_name(text: str, dice: random.Random) -> str | None:
    found = _names_in(text)
    if not found:
        return None
    place = dice.choice(found)
    name = dice.choice([each for each in _NAMES if each not in text])
    return text[: place.start()] + name + text[place.end() :]


def _exchanged_names(text: str, _: random.Random) -> str | None:
    """Two names in each other's place, where they are no items of one list."""
    names = _names_in(text)
    if len(names) < 2 or names[0][0] == names[1][0]:
        return None
    a, b = names[:2]
    between = text[a.end() : b.start()]
    if "between" in text[: a.start()] or "," in between or re.fullmatch(r"(?: and| or| &)? ", between):
        return None
    return text[: a.start()] + b[0] + between + a[0] + text[b.end() :]


def _pair(one: str, other: str) -> Edit:
    """One word instead of the other, whichever stands there."""
    return _first(rf"\b(?:{one}|{other})\b", lambda match: other if match[0] == one else one)


def _later(names: Sequence[str], by: int) -> Callable[[re.Match[str]], str]:
    return lambda match: names[(names.index(match[0]) + by) % len(names)]


_HELPER = r"\b(is|are|was|has|will|can|should|must) (?!not|no\b|never)"
_SCALES = (
    ("mg", "g"), ("km", "m"), ("GB", "MB"), ("hours", "minutes"), ("weeks", "days"), ("minutes", "seconds"),
)  # fmt: skip

CHANGING: Mapping[str, Edit] = {
    "number": _first(r"(?<![\w.,:/-])\d+(?![\w.,:/-]|%)", lambda match: str(int(match[0]) + 1)),
    "name": _other_name,
    "negation": _either(_first(_HELPER, r"\1 not "), _first(r"^User (\w+)s\b", r"User does not \1")),
    "version": _first(r"\bv?\d+\.\d+\b", lambda match: match[0] + "1"),
    "exchanged names": _exchanged_names,
    "weekday": _first(rf"\b(?:{'|'.join(_DAYS)})", _later(_DAYS, 2)),
    "scale of a unit": _either(*(_first(rf"(?<=\d)( ?){one}\b", rf"\1{other}") for one, other in _SCALES)),
    "always, never": _pair("always", "never"),
    "before, after": _pair("before", "after"),
    "stage": _either(
        _first(r"^User (?=[a-z]+s\b)", "User no longer "),
        _first(r"\bis (?=[a-z]{4})", "was "),
        _first(r"\b(?:is|are) (?=[a-z]{4})", "may be "),
        _first(r"^(?:The user|User) (\w+)s ", r"User wants to \1 "),
    ),
    "quantity": _either(
        _first(r"^(?=[A-Z][a-z]+s are\b)", "Some "),
        _pair("all", "some"),
        _first(r"\bevery ", "nearly every "),
        _first(r"\b(eats|likes|uses) (?=[a-z]{4})", r"\1 only "),
    ),
    "morning, evening": _either(_pair("morning", "evening"), _first(r"(?<=\d)( ?)am\b", r"\1pm")),
    "month": _first(rf"\b(?:{_MONTH})\b(?= \d| of)", _later(_MONTHS, 3)),
}

FRAMED: Sequence[tuple[str, str, str]] = (
    ("version of a tool", "It runs v1.8.", "It runs v1.9."),
    ("case of a flag", "Call it with -t.", "Call it with -T."),
    ("from and to", "The move is from Oslo to Bergen.", "The move is from Bergen to Oslo."),
    ("roles", "Anna reports to Ben.", "Ben reports to Anna."),
    ("can, cant", "They can come.", "They cant come."),
    ("one letter of a name", "Ask Jan.", "Ask Jon."),
    ("form, from", "Look at the form.", "Look at the from."),
    ("case of code", "Call `getUser`.", "Call `getuser`."),
)
"""Two sentences to put behind a text, in which one letter or place is the fact."""


def texts_of(paths: Iterable[Path]) -> list[str]:
    """All different texts of files of worlds, contrast sets and lists, in order."""
    return list(dict.fromkeys(text for path in paths for text in _texts(path)))


def _texts(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if path.suffix == ".jsonl":
            entry = json.loads(line)
            yield from (entry[key] for key in _KEYS if key in entry)
        elif path.suffix == ".tsv":
            yield line.split("\t")[0]
        elif match := _LINE.match(line):
            yield match["text"].strip()


def measured(
    texts: Sequence[str], edits: Mapping[str, Edit], *, names: Iterable[str] | None = None, seed: int = 0
) -> Report:
    """For each edit: how many texts it fits, how many of them stay the same statement, and the odd ones."""
    report: dict[str, tuple[int, int, tuple[tuple[str, str], ...]]] = {}
    for name in edits if names is None else names:
        edit = edits[name]
        dice = random.Random(f"{seed} {name}")  # noqa: S311  (which letter is exchanged is no secret)
        drawn = ((text, edit(text, dice)) for text in texts)
        pairs = [(text, edited) for text, edited in drawn if edited is not None and edited != text]
        same = [same_statement(a, b) for a, b in pairs]
        odd = tuple(pair for pair, stays in zip(pairs, same, strict=True) if stays != (edits is KEEPING))
        report[name] = (len(pairs), sum(same), odd)
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where less is reached than asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "files", nargs="*", type=Path, help="worlds (.txt), contrast sets (.jsonl), lists (.tsv)"
    )
    parser.add_argument("--texts", type=int, default=3000, help="most texts")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--odd", type=int, default=0, help="show so many texts of each edit that went wrong")
    options = parser.parse_args(arguments)
    paths = options.files or sorted(DATA.glob("worlds_sample/*.txt")) + sorted(DATA.glob("*.jsonl"))
    known = texts_of(paths)
    texts = random.Random(options.seed).sample(known, min(options.texts, len(known)))  # noqa: S311
    wrong = 0
    for title, edits, asked in (("keeps the meaning", KEEPING, ASKED), ("changes it", CHANGING, 0.0)):
        print(f"\n| {title} | texts | same statement |\n|---|---:|---:|")
        for name, (fits, same, odd) in measured(texts, edits, seed=options.seed).items():
            wrong += same < asked * fits if asked else same > 0
            print(f"| {name} | {fits} | {100 * same / max(1, fits):.1f}% |")
            for a, b in odd[: options.odd]:
                print(f"    {a!r}\n    {b!r}")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
