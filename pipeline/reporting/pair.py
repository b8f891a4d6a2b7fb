"""Two memories, how they are judged and why (`why`); a text, and what it is to the memories (`check`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...models.bindings import relation
from ...models.facts.frames import JUDGED, KINDS
from ...models.guards import WHOLE
from ...records import Evidence, Label, Memory, Verdict
from ..judging.check import Checked, Finding
from ..judging.judge import left_to_person
from .text import day, excerpts, one_line, spoken_ids, visible, whole

SHOWN_WORDS = 4  # of a text that only it says
DETAIL_WIDTH = 200  # characters of a detail that are shown at most


def pair_lines(
    kind: str, a: Memory, b: Memory, verdict: Verdict | None, answered: Sequence[str]
) -> list[str]:
    """Two memories, how they are judged and why, whether or not anything is proposed about them."""
    short = spoken_ids([a.id, b.id], kind)
    lines: list[str] = []
    for side, memory, text in zip("AB", (a, b), excerpts(a.text, b.text), strict=True):
        pinned = ", pinned: never touched" if memory.pinned else ""
        lines.append(visible(f"{side}: [{kind}:{short[memory.id]}] {day(memory.stated_at)}{pinned}"))
        lines.append(text.behind("    "))
    return [*lines, *_verdict_lines(a, b, verdict), *(f"Answered {answer}" for answer in answered)]


def _verdict_lines(a: Memory, b: Memory, verdict: Verdict | None) -> list[str]:
    if a.id == b.id:
        return ["This is one memory."]
    if a.scope != b.scope:
        return [visible(f"Never compared: A is of {a.scope}, B of {b.scope}.")]
    if verdict is None:
        return ["Not compared."]
    told = {
        Label.DUPLICATE: "The same fact; a pass merges them by itself."
        if verdict.auto
        else "Likely the same fact; only a person may merge them.",
        Label.CONTRADICTION: "A contradiction; a person chooses.",
        Label.DISTINCT: "Different facts; both stay.",
        Label.UNSURE: "Unsure; only a person can decide.",
    }[verdict.label]
    apart = a.category != b.category
    other = [visible(f"They are of different categories: {a.category}, {b.category}.")] if apart else []
    turned = verdict.pair.a == b.id
    said = reasons(verdict, (b.text, a.text) if turned else (a.text, b.text), flipped=turned)
    return [told, *other, *([said] if said else []), scores(verdict)]


def reasons(
    verdict: Verdict, texts: tuple[str, str], *, flipped: bool = False, names: Sequence[str] = "AB"
) -> str:
    """The evidence of a verdict in words; where none keeps a pair from merging, what does."""
    said = [*verdict.evidence]
    apart = verdict.label is Label.DISTINCT
    against = verdict.label is Label.CONTRADICTION
    if against and not said:
        return "The same words bound otherwise, which turns what they say round."
    if (said if apart else verdict.auto or against) or left_to_person(said, verdict.entailment):
        return spoken(said, flipped=flipped, names=names)
    unsaid = relation(*texts).unsaid
    told = {word for item in said for word in _words(item)}
    rest = [[unit.text for unit in units if unit.text.casefold() not in told] for units in unsaid]
    words = (", ".join(each[:SHOWN_WORDS]) or "-" for each in rest)
    said += [Evidence("unsaid", " / ".join(words))] if any(rest) else []
    duplicate, contradiction, _ = verdict.probabilities
    if apart:
        return spoken(said, flipped=flipped, names=names)
    what = "that they contradict each other" if contradiction > duplicate else "that they say the same"
    sure = (
        f"Nothing else speaks against it, but it is only {max(duplicate, contradiction):.0%} likely {what}."
    )
    return " ".join(filter(None, (spoken(said, flipped=flipped, names=names), sure)))


def scores(verdict: Verdict) -> str:
    """What the scorer says of a pair, in numbers."""
    duplicate, contradiction, distinct = verdict.probabilities
    forward, backward = verdict.entailment
    return (
        f"{verdict.label}; duplicate {duplicate:.2f}, contradiction {contradiction:.2f}, "
        f"distinct {distinct:.2f}; entails {forward:.2f} -> / {backward:.2f} <-; "
        f"cosine {verdict.pair.cosine:.2f}"
    )


def check_json(found: Checked, show: Callable[[str], str]) -> dict[str, Any]:
    """What a text is to the memories, each with its evidence, for a program."""
    matches = []
    for match in found.matches:
        part = [visible(f'This part: "{one_line(match.part)}".')] if match.part else []
        texts = match.said or match.memory.text, match.part or found.text
        said = reasons(match.verdict, texts, flipped=True, names=("the text", "the memory"))
        told = {
            "finding": str(match.finding),
            "sure": match.sure,
            "id": match.memory.id,
            "scope": dict(match.memory.scope.ids),
            "text": show(match.memory.text),
            "said": show(match.said),
            "evidence": [*part, *([said] if said else [])],
        }
        matches.append(told)
    return {"text": found.text, "finding": str(found.finding), "matches": matches}


def check_lines(found: Mapping[str, Any], kind: str, *, named: bool) -> list[str]:
    """The same for a person."""
    short = spoken_ids((match["id"] for match in found["matches"]), kind)
    lines = [] if found["finding"] != Finding.NEW else ["new"]
    for match in found["matches"]:
        told = match["finding"] if match["sure"] else f"perhaps {match['finding']}"
        text = whole(match["said"] or match["text"])
        lines.append(visible(f"{told} [{kind}:{short[match['id']]}] {text}"))
        lines += [f"    {said}" for said in match["evidence"]]
    head = visible(f'"{one_line(found["text"])}"')
    return lines if not named else [head, *(f"  {line}" for line in lines)]


def spoken(evidence: Iterable[Evidence], *, flipped: bool = False, names: Sequence[str] = "AB") -> str:
    """All reasons as sentences on one line, two values once; nothing if there are none.

    A detail names the first text's value before the second's; `flipped` if the first text is shown as B.

    >>> spoken([Evidence("quantifier", "every / -"), Evidence("number", "20 mg / 40 mg", veto=True)])
    'Only A says *every*. A says *20 mg*, B says *40 mg*.'
    >>> spoken([Evidence("number", "20 / 40", veto=True), Evidence("unsaid", "20 / 40")])
    'A says *20*, B says *40*.'
    >>> spoken([Evidence("number", "2 m / 4 m"), Evidence("rival", "size: 2 m / 4 m")])
    'Two values of one size: A says *2 m*, B says *4 m*.'
    """
    return visible(" ".join(_sentence(item, *names, flipped=flipped) for item in told_once(evidence)))


def told_once(evidence: Iterable[Evidence]) -> list[Evidence]:
    """The reasons without those of which another one says all."""
    items = tuple(evidence)
    rivals = {item.detail.rpartition(": ")[2] for item in items if item.kind == "rival"}
    told = {word for item in items if item.kind != "unsaid" for word in _words(item)}
    swapped = any(item.kind in ("swap", "order") and item.veto for item in items)
    return [
        item
        for item in items
        if not (swapped and item.kind in ("binding", "place"))
        if not any(_within(item, other) for other in items)
        if not (told.issuperset(_words(item)) if item.kind == "unsaid" else item.detail in rivals)
    ]


def _within(item: Evidence, other: Evidence) -> bool:
    """Whether only one text says both, and the other detail holds this one: two times, two times weekly."""
    mine, theirs = (each.detail.casefold().split(" / ") for each in (item, other))
    if item.veto or len(mine) != 2 or len(theirs) != 2 or "-" not in mine:
        return False
    if mine == theirs:
        return other.veto
    return all(x == y if "-" in (x, y) else f" {x} " in f" {y} " for x, y in zip(mine, theirs, strict=True))


def _words(item: Evidence) -> list[str]:
    return item.detail.casefold().replace(",", " ").split()


def _sentence(item: Evidence, first: str, second: str, *, flipped: bool) -> str:
    detail = item.detail if len(item.detail) <= DETAIL_WIDTH else item.detail[: DETAIL_WIDTH - 1] + "…"
    if item.kind in WHOLE:
        return f"{detail[:1].upper()}{detail[1:]}."
    kind = (KINDS | JUDGED).get(item.kind)
    begin = kind.said if kind else ""
    if item.kind == "binding":  # without the names of the places
        words = (word for part in detail.split("; ") for word in part.rpartition(": ")[2].split(", "))
        detail = ", ".join(dict.fromkeys(words))
    if detail.count(" / ") != 1:
        return f"{begin or item.kind.replace('-', ' ').capitalize()}: {detail}."
    thing, colon, values = detail.rpartition(": ") if item.kind == "rival" else ("", "", detail)
    a, b = values.split(" / ")
    a, b = (b, a) if flipped else (a, b)
    if a == "-" or b == "-":
        said = f"only {second if a == '-' else first} says *{b if a == '-' else a}*"
    else:
        said = f"{first} says *{a}*, {second} says *{b}*"
    if colon:
        begin = f"Two values of one {thing}"
    return f"{begin}: {said}." if begin else f"{said[:1].upper()}{said[1:]}."
