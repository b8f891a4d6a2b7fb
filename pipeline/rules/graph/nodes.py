"""Entities as the stages of a graph see them: what each says, and how it was used."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ....records import Memory
from ...stores.graph.text import observation_key, part_id, statement
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
        content: Those that say something.
        usage: What the others tell about its use.
        statement: What it says, in sentences.
    """

    memory: Memory
    observations: tuple[str, ...]
    content: tuple[str, ...]
    usage: Usage
    statement: str

    @property
    def id(self) -> str:
        """Its name."""
        return self.memory.id

    @property
    def type(self) -> str:
        """Its entity type."""
        return self.memory.category or ""

    @property
    def labelled(self) -> bool:
        """Whether its name is a label of what it says, so that it tells nothing about the subject."""
        return is_label(self.type)

    @property
    def bare_name(self) -> str:
        """Its name without its type in front: in "pattern:early-returns" the first word says nothing."""
        kind, separator, bare = self.id.partition(":")
        typed = kind.strip().casefold() in {*TYPES, self.type.casefold()}
        return bare if separator and typed and bare.strip() else self.id

    @property
    def parts(self) -> list[Memory]:
        """The observations that say something, each as a memory of its own."""
        memory = self.memory
        return [
            Memory(
                part_id(self.id, observation_key(text)),
                text,
                memory.scope,
                category=memory.category,
                pinned=memory.pinned,
            )
            for text in dict.fromkeys(self.content)
        ]

    @classmethod
    def of(cls, memory: Memory) -> Node:
        """The entity in a memory."""
        observations = tuple(memory.metadata["observations"])
        said = content(observations)
        used = usage(observations, memory.metadata.get("fields"))
        return cls(memory, observations, said, used, statement(memory.id, said))


def is_label(kind: str | None) -> bool:
    """Whether names of this type are labels of what is said."""
    return (kind or "").casefold() in SENTENCE_TYPES


def said_by(memories: Iterable[Memory]) -> tuple[Node, ...]:
    """Memories of any store as entities are compared; of a single record the text is all there is."""
    return tuple(
        Node.of(memory)
        if "observations" in memory.metadata
        else Node(memory, (), (memory.text,), usage(()), memory.text)
        for memory in sorted(memories, key=lambda memory: memory.id)
    )


def nodes_of(memories: Iterable[Memory]) -> tuple[Node, ...]:
    """All entities, sorted by name."""
    return tuple(Node.of(memory) for memory in sorted(memories, key=lambda memory: memory.id))
