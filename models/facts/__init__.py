"""Typed details of short texts: numbers, dates, names, negations and all that must not be lost or confused.

`extract` reads one text once and remembers it; `stated`, `denials` and `frames` hold the rules that
`guards` needs to set two of them side by side. No model, no network, no clock.
"""

from __future__ import annotations

from .amounts import Number
from .clocks import Clock
from .dates import Day, Relative
from .detail import Detail
from .extraction import Facts, extract
from .frequencies import Frequency
from .literals import Identifier, Link, Path, Quote, Version
from .names import Name
from .polarity import Negation
from .tokens import Word
from .traits import Trait
from .weekdays import Weekday

__all__ = [
    "Clock",
    "Day",
    "Detail",
    "Facts",
    "Frequency",
    "Identifier",
    "Link",
    "Name",
    "Negation",
    "Number",
    "Path",
    "Quote",
    "Relative",
    "Trait",
    "Version",
    "Weekday",
    "Word",
    "extract",
]
