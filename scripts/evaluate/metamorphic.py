"""How many edits of our texts stay the same statement: those that keep the meaning, and those that change it.

    python -m mem0_dream.scripts.evaluate.metamorphic [FILE ...] --texts 3000

Each edit is made by program where it fits. Asked: 98 of 100 of each keeping edit, none of the others.
"""

import json
import random
import re
import tomllib
import unicodedata
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from ...models.same_statement import same_statement
from ...models.text.vocabulary import common, is_word

Edit = Callable[[str, random.Random], str | None]
Report = Mapping[str, tuple[int, int, tuple[tuple[str, str], ...]]]

DATA = Path(__file__).parents[1] / "data"
TABLE: dict[str, Any] = tomllib.loads((DATA / "edits.toml").read_text(encoding="utf-8"))
ASKED = 0.98
_KEYS = ("anchor", "base", "dup", "para", "distinct", "near")
_LINE = re.compile(r"\s*[-=~!] (?:\[[^\]]*\] )?(?:\d{4}-\d\d-\d\d )?(?P<text>[^{]+)")
_NUMBER_WORDS: list[str] = TABLE["words"]["numbers"]
_NAMES: list[str] = TABLE["words"]["names"]


def put_in(text: str, place: re.Match[str], new: str, part: int = 0) -> str:
    """The text with something else in the place of a match, or of a part of it."""
    return text[: place.start(part)] + new + text[place.end(part) :]


def _first(find: str, by: str | Callable[[re.Match[str]], str], unless: str = r"\Z.") -> Edit:
    found, unfit = re.compile(find), re.compile(unless)

    def edit(text: str, _: random.Random) -> str | None:
        edited = text if unfit.search(text) else found.sub(by, text, count=1)
        return edited if edited != text else None

    return edit


def _rule(row: Mapping[str, Any]) -> Edit:
    if "turn" in row:
        names, by = row["turn"], row.get("by", 1)
        find = rf"\b(?:{'|'.join(names)})" + row.get("after", r"\b")
        return _first(find, lambda match: str(names[(names.index(match[0]) + by) % len(names)]))
    if "{}" not in row.get("put", ""):
        by = row.get("put", lambda match: match[0].lower())
        return _first(row["find"], by, row.get("unless", r"\Z."))
    times, plus, put = row.get("times", 1), row.get("plus", 0), row["put"].format
    return _first(row["find"], lambda match: str(put(int(match[match.lastindex or 0]) * times + plus)))


def _edits(kind: str) -> dict[str, Edit]:
    """The edits of a kind by name; of several rows the first that fits, in random order."""

    def either(rules: Sequence[Edit]) -> Edit:
        def edit(text: str, dice: random.Random) -> str | None:
            edited = (rule(text, dice) for rule in dice.sample(rules, len(rules)))
            return next((one for one in edited if one is not None), None)

        return rules[0] if len(rules) == 1 else edit

    return {name: either([*map(_rule, rows)] or [_WRITTEN[name]]) for name, rows in TABLE[kind].items()}


def _typo(text: str, dice: random.Random) -> str | None:
    if "`" in text:
        return None
    places = [m for m in re.finditer(r"(?<![\w/.@`'-])[a-z]{5,}(?![\w/@`'-]|\.\w)", text) if is_word(m[0])]
    for place in dice.sample(places, len(places)):
        word = place[0]
        at = dice.randrange(1, len(word) - 1)
        before, letter, after = word[:at], word[at], word[at + 1 :]
        other = dice.choice("aeinorst")
        inner = (after, letter + letter + after, after[0] + letter + after[1:], other + after)
        slip = before + dice.choice(inner)
        if slip != word and not is_word(slip):
            return put_in(text, place, slip)
    return None


def _compatible(text: str, dice: random.Random) -> str | None:
    if "`" in text:
        return None
    form = dice.choice((str.maketrans(" ", "\u00a0"), {ord(x): ord(x) + 0xFEE0 for x in "aeinrt"}))
    edited = text.translate(form)
    return edited if edited != text else unicodedata.normalize("NFD", text)


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


