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
from ..plan import Action, Merge, Prune, Resolve
from ..planning.fates import Fate
from .text import day, excerpts, one_line, spoken_ids, visible, whole

SHOWN_WORDS = 4  # of a text that only it says
DETAIL_WIDTH = 200  # characters of a detail that are shown at most


def pair_lines(kind: str, a: Memory, b: Memory, fate: Fate | None, answered: Sequence[str]) -> list[str]:
    """Two memories, what a pass does about them, how they are judged and why."""
    others = (member.id for action in (fate.ahead if fate else ()) for member in action.members)
    short = spoken_ids([a.id, b.id, *others], kind)
    lines: list[str] = []
    for side, memory, text in zip("AB", (a, b), excerpts(a.text, b.text), strict=True):
        pinned = ", pinned: never touched" if memory.pinned else ""
        lines.append(visible(f"{side}: [{kind}:{short[memory.id]}] {day(memory.stated_at)}{pinned}"))
        lines.append(text.behind("    "))
    names = {name: f"[{kind}:{told}]" for name, told in short.items()} | {a.id: "A", b.id: "B"}
    told = _fate_lines(a, b, fate, names)
    return [*lines, *told, *(f"Answered {answer}" for answer in answered)]


def _fate_lines(a: Memory, b: Memory, fate: Fate | None, names: Mapping[str, str]) -> list[str]:
    if a.id == b.id:
        return ["This is one memory."]
    if a.scope != b.scope:
        return [visible(f"Never compared: A is of {a.scope}, B of {b.scope}.")]
    if fate is None or fate.alone is None:
        return ["Not compared."]
    verdict = fate.here or fate.alone
    turned = verdict.pair.a == b.id
    said = reasons(verdict, (b.text, a.text) if turned else (a.text, b.text), flipped=turned)
    more = [_alone(fate)] if fate.moved else []
    return [visible(_does(a, b, fate, names)), *more, *([said] if said else []), scores(verdict)]


def _does(a: Memory, b: Memory, fate: Fate, names: Mapping[str, str]) -> str:
    """What a pass does or asks about two memories, or why it does not."""
    if isinstance(fate.together, Resolve):
        sure = fate.label is Label.CONTRADICTION
        return "A contradiction; a person chooses." if sure else "Unsure; a pass asks which of the two holds."
    if fate.together is not None:
        return (
            "Likely the same fact; a pass asks, and only a person may merge them."
            if fate.asked
            else f"The same fact; a pass merges them {fate.held or 'by itself'}."
        )
    if a.category != b.category:
        return f"Never compared by a pass: they are of different categories, {a.category} and {b.category}."
    return _left(a, b, fate, names)


def _left(a: Memory, b: Memory, fate: Fate, names: Mapping[str, str]) -> str:
    """Why a pass neither does nor asks anything about two memories of one category."""
    if fate.out:
        pinned = any(each.pinned for each in (a, b) if each.id == fate.out)
        goes = [each for each in fate.ahead if fate.out in each.removes]
        why = _ahead(goes[0], a, b, names) if goes else ""
        why = (
            why or f"{names[fate.out]} is {'pinned' if pinned else 'retired, says nothing, or is no memory'}"
        )
        return f"Not compared by a pass: {why}."
    if fate.label is Label.DISTINCT:
        return "Different facts; both stay."
    what = _WHAT[fate.label, fate.certain]
    if not fate.ahead:
        return f"{what}; nothing is proposed: it was answered before, or no text holds both."
    first = min(fate.ahead, key=lambda action: _FIRST.get(type(action), len(_FIRST)))
    return f"{what}, but {_ahead(first, a, b, names)} first; the next pass looks at what is left."


_WHAT = {
    (Label.DUPLICATE, True): "The same fact",
    (Label.DUPLICATE, False): "Likely the same fact",
    (Label.CONTRADICTION, False): "A contradiction",
    (Label.UNSURE, False): "Unsure",
}
_FIRST: dict[type, int] = {Prune: 0, Merge: 1, Resolve: 2}


def _ahead(action: Action, a: Memory, b: Memory, names: Mapping[str, str]) -> str:
    one = next(each.id for each in (a, b) if each.id in {member.id for member in action.members})
    rest = [names[member.id] for member in action.members if member.id != one]
    match action:
        case Prune():
            return f"{names[one]} is proposed to go ({action.reason})"
        case Merge() if one in action.removes:
            into = names[action.survivor] if action.survivor else "one text with " + " and ".join(rest)
            return f"{names[one]} goes into {into}"
        case Merge():
            return f"{names[one]} takes in {' and '.join(rest)}"
        case Resolve():
            return f"it is asked whether {names[one]} or {' and '.join(rest)} holds"
        case _:
            return f"{names[one]} is worded anew"


def _alone(fate: Fate) -> str:
    """What the two would be by themselves."""
    alone = fate.alone
    assert alone is not None  # noqa: S101  (else nothing moved)
    likely = max(alone.probabilities[:2])
    would = {
        Label.DUPLICATE: f"{'' if alone.auto else 'likely '}the same fact ({likely:.0%})",
        Label.CONTRADICTION: f"a contradiction ({likely:.0%})",
        Label.UNSURE: f"unsure ({likely:.0%})",
        Label.DISTINCT: "different facts",
    }[alone.label]
    if fate.here is None and not fate.beside:
        return f"By themselves they would be {would}."
    return f"By themselves they would be {would}; a pass reads them beside {fate.beside} others like them."


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
    if apart or max(duplicate, contradiction) == 0:  # asked for other reasons than what a scorer says
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
