"""What a user may tune about a graph, with the original skill's numbers as defaults."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from ....settings import Days

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
Some = Annotated[int, Field(ge=1)]


class Points(BaseModel):
    """What each reason adds to the relevance of a learning."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # By severity.
    critical: int = 5
    high: int = 3
    medium: int = 2
    low: int = 1
    # It applies to more than two contexts, or to two.
    many_contexts: int = 3
    two_contexts: int = 2
    # It was learned from a mistake, the user said so, it agrees with the core memory, it comes up often.
    mistake: int = 2
    feedback: int = 3
    aligned: int = 1
    common: int = 2
    # A memory is similar to it.
    similar: int = -2


class GraphSettings(BaseModel):
    """Limits of consolidation, forgetting, promotion, relevance, attention and health."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Similarity from which two memories of one type may be merged, if judged duplicates; from which a person
    # is asked; from which two memories are related, each to so many others.
    merge_above: Share = 0.85
    review_above: Share = 0.70
    related_above: Share = 0.50
    max_relations: Count = 3
    # A memory may be forgotten that was unused for longer, and was used less often or helped less. Never one
    # that was used within the last.
    forget_unused: Days = timedelta(days=90)
    forget_uses: Count = 3
    forget_effectiveness: Share = 0.30
    protect_used: Days = timedelta(days=30)
    # So many uses, this effectiveness and this age prove a memory.
    promote_uses: Some = 15
    promote_effectiveness: Share = 0.85
    promote_age: Days = timedelta(days=30)
    # More memories than this are worth a consolidation, and a warning; so is a larger share of stale, seldom
    # helpful (below this), double or orphaned ones.
    max_memories: Some = 200
    low_effectiveness: Share = 0.30
    warn_share: Share = 0.10
    # A learning is worth saving from this relevance on. One more similar to a memory is known already, above
    # the next it counts less; from this share of common words it agrees with the core memory.
    keep_above: int = 5
    same_above: Share = 0.85
    similar_above: Share = 0.60
    aligned_above: Share = 0.30
    points: Points = Points()
    # A consolidation is due so long after the last one, or after so many new memories.
    due_after: Days = timedelta(days=7)
    due_new: Some = 10
    # Topics and focus protect at most this share of what stays anyway (but always ten). A topic protects from
    # this weight on, and is hot with so many memories in use. After so long without use a memory counts half.
    attention_share: Share = 0.25
    attention_floor: Share = 0.25
    hot_topic: Some = 3
    half_life: Days = timedelta(days=30)
