"""Training pairs made by program: edits that bind the same words otherwise, and edits that change nothing.

A network that sees only whole paraphrases learns that many shared words mean one fact. Here two texts share
nearly all words, and only the place of a name, a number, a stage or a trifle decides. An edit returns None
where it does not apply. What an exchange gives is never a duplicate; whether it contradicts is left open.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from ..evaluate.labelled import exchange_pairs
from ..evaluate.metamorphic import CHANGING, KEEPING, Edit
from ..evaluate.worlds import DUPLICATE, ExchangeSet
from .examples import DUPLICATE as SAME
from .examples import ENTAILS, NOT_CONTRADICTED, TOLD, Example, both_orders

_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][a-zà-ÿ]{2,}(?: [A-Z][a-zà-ÿ]{2,})*\b")
_NUMBER = re.compile(r"(?<![\w.,:/-])\d+(?![\w.,:/-]*\d)")
_PHRASE = re.compile(r"\b(the|a|an|his|her|their|my|its|our) ([a-z]{3,}(?: [a-z]{4,})?)(?=[ ,.;]|$)")
_SIDES = re.compile(
    r"\b(?:from|over|before|after|than|for|to|with|in|on|by|instead of|rather than) (?P<b>[\w'’-]+)"
)
_JOINED = re.compile(r"^(?:,| and| or|, and|,? &)\s*(?:the|a|an|his|her|their|my)?\s*$")
_ITEMS = re.compile(r"\b[A-Z]\w+(?:, [A-Z]\w+)+,? (?:and|or) [A-Z]\w+(?=[.,;:]|$| [a-z])")
_TAIL = re.compile(
    r"^(?P<head>[A-Z][^,;:]*?) (?P<tail>(?:(?:in|on|since|until|at|by) (?:[A-Z]\w+ )?[A-Z0-9][\w:]*"
    r"(?: 20\d\d)?|every [a-z]+|each [a-z]+))\.?$"
)
_VERB = re.compile(
    r"^(?P<who>User|The user|He|She|The team|Team|[A-Z][a-z]+) (?P<verb>[a-z]{2,}s)(?P<rest> .+)$"
)
_IRREGULAR = {"is": "be", "has": "have", "does": "do", "goes": "go", "was": "", "uses": "use"}
_STAGES = (
    "wants to {0}", "plans to {0}", "is thinking about whether to {0}", "used to {0}", "would like to {0}",
    "is about to {0}", "was asked to {0}", "is allowed to {0}", "tried to {0}", "hopes to {0}",
    "no longer {1}", "may {0}", "decided not to {0}", "stopped trying to {0}",
)  # fmt: skip
_HEDGES = (
    "Maybe {0}", "Possibly {0}", "It is suspected that {0}", "Somebody claims that {0}",
    "User wonders whether {0}", "It was suggested that {0}", "It is not certain that {0}",
    "User is afraid that {0}", "{1}, or so a friend believes", "{1}, if the budget allows",
)  # fmt: skip
_AMOUNTS = ("sometimes", "rarely", "hardly ever", "only on holidays", "occasionally")
_WEAK = frozenset(
    ("a", "an", "the", "his", "her", "their", "my", "its", "our", "this", "that", "up", "all", "each",
     "every", "any", "which", "what", "who", "them", "him", "it")
)  # fmt: skip
_WHO = ("User", "The user", "He", "She")
_PROPER = re.compile(r"[A-Z][a-z]+ (?:is|has)\b|[A-Z]{2}|I\b|User\b")
_NOT_FIRST = ("It", "This", "That", "They", "He", "She", "There", "These", "Then", "But", "And", "Also")


def _exchanged(pattern: re.Pattern[str], part: int | str = 0, *, but: frozenset[str] = frozenset()) -> Edit:
    """Two matches in each other's place, or a part of each."""

    def edit(text: str, rng: random.Random) -> str | None:
        found = (match for match in pattern.finditer(text) if match[part].lower() not in but)
        return _exchange(text, [match.span(part) for match in found], rng)

    return edit


def _exchange(text: str, spans: list[tuple[int, int]], rng: random.Random) -> str | None:
    pairs = [
        (one, other)
        for at, one in enumerate(spans)
        for other in spans[at + 1 :]
        if text[slice(*one)].lower() != text[slice(*other)].lower()
        and one[1] <= other[0]
        and not _JOINED.match(text[one[1] : other[0]])
    ]
    if not pairs:
        return None
    (a, b), (c, d) = rng.choice(pairs)
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def _other_number(text: str, rng: random.Random) -> str | None:
    found = list(_NUMBER.finditer(text))
    if not found:
        return None
    one = rng.choice(found)
    value = int(one[0])
    other = rng.choice([value + 1, max(1, value - 1), value * 2, value * 10, value + rng.randrange(2, 9)])
    return None if other == value else f"{text[: one.start()]}{other}{text[one.end() :]}"


