"""Training examples of the bundled scorer: general NLI pairs, contrast sets, worlds and stories of ours.

A story is a handful of facts about one invented person, each in several wordings, some of them overtaken by
a later state, as several memory writers would have kept them: in sentences, joined clauses or fragments.
"""

import csv
import gzip
import json
import random
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluate.labelled import World, block_pairs

Allowed = tuple[int, int, int]  # which answers a label allows; all three cost nothing

DUPLICATE, CONTRADICTION, DISTINCT = ((1, 0, 0), (0, 1, 0), (0, 0, 1))  # what the memory head says
LETTERS = {"s": "equal", "c": "contradiction", "d": "apart"}  # relations of restatements in their file
OF_EXCHANGES = tuple(LETTERS.values())
_OF_BLOCKS = ("detail", "contradiction", "distinct")
COMPOSED_PER_SET, COMPOSED_PER_WORLD = 6, 40
HARD_NEGATIVES, EASY_NEGATIVES = 1.2, 0.3  # pairs of two facts, alike or not, per labelled pair of a block
PAIRS_PER_STORY, MOST_FACTS = 80, 4
_PRONOUNS = {"he": ("his", "him", "himself"), "she": ("her", "her", "herself")}
_BEFORE_OBJECTS = "about|by|for|from|of|to|with"
DATA = Path(__file__).parents[1] / "data"
TABLE = tomllib.loads((DATA / "training.toml").read_text(encoding="utf-8"))
RELATIONS = {name: [tuple(one) for one in answers] for name, answers in TABLE["relations"].items()}


class Example(NamedTuple):
    """One ordered pair with the answers its label allows; `weight` scales its loss."""

    a: str
    b: str
    entailment: Allowed
    memory: Allowed = (1, 1, 1)
    weight: float = 1.0


class ContrastSet(NamedTuple):
    """Wordings of one fact, facts that contradict it, facts beside it."""

    same: tuple[str, ...]
    contra: tuple[str, ...]
    distinct: tuple[str, ...]
    told: tuple[str, ...]  # how each wording stands to each later one
    category: str = ""


def both_orders(a: str, b: str, relation: str) -> tuple[Example, Example]:
    """The pair and its mirror image with the targets of both heads."""
    memory, forward, backward = RELATIONS[relation]
    return Example(a, b, forward, memory), Example(b, a, backward, memory)


def either_order(a: str, b: str, relation: str, rng: random.Random) -> Example:
    """The pair in an order that is drawn."""
    return both_orders(a, b, relation)[rng.random() >= 0.5]


def read_nli(path: Path, *, seed: int) -> list[Example]:
    """General NLI pairs of a gzip TSV, each source sampled down to its limit, shuffled by `seed`."""
    rng = random.Random(seed)  # noqa: S311
    by_source: defaultdict[str, list[Example]] = defaultdict(list)
    allowed = {label: tuple(answers) for label, answers in TABLE["nli"].items()}
    memory = {label: tuple(answers) for label, answers in TABLE["nli_as_memories"].items()}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            by_source[row["source"]].append(
                Example(row["a"], row["b"], allowed[label := row["label"]], memory[label])
            )
    chosen: list[Example] = []
    for source, pool in sorted(by_source.items()):
        rng.shuffle(pool)
        chosen += pool[: TABLE["limits"].get(source, len(pool))]
    rng.shuffle(chosen)
    return chosen


