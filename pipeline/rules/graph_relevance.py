"""Whether a learning is worth saving at all: a score with its reasons, asked before anything is stored."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ...errors import UsageError
from ...models.text.words import exact_key, overlap
from ..judging.check import Finding, Known
from ..stores.graph.entities import Node, content, is_label, statement
from .graph_use import GraphSettings

if TYPE_CHECKING:
    from ...models.encoder import Encoder

SAID = 1.0  # similarity of a learning to a memory that has every word of it
_FEEDBACK, _DEFAULT_SOURCE = "explicit_user_feedback", "implementation"
NOTHING_NEW = 10  # exit code of `check` if there is nothing to save: all of it is known, or not worth it

Contexts = list[str] | Annotated[int, Field(ge=0)] | None


class Learning(BaseModel):
    """What an agent would like to remember; some fields have a second name, that of the original skill."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    name: str = Field(min_length=1)
    entityType: str = "pattern"  # noqa: N815  (the server's own spelling)
    observations: list[str] = Field(default_factory=list)
    summary: str = ""  # what was learned, in short; enough without observations
    contexts: Contexts = None  # where it applies, as a list or a number
    appliesTo: Contexts = None  # noqa: N815
    severity: Literal["critical", "high", "medium", "low"] | None = None  # how bad it is not to know it
    source: str = ""  # "mistake", "failure" and "explicit_user_feedback" count for more
    userFeedback: bool = False  # noqa: N815  (the user said so in so many words)
    common: bool = False  # it comes up often
    frequencyHint: str | None = None  # noqa: N815  ("common")
    aligned: bool | None = None  # it agrees with the core memory; worked out if left out

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


@dataclass(frozen=True, slots=True)
class Relevance:
    """What the filter says."""

    save: bool
    score: int
    reasons: list[str]  # each with its points
    similarity: float  # to the nearest memory
    nearest: str | None
    entity: dict[str, Any] | None  # what to store, with metadata observations; None if it is not saved

    def to_json(self) -> dict[str, Any]:
        """For the tool that asks."""
        return asdict(self) | {"similarity": round(self.similarity, 4)}


def load_learning(path: str) -> Learning:
    """Read a learning from a file, or from the input if the path is `-`; UsageError if that fails."""
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
    known: Known,
    encoder: Encoder,
    settings: GraphSettings,
    now: datetime,
) -> Relevance:
    """Score a learning against what is known: scorer and guards say whether it is, likeness only counts.

    `known` are the same memories as `nodes`, to be asked about each statement; `core` is the name and text of
    each core memory, `now` when it was discovered.
    """
    said = statement(learning.name, learning.said)
    nearest, similarity = _nearest(learning, said, nodes, encoder)
    label = is_label(learning.entityType)
    parts = [text if label else statement(learning.name, [text]) for text in content(learning.said)]
    matches = [known.check(text).matches for text in parts]
    told = [next((m for m in each if m.finding is Finding.SAME), None) for each in matches]
    said_again = [similarity == SAID or (match is not None and match.sure) for match in told]
    new = (match for each, again in zip(matches, said_again, strict=True) if not again for match in each)
    against = next((match for match in new if match.finding is Finding.AGAINST), None)
    # surely, or likely and in nearly the same words
    known_all = told and all(m and (m.sure or m.verdict.pair.cosine > settings.same_above) for m in told)
    if against is None and (similarity == SAID or known_all):
        if similarity != SAID and told[0] is not None:
            nearest, similarity = told[0].memory.id, told[0].verdict.pair.cosine
        why = f"known already as {nearest} (similarity {similarity:.2f})"
        return Relevance(False, 0, [why], similarity, nearest, None)
    points = _points(learning, said, core, settings)
    if against is not None:
        nearest, similarity = against.memory.id, against.verdict.pair.cosine
        vetoes = (item.detail for item in against.verdict.evidence if item.veto)
        why = next(vetoes, against.said or "all of it")
        points.append((0, f"contradicts {nearest} ({why})"))
    elif similarity > settings.similar_above:
        points.append((settings.points.similar, f"similar to {nearest} (similarity {similarity:.2f})"))
    score = sum(value for value, _ in points)
    save = score >= settings.keep_above
    observations = [
        *learning.said,
        f"Discovered: {now.date().isoformat()}",
        f"Relevance score: {score}",
        f"Source: {learning.source or _DEFAULT_SOURCE}",
    ]
    entity = {"name": learning.name, "entityType": learning.entityType, "observations": observations}
    reasons = [f"{value:+d} {text}" for value, text in points]
    return Relevance(save, score, reasons, similarity, nearest, entity if save else None)


def _points(
    learning: Learning, said: str, core: Sequence[tuple[str, str]], settings: GraphSettings
) -> list[tuple[int, str]]:
    points, aligned = settings.points, learning.aligned
    if aligned is None:
        aligned = any(overlap(said, text) >= settings.aligned_above for _, text in core)
    given = learning.contexts if learning.contexts is not None else learning.appliesTo
    contexts = 1 if given is None else given if isinstance(given, int) else len(set(given))
    severe = getattr(points, learning.severity or "", 0)
    mistaken = any(word in learning.source.casefold() for word in ("mistake", "failure"))
    feedback = learning.userFeedback or learning.source == _FEEDBACK
    rows = (
        (contexts > 2, points.many_contexts, f"applies to {contexts} contexts"),
        (contexts == 2, points.two_contexts, "applies to 2 contexts"),
        (learning.severity, severe, f"severity {learning.severity}"),
        (mistaken, points.mistake, "learned from a mistake"),
        (feedback, points.feedback, "explicit feedback of the user"),
        (aligned, points.aligned, "agrees with the core memory"),
        (learning.common or learning.frequencyHint == "common", points.common, "comes up often"),
    )
    return [(value, text) for holds, value, text in rows if holds]


def _nearest(
    learning: Learning, statement_: str, nodes: Sequence[Node], encoder: Encoder
) -> tuple[str | None, float]:
    """The nearest memory: one that says all of it already, whatever its name, or else by similarity."""
    said = {exact_key(text) for text in content(learning.said)}
    for node in nodes if said else ():
        if said <= {exact_key(text) for text in node.content}:
            return node.id, SAID
    telling = [node for node in nodes if node.content]
    if not telling:
        return None, 0.0
    vectors = encoder.encode([statement_, *(node.statement for node in telling)])
    cosines = map(float, vectors[1:] @ vectors[0])
    similarity, nearest = max(zip(cosines, (node.id for node in telling), strict=True))
    return (nearest if similarity > 0 else None), similarity