def _staged(text: str, rng: random.Random) -> str | None:
    """Something done becomes something wanted, allowed, tried or over."""
    match = _VERB.match(text)
    if match is None or match["verb"] in ("was", "does") or match["who"] in _NOT_FIRST[:3]:
        return None
    verb = match["verb"]
    base = _IRREGULAR.get(verb) or (verb[:-3] + "y" if verb.endswith("ies") else verb[:-1])
    stage = rng.choice(_STAGES).format(base, verb)
    return f"{match['who']} {stage}{match['rest']}"


def _hedged(text: str, rng: random.Random) -> str | None:
    """Something stated becomes something suspected, suggested or wished for."""
    if not text.startswith(("User ", "The user ", "The ")) or "\n" in text or text.count(". "):
        return None
    body = text.rstrip(".")
    return rng.choice(_HEDGES).format(body[0].lower() + body[1:], body) + "."


def _limited(text: str, rng: random.Random) -> str | None:
    """What holds becomes what holds rarely."""
    match = _VERB.match(text)
    if match is None or match["verb"] in ("is", "was", "has") or match["who"] not in _WHO:
        return None
    return f"{match['who']} {rng.choice(_AMOUNTS)} {match['verb']}{match['rest']}"


def _reordered_items(text: str, rng: random.Random) -> str | None:
    match = _ITEMS.search(text)
    if match is None or "respectively" in text:
        return None
    items = re.split(r",? (?:and|or) |, ", match[0])
    order = rng.sample(items, len(items))
    word = " or " if " or " in match[0] else " and "
    return f"{text[: match.start()]}{', '.join(order[:-1])}{word}{order[-1]}{text[match.end() :]}"


def _fronted(text: str, _rng: random.Random) -> str | None:
    match = _TAIL.match(text)
    if match is None or any(word in text for word in (" and ", " but ", ": ", "; ")):
        return None
    head = match["head"]
    lowered = head if _PROPER.match(head) else head[0].lower() + head[1:]
    return f"{match['tail'][0].upper()}{match['tail'][1:]}, {lowered}."


def _reordered_sentences(text: str, rng: random.Random) -> str | None:
    """The sentences of a memory in another order, where none leans on the one before it."""
    parts = re.split(r"(?<=[a-z0-9)][.!]) (?=[A-Z])", re.sub(r"\b(Dr|Mr|Mrs|Ms|St)\. ", r"\1 ", text))
    if len(parts) < 2 or any(part.split()[0] in _NOT_FIRST for part in parts):
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
    _exchanged(_NAME), _exchanged(_NUMBER), _exchanged(_PHRASE, 2), _exchanged(_SIDES, "b", but=_WEAK),
    _other_number, CHANGING["weekday"],
)  # fmt: skip
STAGES: tuple[Edit, ...] = (_staged, _hedged, _limited)
ORDERS: tuple[Edit, ...] = (KEEPING["order of a list"], _reordered_items, _fronted, _reordered_sentences)
TRIFLES: tuple[Edit, ...] = (KEEPING["typo"], _retouched)


def edited_pairs(
    groups: Sequence[Sequence[str]], *, seed: int, changing: int, keeping: int
) -> Iterator[Example]:
    """Pairs of a text and its edit, out of groups of texts that state one fact each.

    Half of the changed texts are compared with another wording of the same fact, so that a changed binding
    is seen through a paraphrase, too. At most `changing` and `keeping` examples are drawn of each family.

    Args:
        groups: Wordings of one fact each, at least one.
        seed: Of the draws.
        changing: Most examples of exchanges, and half as many of stages.
        keeping: Most examples of other orders, and as many of trifles.
    """
    rng = random.Random(seed)  # noqa: S311
    families = ((EXCHANGES, changing), (STAGES, changing // 2), (ORDERS, keeping), (TRIFLES, keeping))
    for edits, most in families:
        keeps = edits in (ORDERS, TRIFLES)
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
            yield Example(a, b, same, SAME) if keeps else Example(a, b, *TOLD["other"])


def set_examples(sets: Sequence[ExchangeSet]) -> Iterator[Example]:
    """Both orders of the six pairs of each set: three of duplicates, three bound otherwise."""
    for one in sets:
        for pair in exchange_pairs(one):
            if pair.label == DUPLICATE:
                yield from both_orders(pair.a, pair.b, "equal")
            else:
                yield Example(pair.a, pair.b, *TOLD[one[2]])
                yield Example(pair.b, pair.a, *TOLD[one[2]])
