"""What every extracted detail has in common, so that guards compare all kinds in one way.

A detail knows when another one states the same value (`agrees`), when another one may stand in for it
without loss (`covers`), and when both answer the same question with different values (`rivals`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Detail:
    """One load-bearing piece of a text.

    Attributes:
        text: The words as they stand in the text, for printing and for the literal test.
    """

    kind: ClassVar[str] = "detail"
    exclusive: ClassVar[bool] = True
    text: str

    def agrees(self, other: Detail) -> bool:
        """Whether both may state the same value; symmetric."""
        return self == other

    def covers(self, other: Detail) -> bool:
        """Whether keeping only this one loses nothing of the other."""
        return self.agrees(other)

    def rivals(self, other: Detail) -> bool:
        """Whether both could fill the same slot, so that not agreeing is a conflict; symmetric."""
        return self.exclusive and type(self) is type(other)
