"""What a user may tune about a graph, with the original skill's numbers as defaults."""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field

from ....settings import Days

Share = float


class Points(BaseModel):
    """What each reason adds to the relevance of a learning.

    Attributes:
        critical: Its severity is critical.
        high: Its severity is high.
        medium: Its severity is medium.
        low: Its severity is low.
        many_contexts: It applies to more than two contexts.
        two_contexts: It applies to two.
        mistake: It was learned from a mistake or failure.
        feedback: The user said so.
        aligned: It agrees with the core memory.
        common: It comes up often.
        similar: A memory is similar to it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    critical: int = 5
    high: int = 3
    medium: int = 2
    low: int = 1
    many_contexts: int = 3
    two_contexts: int = 2
    mistake: int = 2
    feedback: int = 3
    aligned: int = 1
    common: int = 2
    similar: int = -2


class GraphSettings(BaseModel):
    """Limits of consolidation, forgetting, promotion and health.

    Attributes:
        merge_above: Similarity from which two memories of one type may be merged, if judged duplicates.
        review_above: Similarity from which a person is asked.
        related_above: Similarity from which two memories are related to each other.
        max_relations: So many relations are proposed for one memory.
        forget_unused: A memory unused for longer may be forgotten.
        forget_uses: Fewer uses than this make it forgettable.
        forget_effectiveness: Or an effectiveness below this.
        protect_used: A memory used within this time is never forgotten.
        promote_uses: So many uses prove a memory.
        promote_effectiveness: And this effectiveness.
        promote_age: And this age.
        max_memories: More than this is worth a consolidation, and a warning.
        low_effectiveness: Below this a memory counts as not effective.
        warn_share: A larger share of stale, ineffective, double or orphaned memories is a warning.
        keep_above: Relevance from which a learning is worth saving.
        same_above: A learning more similar than this to a memory is known already.
        similar_above: And above this its relevance is less.
        aligned_above: Share of common words from which a learning agrees with the core memory.
        points: What each reason adds to its relevance.
        due_after: A consolidation is due so long after the last one.
        due_new: Or after so many new memories.
        attention_share: Topics and focus protect at most this share of what stays anyway, but always ten.
        attention_floor: A topic with at least this weight protects its memories from being forgotten.
        hot_topic: So many memories in use make a topic hot.
        half_life: After so long without use a memory counts half for the attention.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    merge_above: Share = Field(default=0.85, ge=0, le=1)
    review_above: Share = Field(default=0.70, ge=0, le=1)
    related_above: Share = Field(default=0.50, ge=0, le=1)
    max_relations: int = Field(default=3, ge=0)
    forget_unused: Days = timedelta(days=90)
    forget_uses: int = Field(default=3, ge=0)
    forget_effectiveness: Share = Field(default=0.30, ge=0, le=1)
    protect_used: Days = timedelta(days=30)
    promote_uses: int = Field(default=15, ge=1)
    promote_effectiveness: Share = Field(default=0.85, ge=0, le=1)
    promote_age: Days = timedelta(days=30)
    max_memories: int = Field(default=200, ge=1)
    low_effectiveness: Share = Field(default=0.30, ge=0, le=1)
    warn_share: Share = Field(default=0.10, ge=0, le=1)
    keep_above: int = 5
    same_above: Share = Field(default=0.85, ge=0, le=1)
    similar_above: Share = Field(default=0.60, ge=0, le=1)
    aligned_above: Share = Field(default=0.30, ge=0, le=1)
    points: Points = Points()
    due_after: Days = timedelta(days=7)
    due_new: int = Field(default=10, ge=1)
    attention_share: Share = Field(default=0.25, ge=0, le=1)
    attention_floor: Share = Field(default=0.25, ge=0, le=1)
    hot_topic: int = Field(default=3, ge=1)
    half_life: Days = timedelta(days=30)
