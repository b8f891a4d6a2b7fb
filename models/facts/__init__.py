"""Typed details of short texts: numbers, dates, names, negations and all that must not be lost or confused.

`extract` reads one text once and remembers it; `denials`, `frames`, `roles` and `attributes` hold the rules
that `guards` needs to set two of them side by side. No model, no network, no clock.
"""

from __future__ import annotations

from ..text.words import Word
from .amounts import Number
from .calendar import Day, Relative, Weekday
from .details import Detail
from .extraction import Facts, extract
from .literals import Identifier, Link, Path, Quote, Version
from .names import Name
from .polarity import Negation
from .times import Clock, Frequency
from .traits import Trait

__all__ = [
    "Clock", "Day", "Detail", "Facts", "Frequency", "Identifier", "Link", "Name", "Negation", "Number",
    "Path", "Quote", "Relative", "Trait", "Version", "Weekday", "Word", "extract",
]  # fmt: skip
