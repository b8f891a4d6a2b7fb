"""Whether a learning is worth saving at all: a score with its reasons, asked before anything is stored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ....errors import UsageError
from ....models.words import exact_key, overlap
from ...stores.graph.text import statement
from ...stores.graph.usage import content
from .nodes import Node
from .settings import GraphSettings

if TYPE_CHECKING:
    from ....models.encoder import Encoder

_TWO = 2
_FEEDBACK, _DEFAULT_SOURCE = "explicit_user_feedback", "implementation"
NOT_SAVED_EXIT_CODE = 10
"""Exit code of `relevance` if the learning should not be saved."""


class Learning(BaseModel):
    """What an agent would like to remember.

    Attributes:
        name: Name of the entity it would become.
        entityType: Its type.
        observations: What was learned.
        summary: What was learned, in short; enough without observations.
        contexts: Where it applies, as a list or a number.
        appliesTo: The same, as the original calls it.
        severity: How bad it is not to know it.
        source: Where it was learned; "mistake", "failure" and "explicit_user_feedback" count for more.
        userFeedback: The user said so in so many words.
        common: It comes up often.
        frequencyHint: "common" says the same, as the original puts it.
        aligned: It agrees with the core memory; worked out if left out.
    """

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    name: str = Field(min_length=1)
    entityType: str = "pattern"  # noqa: N815  (the server's own spelling)
    observations: list[str] = Field(default_factory=list)
    summary: str = ""
    contexts: list[str] | Annotated[int, Field(ge=0)] | None = None
    appliesTo: list[str] | Annotated[int, Field(ge=0)] | None = None  # noqa: N815
    severity: Literal["critical", "high", "medium", "low"] | None = None
    source: str = ""
    userFeedback: bool = False  # noqa: N815
    common: bool = False
    frequencyHint: str | None = None  # noqa: N815
    aligned: bool | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.observations and not self.summary.strip():
            raise ValueError("observations or a summary are needed")
        return self

    @property
    def said(self) -> list[str]:
        """What was learned: the summary, too, if no observation says it."""
        new = self.summary.strip() and self.summary not in self.observations
        return [*([self.summary] if new else []), *self.observations]

    @property
    def places(self) -> int:
        """In how many contexts it applies."""
        given = self.contexts if self.contexts is not None else self.appliesTo
        return 1 if given is None else given if isinstance(given, int) else len(set(given))


@dataclass(frozen=True, slots=True)
class Relevance:
    """What the filter says.

    Attributes:
        save: Whether to save it.
        score: Sum of all points.
        reasons: Each with its points.
        similarity: To the nearest memory.
        nearest: That memory, or None.
        entity: What to store, with the metadata observations added; None if it is not saved.
    """

    save: bool
    score: int
    reasons: tuple[str, ...]
    similarity: float
    nearest: str | None
    entity: dict[str, Any] | None

    def to_json(self) -> dict[str, Any]:
        """For the tool that asks."""
        return {
            "save": self.save,
            "score": self.score,
            "reasons": list(self.reasons),
            "similarity": round(self.similarity, 4),
            "nearest": self.nearest,
            "entity": self.entity,
        }


def load_learning(path: str) -> Learning:
    """Read a learning from a file, or from the input if the path is `-`.

    Raises:
        UsageError: If it cannot be read, or is none.
    """
    import sys

    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
        return Learning.model_validate(json.loads(text))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        if not place:
            raise UsageError(f"The learning {path} is no JSON object with a name and observations.") from None
        raise UsageError(f"The learning {path} is wrong at {place}: {first['msg']}.") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"The learning {path} cannot be read: {error}.") from None


def relevance(
    learning: Learning,
    nodes: Sequence[Node],
    core: Sequence[tuple[str, str]],
    *,
    encoder: Encoder,
    settings: GraphSettings,
    now: datetime,
) -> Relevance:
    """Score a learning against what is known.

    Args:
        learning: What would be saved.
        nodes: What is known.
        core: Name and text of the core memory.
        encoder: Embeds all of it.
        settings: The threshold and the limits of similarity.
        now: The day it was discovered.
    """
    said = statement(learning.name, learning.said)
    nearest, similarity = _copy(learning, nodes) or _nearest(said, nodes, encoder)
    if similarity > settings.same_above:
        known = (f"known already as {nearest} (similarity {similarity:.2f})",)
        return Relevance(False, 0, known, similarity, nearest, None)
    points = _points(learning, said, core, settings)
    if similarity > settings.similar_above:
        points.append((settings.points.similar, f"similar to {nearest} (similarity {similarity:.2f})"))
    score = sum(value for value, _ in points)
    save = score >= settings.keep_above
    entity = _entity(learning, score, now) if save else None
    reasons = tuple(f"{value:+d} {text}" for value, text in points)
    return Relevance(save, score, reasons, similarity, nearest, entity)


def _points(
    learning: Learning, said: str, core: Sequence[tuple[str, str]], settings: GraphSettings
) -> list[tuple[int, str]]:
    contexts = learning.places
    aligned, points = learning.aligned, settings.points
    if aligned is None:
        aligned = any(overlap(said, text) >= settings.aligned_above for _, text in core)
    reasons: list[tuple[int, str]] = []
    if contexts > _TWO:
        reasons.append((points.many_contexts, f"applies to {contexts} contexts"))
    elif contexts == _TWO:
        reasons.append((points.two_contexts, "applies to 2 contexts"))
    if learning.severity:
        reasons.append((getattr(points, learning.severity), f"severity {learning.severity}"))
    if any(word in learning.source.casefold() for word in ("mistake", "failure")):
        reasons.append((points.mistake, "learned from a mistake"))
    if learning.userFeedback or learning.source == _FEEDBACK:
        reasons.append((points.feedback, "explicit feedback of the user"))
    if aligned:
        reasons.append((points.aligned, "agrees with the core memory"))
    if learning.common or learning.frequencyHint == "common":
        reasons.append((points.common, "comes up often"))
    return reasons


def _copy(learning: Learning, nodes: Sequence[Node]) -> tuple[str, float] | None:
    """A memory that says all of it already, whatever its name."""
    said = {exact_key(text) for text in content(learning.said)}
    names = (node.id for node in nodes if said <= {exact_key(text) for text in node.content})
    name = next(names, None) if said else None
    return None if name is None else (name, 1.0)


def _nearest(said: str, nodes: Sequence[Node], encoder: Encoder) -> tuple[str | None, float]:
    known = [node for node in nodes if node.content]
    if not known:
        return None, 0.0
    vectors = encoder.encode([said, *(node.statement for node in known)])
    cosines = vectors[1:] @ vectors[0]
    best = max(range(len(known)), key=lambda place: (float(cosines[place]), known[place].id))
    similarity = float(cosines[best])
    return (known[best].id if similarity > 0 else None), similarity


def _entity(learning: Learning, score: int, now: datetime) -> dict[str, Any]:
    notes = [f"Discovered: {now.date().isoformat()}", f"Relevance score: {score}"]
    notes.append(f"Source: {learning.source or _DEFAULT_SOURCE}")
    return {
        "name": learning.name,
        "entityType": learning.entityType,
        "observations": [*learning.said, *notes],
    }
