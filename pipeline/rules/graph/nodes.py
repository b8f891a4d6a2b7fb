"""Entities as the stages of a graph see them: what each says, and how it was used."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ....records import Memory
from ...stores.graph.text import statement
from ...stores.graph.usage import Usage, content, usage

TYPES = ("pattern", "mistake", "tech-insight", "research", "preference", "competitor", "design", "stack")
"""Types that a graph's table always shows, in this order."""
SENTENCE_TYPES = ("pattern", "mistake", "tech-insight", "preference", "design", "research")
"""Types whose names are labels of what is said, and not what it is said about."""

LEARNINGS = ("pattern", "mistake", "tech-insight", "research", "competitor", "design", "stack")
"""Types of the convention that an unattended run may forget."""


@dataclass(frozen=True, slots=True)
class Node:
    """One entity.

    Attributes:
        memory: As the store read it.
        observations: All of them.
        content: Those that say something.
        usage: What the others tell about its use.
    """

    memory: Memory
    observations: tuple[str, ...]
    content: tuple[str, ...]
    usage: Usage

    @property
    def id(self) -> str:
        """Its name."""
        return self.memory.id

    @property
    def type(self) -> str:
        """Its entity type."""
        return self.memory.category or ""

    @property
    def statement(self) -> str:
        """What it says, in sentences."""
        return statement(self.id, self.content)

    @classmethod
    def of(cls, memory: Memory) -> Node:
        """The entity in a memory."""
        observations = tuple(memory.metadata["observations"])
        return cls(
            memory, observations, content(observations), usage(observations, memory.metadata.get("fields"))
        )


def nodes_of(memories: Iterable[Memory]) -> tuple[Node, ...]:
    """All entities, sorted by name."""
    return tuple(Node.of(memory) for memory in sorted(memories, key=lambda memory: memory.id))
