"""The lines of a text that go and come, as a person reads them."""

from __future__ import annotations

import difflib
import itertools
import operator

from ..report import visible

LONG = 240
"""Characters up to which a changed line is shown with everything that stays the same in it."""
AROUND = 80
"""Characters shown on both sides of a change in a longer line."""


def changes(old: str, new: str) -> list[str]:
    r"""The lines that go and come, indented, with a sign for whatever a terminal would act on.

    Of a long line that changed in one place, what stays the same is left out but for some words around it.

    >>> changes("a\nb", "a\nc")
    ['    - b', '    + c']
    """
    before, after = (text.removesuffix("\n").split("\n") if text else [] for text in (old, new))
    rows: list[str] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        gone, come = before[a:b], after[c:d]
        if len(gone) == len(come):
            pairs = [_around_the_change(*pair) for pair in zip(gone, come, strict=True)]
            gone, come = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        rows += [f"- {line}" for line in gone] + [f"+ {line}" for line in come]
    return [f"    {visible(row)}".rstrip() for row in rows]


def _around_the_change(old: str, new: str) -> tuple[str, str]:
    """Two versions of a line without most of the words at both ends that are the same in both."""
    if max(len(old), len(new)) <= LONG:
        return old, new
    head = _same(old, new)
    tail = _same(old[head:][::-1], new[head:][::-1])
    start = max(old.rfind(" ", 0, max(head - AROUND, 0)) + 1, 0)
    left = "… " if start else ""
    space = old.find(" ", len(old) - tail + AROUND) if tail > AROUND else -1
    cut = len(old) - space if space >= 0 else 0
    right = " …" if cut else ""
    shorter = [f"{left}{text[start : len(text) - cut]}{right}" for text in (old, new)]
    return shorter[0], shorter[1]


def _same(a: str, b: str) -> int:
    """How many characters two texts begin with alike."""
    return sum(1 for _ in itertools.takewhile(bool, map(operator.eq, a, b)))
