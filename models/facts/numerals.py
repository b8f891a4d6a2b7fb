"""Numbers in words: "two and a half", "one hundred and thirty", "half a dozen", "twenty-seventh".

Only what English writes in full; other languages' numerals are words to this module.
"""

from __future__ import annotations

import re

from .tokens import Expression, listed

SMALL = {
    word: value
    for value, word in enumerate(
        listed(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
            "sixteen seventeen eighteen nineteen"
        )
    )
}
TENS = dict(
    zip(listed("twenty thirty forty fifty sixty seventy eighty ninety"), range(20, 100, 10), strict=True)
)
SCALES = {"hundred": 100.0, "thousand": 1e3, "million": 1e6, "billion": 1e9, "dozen": 12.0}
PARTS = {
    "half": 2,
    "third": 3,
    "quarter": 4,
    "fifth": 5,
    "sixth": 6,
    "eighth": 8,
    "tenth": 10,
    "twentieth": 20,
}
_FIRST_ORDINALS = listed(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
ORDINALS = {word: number for number, word in enumerate(_FIRST_ORDINALS, 1)} | {"thirtieth": 30}
ORDINALS |= {
    f"{tens}-{word}": TENS[tens] + number
    for tens in ("twenty", "thirty")
    for number, word in enumerate(_FIRST_ORDINALS[:9], 1)
}
SCALE = "|".join(SCALES)
_UNIT_WORD = "|".join([*TENS, *SMALL])
CARDINAL = rf"(?:{_UNIT_WORD})(?:[- ](?:{'|'.join(SMALL)})\b)?"
SPELLED = Expression(
    rf"\b(?:half a dozen|(?:a|{CARDINAL}|several)[- ](?:{SCALE})(?:[- ](?:and[- ])?(?:{CARDINAL}|{SCALE})\b)*"
    rf"|{CARDINAL}|(?:hundred|thousand|million)(?:[- ]and[- ](?:{CARDINAL}))?|dozen)\b"
    rf"(?P<half>[- ]and[- ]a[- ](?:half|quarter))?(?(half)(?:[- ](?:{SCALE})\b)?)",
    re.IGNORECASE,
)
_HALF_SCALE = Expression(rf"(?:half|quarter)[- ]({SCALE})$")
_SEPARATOR = Expression("[^- ]+")
_EXTRAS = ((" and a half", 0.5), ("-and-a-half", 0.5), (" and a quarter", 0.25), ("-and-a-quarter", 0.25))


def spelled(phrase: str) -> float:
    """Value of a number in words.

    >>> spelled("two and a half"), spelled("one hundred and thirty"), spelled("half a dozen")
    (2.5, 130.0, 6.0)
    """
    phrase = phrase.lower()
    if phrase == "half a dozen":
        return 6.0
    scaled = _HALF_SCALE.search(phrase)
    if scaled is not None:
        return spelled(phrase[: scaled.start(1)].rstrip("- ")) * SCALES[scaled.group(1)]
    total, current, extra = 0.0, 0.0, 0.0
    for tail, value in _EXTRAS:
        if phrase.endswith(tail):
            phrase, extra = phrase.removesuffix(tail), value
    for match in _SEPARATOR.all(phrase):
        word = match.group()
        if word in SMALL or word in TENS:
            current += SMALL.get(word, TENS.get(word, 0))
        elif word in SCALES:
            current = max(current, 1.0) * SCALES[word]
            if SCALES[word] >= SCALES["thousand"]:
                total, current = total + current, 0.0
    return total + current + extra


def value_of(text: str | None) -> float | None:
    """Value of digits, of "a", or of one number word; None for anything else.

    >>> value_of("12"), value_of("twenty"), value_of("many")
    (12.0, 20.0, None)
    """
    if not text:
        return None
    if text[0].isdigit():
        return float(text)
    word = text.lower()
    if word == "a":
        return 1.0
    value = SMALL.get(word, TENS.get(word))
    return None if value is None else float(value)
