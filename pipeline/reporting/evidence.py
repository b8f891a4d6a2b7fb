"""The evidence of a verdict in everyday words, in the order of A and B, without guards and vetoes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...models.evidence_kinds import JUDGED, KINDS, WHOLE
from ...records import Evidence
from .text import visible

DETAIL_WIDTH = 200
"""Characters of a detail that are shown at most."""


def spoken(evidence: Iterable[Evidence], *, flipped: bool = False, names: Sequence[str] = "AB") -> str:
    """All reasons as sentences on one line; nothing if there are none.

    A detail names the first text's value before the second's; `flipped` if the first text is shown as B.

    >>> spoken([Evidence("quantifier", "every / -"), Evidence("number", "20 mg / 40 mg", veto=True)])
    'Only A says *every*. A says *20 mg*, B says *40 mg*.'
    """
    return visible(" ".join(_sentence(item, *names, flipped=flipped) for item in evidence))


def _sentence(item: Evidence, first: str, second: str, *, flipped: bool) -> str:
    detail = item.detail if len(item.detail) <= DETAIL_WIDTH else item.detail[: DETAIL_WIDTH - 1] + "…"
    if item.kind in WHOLE:
        return f"{detail[:1].upper()}{detail[1:]}."
    kind = (KINDS | JUDGED).get(item.kind)
    begin = kind.said if kind else ""
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
