"""Training pairs made by program: edits that bind the same words otherwise, and edits that change nothing.

A network that sees only whole paraphrases learns that many shared words mean one fact. Here two texts share
nearly all words, and only the place of a name, a number, a stage or a trifle decides. An edit returns None
where it does not apply. What an exchange gives is never a duplicate; whether it contradicts is left open.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from ..evaluate.labelled import DUPLICATE, ExchangeSet, exchange_pairs
from ..evaluate.metamorphic import CHANGING, KEEPING, TABLE, Edit, put_in
from .examples import DUPLICATE as SAME
from .examples import ENTAILS, NOT_CONTRADICTED, TOLD, Example, both_orders

_PATTERN = {name: re.compile(pattern) for name, pattern in TABLE["patterns"].items()}
_WORDS: dict[str, list[str]] = TABLE["words"]


def _exchanged(pattern: str, part: int | str = 0, *, but: Sequence[str] = ()) -> Edit:
    """Two matches in each other's place, or a part of each, where they are no items of one list."""

    def edit(text: str, rng: random.Random) -> str | None:
        found = (match for match in _PATTERN[pattern].finditer(text) if match[part].lower() not in but)
        spans = [match.span(part) for match in found]
        pairs = [
            (one, other)
            for at, one in enumerate(spans)
            for other in spans[at + 1 :]
            if text[slice(*one)].lower() != text[slice(*other)].lower()
            and one[1] <= other[0]
            and not _PATTERN["joined"].match(text[one[1] : other[0]])
        ]
        if not pairs:
            return None
        (a, b), (c, d) = rng.choice(pairs)
        return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]

    return edit


def _other_number(text: str, rng: random.Random) -> str | None:
    found = list(_PATTERN["number"].finditer(text))
    if not found:
        return None
    one = rng.choice(found)
    value = int(one[0])
    other = rng.choice([value + 1, max(1, value - 1), value * 2, value * 10, value + rng.randrange(2, 9)])
    return None if other == value else put_in(text, one, str(other))


def _staged(text: str, rng: random.Random) -> str | None:
    """Something done becomes something wanted, allowed, tried or over."""
    match = _PATTERN["verb"].match(text)
    if match is None or match["verb"] in ("was", "does") or match["who"] in _WORDS["not_first"][:3]:
        return None
    verb = match["verb"]
    base = TABLE["irregular"].get(verb) or (verb[:-3] + "y" if verb.endswith("ies") else verb[:-1])
    return f"{match['who']} {rng.choice(_WORDS['stages']).format(base, verb)}{match['rest']}"


def _hedged(text: str, rng: random.Random) -> str | None:
    """Something stated becomes something suspected, suggested or wished for."""
    if not text.startswith(("User ", "The user ", "The ")) or "\n" in text or text.count(". "):
        return None
    body = text.rstrip(".")
    return rng.choice(_WORDS["hedges"]).format(body[0].lower() + body[1:], body) + "."


def _limited(text: str, rng: random.Random) -> str | None:
    """What holds becomes what holds rarely."""
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
    """The sentences of a memory in another order, where none leans on the one before it."""
    parts = re.split(r"(?<=[a-z0-9)][.!]) (?=[A-Z])", re.sub(r"\b(Dr|Mr|Mrs|Ms|St)\. ", r"\1 ", text))
    if len(parts) < 2 or any(part.split()[0] in _WORDS["not_first"] for part in parts):
        return None
    order = parts[:]
    rng.shuffle(order)
    return None if order == parts else " ".join(part if part[-1] in ".!?" else part + "." for part in order)


def _retouched(text: str, rng: random.Random) -> str | None:
    """One to three trifles: article, bullet, frame, filler, sign for a word, case, end, quotes, emoji."""
    result = text
    for trifle in rng.sample(_TRIFLES, rng.randrange(1, 4)):
        result = KEEPING[trifle](result, rng) or result
    return None if result == text else result


_TRIFLES = tuple(name for name in KEEPING if name not in ("typo", "order of a list", "said twice"))
EXCHANGES: tuple[Edit, ...] = (
    _exchanged("name"), _exchanged("number"), _exchanged("phrase", 2),
    _exchanged("sides", "b", but=_WORDS["weak"]), _other_number, CHANGING["weekday"],
)  # fmt: skip
STAGES: tuple[Edit, ...] = (_staged, _hedged, _limited)
ORDERS: tuple[Edit, ...] = (KEEPING["order of a list"], _reordered_items, _fronted, _reordered_sentences)
TRIFLES: tuple[Edit, ...] = (KEEPING["typo"], _retouched)


def edited_pairs(
    groups: Sequence[Sequence[str]], *, seed: int, changing: int, keeping: int
) -> Iterator[Example]:
    """Pairs of a text and its edit, out of groups of texts that state one fact each.

    Half of the changed texts are compared with another wording of the same fact, so that a changed binding
    is seen through a paraphrase, too. At most `changing` examples are drawn of exchanges, half as many of
    stages, and at most `keeping` of other orders and of trifles.
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
            a, b = (other, new) if rng.random() < 0.5 else (new, other)
            same = ENTAILS if other == text else NOT_CONTRADICTED
            targets = (same, SAME) if edits in (ORDERS, TRIFLES) else TOLD["other"]
            yield Example(a, b, *targets)


def set_examples(sets: Sequence[ExchangeSet]) -> Iterator[Example]:
    """Both orders of the six pairs of each set: three of duplicates, three bound otherwise."""
    for one in sets:
        for pair in exchange_pairs(one):
            if pair.label == DUPLICATE:
                yield from both_orders(pair.a, pair.b, "equal")
            else:
                yield Example(pair.a, pair.b, *TOLD[one[2]])
                yield Example(pair.b, pair.a, *TOLD[one[2]])
