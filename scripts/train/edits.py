"""Training pairs made by program: restatements and trifles, and edits that bind the same words otherwise.

A network that sees only whole paraphrases learns that many shared words mean one fact; one that only sees
exchanges learns to fear other orders, not to tell them. Here two texts share nearly all words, or a change of
surface (passive, converse, cleft, fronting, synonym), and the place of a name, a number or a stage decides.
An edit returns None where it does not apply; whether an exchange contradicts is left open.
"""

import random
import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..evaluate.metamorphic import CHANGING, KEEPING, TABLE, Edit, exchanged, put_in
from .examples import DATA, LETTERS, Example, both_orders, either_order

_PATTERN = {name: re.compile(pattern) for name, pattern in TABLE["patterns"].items()}
_WORDS: dict[str, list[str]] = TABLE["words"]
_RESTATED = tomllib.loads((DATA / "restatements.toml").read_text(encoding="utf-8"))
Pattern = tuple[re.Pattern[str], Sequence[str]]  # what a text looks like, and forms that say the same


class Relation(NamedTuple):
    """Constructions of one relation."""

    exchanged: str  # what it is when {a} and {b} change places
    pools: tuple[Sequence[str], Sequence[str]]
    constructions: Sequence[str]


_POOLS = {"-": ()} | {name: values.split("; ") for name, values in _RESTATED["pools"].items()}
RELATIONS = [
    Relation(LETTERS[label], (_POOLS[ab], _POOLS[xy]), told.split(" | "))
    for label, ab, xy, told in _RESTATED["relations"]
]
PATTERNS: list[Pattern] = [
    (
        re.compile(re.sub("<[A-Z]+>", lambda word: _RESTATED["shorthands"][word[0]], pattern)),
        forms.split(" | "),
    )
    for pattern, forms in _RESTATED["patterns"].items()
]


def _other_number(text: str, rng: random.Random) -> str | None:
    if not (found := list(_PATTERN["number"].finditer(text))):
        return None
    value = int((one := rng.choice(found))[0])
    other = rng.choice([value + 1, max(1, value - 1), value * 2, value * 10, value + rng.randrange(2, 9)])
    return None if other == value else put_in(text, one, str(other))


def _staged(text: str, rng: random.Random) -> str | None:
    match = _PATTERN["verb"].match(text)
    if match is None or match["verb"] in ("was", "does") or match["who"] in _WORDS["not_first"][:3]:
        return None
    verb = match["verb"]
    base = TABLE["irregular"].get(verb) or (verb[:-3] + "y" if verb.endswith("ies") else verb[:-1])
    return f"{match['who']} {rng.choice(_WORDS['stages']).format(base, verb)}{match['rest']}"


def _hedged(text: str, rng: random.Random) -> str | None:
    if not text.startswith(("User ", "The user ", "The ")) or "\n" in text or text.count(". "):
        return None
    body = text.rstrip(".")
    return rng.choice(_WORDS["hedges"]).format(body[0].lower() + body[1:], body) + "."


def _limited(text: str, rng: random.Random) -> str | None:
    match = _PATTERN["verb"].match(text)
    if match is None or match["verb"] in ("is", "was", "has") or match["who"] not in _WORDS["who"]:
        return None
    return f"{match['who']} {rng.choice(_WORDS['amounts'])} {match['verb']}{match['rest']}"


def _reordered_items(text: str, rng: random.Random) -> str | None:
    match = _PATTERN["items"].search(text)
    if match is None or "respectively" in text:
        return None
    items = re.split(r",? (?:and|or) |, ", match[0])
    order = rng.sample(items, len(items))
    word = " or " if " or " in match[0] else " and "
    return put_in(text, match, f"{', '.join(order[:-1])}{word}{order[-1]}")


def _fronted(text: str, _rng: random.Random) -> str | None:
    match = _PATTERN["tail"].match(text)
    if match is None or any(word in text for word in (" and ", " but ", ": ", "; ")):
        return None
    head, tail = match["head"], match["tail"]
    lowered = head if _PATTERN["proper"].match(head) else head[0].lower() + head[1:]
    return f"{tail[0].upper()}{tail[1:]}, {lowered}."


def _reordered_sentences(text: str, rng: random.Random) -> str | None:
    parts = re.split(r"(?<=[a-z0-9)][.!]) (?=[A-Z])", re.sub(r"\b(Dr|Mr|Mrs|Ms|St)\. ", r"\1 ", text))
    if len(parts) < 2 or any(part.split()[0] in _WORDS["not_first"] for part in parts):
        return None
    order = parts[:]
    rng.shuffle(order)
    return None if order == parts else " ".join(part if part[-1] in ".!?" else part + "." for part in order)


def _retouched(text: str, rng: random.Random) -> str | None:
    result = text
    for trifle in rng.sample(_TRIFLES, rng.randrange(1, 4)):
        result = KEEPING[trifle](result, rng) or result
    return None if result == text else result


