"""Words that tell of an end: what was so before is over, or something else has come.

Where only one of two texts tells of an end, the other may be what ended: whether they are one fact is for a
person to say (decision 0126).
"""

from __future__ import annotations

import re

_ENDS = re.compile(
    r"\b(?:outgrown?|outgrew|overcame|recovered|cured|healed|no longer|(?:not )?any ?more|gave up|given up|"
    r"quit|sold|ended|cancell?ed|stopped|abandoned|dropped|replaced|retired|moved out|moved away|broke up|"
    r"divorced|dissolved|expired|is over|has left|used to|formerly|previously)\b",
    re.IGNORECASE,
)


def told_end(a: str, b: str) -> str | None:
    """The word by which one of two texts tells of an end, if the other tells of none.

    >>> told_end("Is allergic to peanuts", "Has outgrown the peanut allergy")
    'outgrown'
    >>> told_end("Quit smoking in May", "Gave up smoking in May") is None
    True
    """
    ends = [match.group().lower() for text in (a, b) if (match := _ENDS.search(text))]
    return ends[0] if len(ends) == 1 else None