def _number_word(text: str, dice: random.Random) -> str | None:
    def other(match: re.Match[str]) -> str:
        return _NUMBER_WORDS[int(match[0])] if match[0].isdigit() else str(_NUMBER_WORDS.index(match[0]))

    unfit = r"(?:am|pm|and|to|of|or|at|past|o'clock|in|for|until|thirds|fifths|quarters|hundred|hours|days)\b"
    numbers = rf"(?:{'|'.join(_NUMBER_WORDS[2:])}|[2-9]|1[0-2])"
    return _first(rf"(?<=[a-z] ){numbers}(?= (?!{unfit})[a-z]{{4,}})", other)(text, dice)


def _names_in(text: str) -> list[re.Match[str]]:
    return [each for each in re.finditer(r"(?<=[a-z] )[A-Z][a-z]{2,}\b", text) if not common(each[0].lower())]


def _other_name(text: str, dice: random.Random) -> str | None:
    found = _names_in(text)
    place = dice.choice(found) if found else None
    return place and put_in(text, place, dice.choice([each for each in _NAMES if each not in text]))


def exchanged(
    find: Callable[[str], Iterable[re.Match[str]]], part: int | str = 0, *, but: Sequence[str] = ()
) -> Edit:
    """Two matches in each other's place, or a part of each, where they are no items of one list."""

    def edit(text: str, dice: random.Random) -> str | None:
        spans = [match.span(part) for match in find(text) if match[part].lower() not in but]
        pairs = [
            (one, other)
            for one, other in combinations(spans, 2)
            if text[slice(*one)].lower() != text[slice(*other)].lower()
            and one[1] <= other[0]
            and not re.match(TABLE["patterns"]["joined"], text[one[1] : other[0]])
        ]
        if not pairs:
            return None
        (a, b), (c, d) = dice.choice(pairs)
        return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]

    return edit


_WRITTEN: Mapping[str, Edit] = {
    "said twice": lambda text, _: f"{text} {text}" if re.fullmatch(r".*[.!]", text) else f"{text}\n{text}",
    "typo": _typo, "Unicode form": _compatible, "final mark": _closing, "frame": _frame,
    "number in words": _number_word, "name": _other_name, "exchanged names": exchanged(_names_in),
}  # fmt: skip
KEEPING: Mapping[str, Edit] = _edits("keeping")
CHANGING: Mapping[str, Edit] = _edits("changing")


def texts_of(paths: Iterable[Path]) -> list[str]:
    """All different texts of files of worlds, contrast sets and lists, in order."""
    texts: list[str] = []
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            if path.suffix == ".jsonl":
                entry = json.loads(line)
                texts += (entry[key] for key in _KEYS if key in entry)
            elif path.suffix == ".tsv":
                texts.append(line.split("\t")[0])
            elif match := _LINE.match(line):
                texts.append(match["text"].strip())
    return list(dict.fromkeys(texts))


def measured(
    texts: Sequence[str], edits: Mapping[str, Edit], *, names: Iterable[str] | None = None, seed: int = 0
) -> Report:
    """For each edit: how many texts it fits, how many of them stay the same statement, and the odd ones."""
    report = {}
    for name in edits if names is None else names:
        dice = random.Random(f"{seed} {name}")  # noqa: S311  (which letter is exchanged is no secret)
        drawn = ((text, edits[name](text, dice)) for text in texts)
        pairs = [(text, edited) for text, edited in drawn if edited is not None and edited != text]
        same = [same_statement(a, b) for a, b in pairs]
        odd = tuple(pair for pair, stays in zip(pairs, same, strict=True) if stays != (edits is KEEPING))
        report[name] = (len(pairs), sum(same), odd)
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where less is reached than asked."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="worlds (.txt), contrast sets, lists (.tsv)")
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