def _rows(path: Path) -> Iterator[dict[str, str]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def read_short(path: Path) -> list[ContrastSet]:
    """The short contrast sets of a JSON Lines file."""
    sets = []
    for row in _rows(path):
        anchor, *others = same = (row["anchor"], row["dup"], row["dup2"])
        kinds = zip(others, (row["dup_kind"], row["dup2_kind"]), strict=True)
        more = [len(other) > len(anchor) if kind == "subsumed" else None for other, kind in kinds]
        told = ["equal" if longer is None else f"{'ab'[longer]}_has_more" for longer in more]
        told.append("equal" if more == [None, None] else "detail")
        contra, distinct = (row["contra"], row["contra2"]), (row["distinct"], row["distinct2"])
        sets.append(ContrastSet(same, contra, distinct, tuple(told), row["category"]))
    return sets


def read_minimal(path: Path) -> list[ContrastSet]:
    """Lines `fact | same fact | opposed fact | distinct fact` of a text file, all near-identical."""
    lines = path.read_text(encoding="utf-8").splitlines()
    parts = ([part.strip() for part in line.split("|")] for line in lines)
    return [ContrastSet((fact, same), (c,), (d,), ("equal",)) for fact, same, c, d in parts]


def set_pairs(sets: Iterable[ContrastSet]) -> Iterator[Example]:
    """The certain pairs of each set, in both orders."""
    for group in sets:
        for (a, b), relation in zip(combinations(group.same, 2), group.told, strict=True):
            yield from both_orders(a, b, relation)
        for text in group.same:
            for other in group.contra:
                yield from both_orders(text, other, "contradiction")
            for other in group.distinct:
                yield from both_orders(text, other, "distinct")


def compound_pairs(path: Path) -> Iterator[Example]:
    """The certain pairs of each compound set of a JSON Lines file."""
    for row in _rows(path):
        for left, right, relation in TABLE["compound"]:
            yield from both_orders(row[left], row[right], relation)


def composed_pairs(sets: Sequence[ContrastSet], *, seed: int) -> Iterator[Example]:
    """Compound memories joined from facts of one category, `COMPOSED_PER_SET` pairs per set."""
    rng = random.Random(seed)  # noqa: S311
    for group in sets:
        others = [mate for mate in sets if mate is not group]
        mates = [mate for mate in others if mate.category == group.category]
        for _ in range(COMPOSED_PER_SET):
            two = [mate.same for mate in rng.sample(mates if len(mates) > 1 else others, 2)]
            yield from compose(group.same, group.contra, group.distinct, others=two, rng=rng)


def compose(
    same: Sequence[str], contra: Sequence[str], beside: Sequence[str],
    *, others: Sequence[Sequence[str]], rng: random.Random,
) -> tuple[Example, Example]:  # fmt: skip
    """Two compound memories of three facts in both orders; only relations that the facts make certain.

    The fact that decides (`same`) and two `others` have two wordings at least; `contra` contradicts it. Both
    sides take one to three facts in any label, so that length says nothing.
    """
    left, right = others
    (first, second), (left_one, left_two) = rng.sample(same, 2), rng.sample(left, 2)
    right_one, near = rng.choice(right), rng.sample(beside, len(beside))
    more = rng.choice([[left_one], near[1:2] or [left_one], [left_one, *near[1:2]]])
    recipes = [
        ([first, *more], [second], "a_has_more"),
        ([first, left_one, right_one], [second, left_two], "a_has_more"),
        ([first, left_one], [left_two, second], "detail"),
        ([first, left_one], [second, right_one], "distinct"),
        ([first, left_one], [right_one], "distinct"),
    ]
    for other in rng.sample(contra, min(1, len(contra))):
        recipes += [
            ([first, *more], [other], "contradiction"),
            ([first, left_one], [left_two, other], "contradiction"),
            ([first, left_one], [other, right_one], "contradiction"),
        ]
    for other in near[:1]:
        recipes += [([first, *more], [other], "distinct"), ([first, left_one], [left_two, other], "distinct")]
    a, b, relation = rng.choice(recipes)
    return both_orders(join(a, rng), join(b, rng), relation)


def join(facts: Sequence[str], rng: random.Random) -> str:
    """One memory out of several facts in a random order and sentence shape."""
    order = list(facts)
    rng.shuffle(order)
    if len(order) == 1:
        return order[0]
    first, *rest = bare = [fact.rstrip(".") for fact in order]
    capital = tuple(TABLE["lowered"])
    lowered = [fact[0].lower() + fact[1:] if fact.startswith(capital) else fact for fact in rest]
    ended = (fact if fact.endswith((".", "!", "?")) else fact + "." for fact in order)
    listed = "\n".join(f"- {fact}" for fact in order)
    shapes = "; ".join(bare) + ".", ", and ".join([first, *lowered]) + ".", listed, " ".join(ended)
    return shapes[rng.randrange(4)]


def world_examples(
    worlds: Sequence[World], encode: Callable[[list[str]], NDArray[np.float32]], *, seed: int
) -> list[Example]:
    """Training pairs of the worlds: of blocks, of the nearest and a few drawn others, and compound memories.

    `encode` gives float32 [n, d] unit rows.
    """
    examples: list[Example] = []
    for number, world in enumerate(worlds):
        rng = random.Random(seed * 100_003 + number)  # noqa: S311
        inside = list(block_pairs(world))
        for pair in inside:
            if pair.a != pair.b:
                examples += both_orders(pair.a, pair.b, _OF_BLOCKS[pair.label])
        vectors = encode(texts := [line.judged for line in world.lines])
        cosine = vectors @ vectors.T
        every = combinations(range(len(texts)), 2)
        across = [(i, j) for i, j in every if world.lines[i].block != world.lines[j].block]
        across.sort(key=lambda pair: -float(cosine[pair]))
        hard = round(len(inside) * HARD_NEGATIVES)
        easy = min(len(across[hard:]), round(len(inside) * EASY_NEGATIVES))
        for i, j in across[:hard] + rng.sample(across[hard:], easy):
            examples.append(both_orders(texts[i], texts[j], "distinct")[rng.randrange(2)])
        blocks = defaultdict[int, tuple[list[str], ...]](lambda: ([], [], []))
        for line in world.lines:
            blocks[line.block][{"!": 1, "~": 2}.get(line.role, 0)].append(line.judged)
        told = [block for block in blocks.values() if len(block[0]) > 1]
        for _ in range(COMPOSED_PER_WORLD if len(told) >= 3 else 0):
            fact, left, right = rng.sample(told, 3)
            examples.append(compose(*fact, others=(left[0], right[0]), rng=rng)[rng.randrange(2)])
    return examples


def wordings(worlds: Sequence[World]) -> list[list[str]]:
    """The wordings of each fact of the worlds."""
    told = ([line for line in world.lines if line.role in "-="] for world in worlds)
    facts = (fact for lines in told for _, fact in groupby(lines, lambda line: line.block))
    return [[line.judged for line in fact] for fact in facts]


class Story(NamedTuple):
    """A person with facts: wordings, the last a fragment without subject, and those of a later state."""

    name: str
    pronoun: str  # he or she
    facts: list[list[tuple[str, ...]]]


def read_stories(path: Path) -> list[Story]:
    """Stories: `# name | pronoun`, `- wording | wording | fragment`, `> later | fragment`; or ValueError."""
    stories: list[Story] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        parts = tuple(part.strip() for part in line[1:].split("|"))
        if line.startswith("#"):
            stories.append(Story(parts[0], parts[1], []))
        elif line.startswith("-"):
            stories[-1].facts.append([parts])
        elif line.startswith(">"):
            stories[-1].facts[-1].append(parts)
        elif line.strip():
            raise ValueError(f"not a story line: {line!r}")
    return stories


def story_pairs(stories: Sequence[Story], *, seed: int) -> Iterator[Example]:
    """`PAIRS_PER_STORY` pairs of each story, both orders."""
    rng = random.Random(seed)  # noqa: S311
    for story in (story for story in stories for _ in range(PAIRS_PER_STORY)):
        yield from both_orders(*_draw(story, rng))


def _draw(story: Story, rng: random.Random) -> tuple[str, str, str]:
    later = [rng.random() < 0.4 and len(fact) > 1 for fact in story.facts]
    relation = rng.choice(("part", "part", "equal", "overlap", "overlap", "apart", "contradiction"))
    rng.shuffle(indices := list(range(len(story.facts))))
    before, after, told = list(later), list(later), "distinct"
    if relation == "contradiction":
        changed = rng.choice([i for i, fact in enumerate(story.facts) if len(fact) > 1])
        rest = [i for i in indices if i != changed]
        left, right = rng.randint(0, 2), rng.randint(0, 2)
        start = rng.choice((0, left))
        before[changed], after[changed] = False, True
        a, b, told = [changed, *rest[:left]], [changed, *rest[start : start + right]], "contradiction"
    elif relation == "equal":
        a, told = indices[: rng.randint(1, 3)], "equal"
        b = a
    elif relation == "part":
        size = rng.randint(2, MOST_FACTS)
        a, b, told = indices[:size], indices[: rng.randint(1, size - 1)], "a_has_more"
    else:
        shared = rng.randint(1, 2) if relation == "overlap" else 0
        left, right = rng.randint(1, 2), rng.randint(1, 2)
        a = indices[: shared + left]
        b = [*indices[:shared], *indices[shared + left : shared + left + right]]
    return render(story, a, before, rng), render(story, b, after, rng), told


def render(story: Story, facts: Sequence[int], later: Sequence[bool], rng: random.Random) -> str:
    """One memory that states the given facts, in the manner of a randomly drawn writer."""
    order = list(facts)
    rng.shuffle(order)
    states = [story.facts[i][later[i]] for i in order]
    if rng.random() < (0.45 if len(order) == 1 else 0.12):
        return rng.choice((". ", "; ", ", ")).join(state[-1] for state in states)
    subject = rng.choice((story.name, story.name, "User", "User", "The user"))
    clauses = [rng.choice(state[:-1]) for state in states]
    text = " ".join(_sentences(clauses, subject, story.pronoun, rng))
    return f"{text} (importance: high)" if rng.random() < 0.04 else text


def _sentences(clauses: Sequence[str], subject: str, pronoun: str, rng: random.Random) -> Iterator[str]:
    at = 0
    while at < len(clauses):
        clause = clauses[at]
        opens = clause.startswith("@")
        named = pronoun if opens and at > 0 and rng.random() < 0.7 else subject
        if not opens and named == "The user":
            named = "the user"
        if at + 1 < len(clauses) and rng.random() < 0.45:
            following = clauses[at + 1]
            same = clause.startswith("@ ") and following.startswith("@ ")
            clause += " and " + (following[2:] if same else following.replace("@", "\0"))
            at += 1
        at += 1
        text = _name(_name(clause, named, pronoun, "@"), pronoun, pronoun, "\0")
        yield text[0].upper() + text[1:] + "."


def _name(text: str, subject: str, pronoun: str, mark: str) -> str:
    own, objective, reflexive = _PRONOUNS[pronoun]
    possessive = own if subject == pronoun else f"{subject}'s"
    if subject == pronoun:
        at = re.escape(mark)
        text = re.sub(rf"\b({_BEFORE_OBJECTS}) {at}(?!['\w])", rf"\1 {objective}", text)
        text = re.sub(rf"(?<!says)(?<!,) {at}$", f" {objective}", text)
    text = text.replace(f"{mark}'s", possessive).replace(mark, subject)
    return text.replace("%s", own).replace("%o", objective).replace("%r", reflexive)