_TRIFLES = tuple(name for name in KEEPING if name not in ("typo", "order of a list", "said twice"))
EXCHANGES: tuple[Edit, ...] = (
    *(exchanged(_PATTERN[name].finditer, part) for name, part in (("name", 0), ("number", 0), ("phrase", 2))),
    exchanged(_PATTERN["sides"].finditer, "b", but=_WORDS["weak"]), _other_number, CHANGING["weekday"],
)  # fmt: skip
STAGES: tuple[Edit, ...] = (_staged, _hedged, _limited)
ORDERS: tuple[Edit, ...] = (KEEPING["order of a list"], _reordered_items, _fronted, _reordered_sentences)
TRIFLES: tuple[Edit, ...] = (KEEPING["typo"], _retouched)


def edited_pairs(
    groups: Sequence[Sequence[str]], *, seed: int, changing: int, keeping: int
) -> Iterator[Example]:
    """Pairs of a text, or another wording of its fact, and its edit; each group states one fact.

    At most `changing` are drawn of exchanges, half of stages, `keeping` of other orders and of trifles.
    """
    rng = random.Random(seed)  # noqa: S311
    families = ((EXCHANGES, changing), (STAGES, changing // 2), (ORDERS, keeping), (TRIFLES, keeping))
    for edits, most in families:
        found = [
            (text, edit(text, rng), group)
            for edit in edits
            for group in rng.sample(list(groups), min(len(groups), 2 * most // len(edits)))
            for text in (rng.choice(group),)
        ]
        usable = [(text, new, group) for text, new, group in found if new is not None and new != text]
        for text, new, group in rng.sample(usable, min(most, len(usable))):
            other = text if rng.random() < 0.5 else rng.choice(list(group))
            same = "equal" if other == text else "detail"
            yield either_order(other, new, same if edits in (ORDERS, TRIFLES) else "other", rng)


def constructed_pairs(relations: Sequence[Relation], *, seed: int, count: int) -> Iterator[Example]:
    """`count` pairs: half say the same in two constructions, most others exchange {a} and {b}."""
    rng = random.Random(seed)  # noqa: S311
    for _ in range(count):
        relation, told = rng.choice(relations), rng.choice(("equal",) * 4 + ("exchanged",) * 3 + ("other",))
        filled: dict[str, str] = {}
        for pool, slots in zip(relation.pools, ("ab", "xy"), strict=True):
            for slot in slots:
                free = [value for value in pool if value not in filled.values()]
                filled[slot] = rng.choice(free) if free else ""
        first, second = rng.sample(relation.constructions, 2)
        if told == "exchanged":
            second = rng.choice((first, second, second))
            other = filled | {"a": filled["b"], "b": filled["a"]}
        elif told == "other" and rng.random() < 0.5:
            alike = [one for one in relations if one.pools == relation.pools and one is not relation]
            second = rng.choice((rng.choice(alike) if alike else relation).constructions)
            told, other = ("other", filled) if alike else ("equal", filled)
        else:
            slot = rng.choice([name for name, value in filled.items() if value])
            pool = relation.pools[slot not in "ab"]
            free = [value for value in pool if value not in filled.values()]
            told = told if free else "equal"
            other = filled | ({slot: rng.choice(free)} if told == "other" else {})
        a, b = _told(first, filled, rng), _told(second, other, rng)
        yield both_orders(a, b, relation.exchanged if told == "exchanged" else told)[0]


def _told(construction: str, filled: dict[str, str], rng: random.Random) -> str:
    text = re.sub(r"(?<!^)\buser\b", "the user", construction.format(**filled))
    if text.startswith("user") and rng.random() < 0.3:
        text = "the " + text
    end = rng.choice((".", ".", ""))
    lowered = text if not text.startswith("user") else "the " + text
    return str(rng.choice(_RESTATED["frames"])).format(text[0].upper() + text[1:] + end, lowered + end)


def restated(text: str, patterns: Sequence[Pattern], rng: random.Random) -> str | None:
    """The text in another construction that says the same, None where no pattern fits."""
    found = [(match, forms) for fits, forms in patterns if (match := fits.match(text))]
    if not found or "respectively" in text:
        return None
    match, forms = rng.choice(found)
    parts = match.groupdict()
    parts["bare"] = re.sub(r"^an? ", "", parts.get("what") or "")
    for name, value in list(parts.items()):
        parts[name[0].upper() + name[1:]] = value[:1].upper() + value[1:]
        parts["l" + name] = _lowered(value)
    return rng.choice(forms).format(**parts)


def _lowered(text: str) -> str:
    if text.startswith(("User ", "User's")) or text == "User":
        return "the user" + text[4:]
    return text[0].lower() + text[1:] if re.match(_RESTATED["small_inside"], text) else text


def restated_pairs(
    groups: Sequence[Sequence[str]], patterns: Sequence[Pattern], *, seed: int, count: int
) -> Iterator[Example]:
    """`count` texts beside their restatement, and beside that of the text with two details exchanged."""
    rng = random.Random(seed)  # noqa: S311
    texts = [text for group in groups for text in group]
    for text in rng.sample(texts, len(texts)):
        new = restated(text, patterns, rng) if count > 0 else None
        if new is None:
            continue
        count -= 1
        edits = rng.sample(EXCHANGES, len(EXCHANGES))
        other = next((found for edit in edits if (found := edit(text, rng))), None)
        exchanged = other and restated(other, patterns, rng)
        for changed, told in ((new, "equal"), (exchanged, "other")):
            if changed is not None:
                yield either_order(text, changed, told, rng)
