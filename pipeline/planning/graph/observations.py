"""What becomes of observations: united in a merge, folded where they stand twice, asked about."""

from __future__ import annotations

from collections.abc import Sequence

from ....models.bindings import relation
from ....models.guards import missing
from ....models.merger import ENTAILED
from ....models.same_statement import statement_key
from ....models.text.words import significant_words
from ....records import Memory
from ...actions import Member, Merge
from ...judging.statements import Finding
from ...stores.graph.entities import MERGED_MARK, Node, combined, words_of
from .judging import GraphModels

SHARED = 0.6
"""Share of the words of the shorter of two observations that both say, from which they are judged."""


def united(members: Sequence[Node], models: GraphModels) -> tuple[Node, tuple[str, ...]]:
    """Who survives a merge, and with which observations: all of them, but what another one says.

    The name that says more stays: more words that mean something, none of them twice, then longer.
    """

    def rank(node: Node) -> tuple[int, int, int, int, str]:
        """The more descriptive name first."""
        words = words_of(node.id).casefold().split()
        repeated = len(words) - len(set(words))
        return (
            repeated,
            -len(significant_words(words_of(node.id))),
            -len(node.id),
            -len(node.content),
            node.id,
        )

    survivor, *others = sorted(members, key=rank)
    others.sort(key=lambda node: node.id)
    kept = list(dict.fromkeys(survivor.content))
    for node in others:
        kept = _joined(kept, node, models)
    if missing([" ".join(node.content) for node in members], " ".join(kept)):
        every: dict[str, str] = {}
        for text in (text for node in (survivor, *others) for text in node.content):
            every.setdefault(statement_key(text), text)
        kept = list(every.values())
    used = combined([survivor.observations, *(node.observations for node in others)])
    mark = f"{MERGED_MARK}{', '.join(node.id for node in others)} on {models.now.date().isoformat()}"
    # What the survivor said stays in its place: a running server can only append.
    staying = dict.fromkeys(text for text in survivor.observations if text in kept or text in used)
    return survivor, tuple(dict.fromkeys((*staying, *kept, *used, mark)))


def once(node: Node) -> list[str]:
    """All observations, but what an entity says twice only the first time.

    A bullet in front and articles change nothing of what is said.
    """
    seen: set[str] = set()
    kept: list[str] = []
    for text in node.observations:
        key = statement_key(text) if text in node.content else ""
        if not key or key not in seen:
            kept.append(text)
        seen.add(key)
    return kept


def question(found: Finding) -> Merge | None:
    """Whether one observation may go because another one says all that it says; None if neither does.

    A detail is lost only where the guards found that the two differ in one of its kind.
    """
    verdict, (a, b) = found.verdict, sorted((found.a.memory, found.b.memory), key=lambda part: part.id)
    forth, back = verdict.entailment
    # An item or a name that one text adds outweighs what a network reads into the other.
    mine, theirs = (
        (sum(unit.detail or unit.item > 0 for unit in units), len(units))
        for units in relation(a.text, b.text).unsaid
    )
    order = [a, b] if (mine, forth, len(a.text), b.id) >= (theirs, back, len(b.text), a.id) else [b, a]
    differing = {item.kind for item in verdict.evidence}
    stays = next(
        (
            one
            for one, other in (order, order[::-1])
            if all(item.kind not in differing for item in missing([other.text], one.text))
        ),
        None,
    )
    if stays is None:
        return None
    return Merge(
        id="",
        scope=a.scope,
        category=a.category,
        members=(Member.of(a), Member.of(b)),
        survivor=stays.id,
        text=stays.text,
        verdicts=(verdict,),
    )


def _joined(kept: Sequence[str], node: Node, models: GraphModels) -> list[str]:
    """What is kept already, with the observations of one more entity that add something."""
    known = {statement_key(text) for text in kept}
    new = [text for text in dict.fromkeys(node.content) if statement_key(text) not in known]
    ids = {f"k{i}": text for i, text in enumerate(kept)} | {f"n{j}": text for j, text in enumerate(new)}
    words = {name: significant_words(text) for name, text in ids.items()}
    pairs = [
        (old, other)
        for old in ids
        for other in ids
        if old[0] == "k" and other[0] == "n"
        and words[old] and words[other]
        and len(words[old] & words[other]) >= SHARED * min(len(words[old]), len(words[other]))
    ]  # fmt: skip
    memories = {name: Memory(name, text, node.memory.scope) for name, text in ids.items()}
    same = [verdict for verdict in models.side_by_side(memories, pairs) if verdict.auto]
    said = {verdict.pair.b for verdict in same if verdict.entailment[0] >= ENTAILED}
    said |= {v.pair.a for v in same if v.pair.b not in said and v.entailment[1] >= ENTAILED}
    return [text for name, text in ids.items() if name not in said]
