"""What the tools answer: typed, the numbers of `--json`, and nothing in it that a terminal acts on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from ..reporting.report import visible


def _lines(text: str) -> str:
    return "\n".join(visible(line) for line in text.split("\n"))


Visible = Annotated[str, AfterValidator(visible)]
"""One line; line breaks and every other control character of a memory are shown as escapes."""
Block = Annotated[str, AfterValidator(_lines)]
"""Lines of ours, in each of which the same holds."""
Choice = Literal["a", "b", "yes", "no", "skip"]


class Proposed(BaseModel):
    """How many changes a plan proposes; the numbers of `--json`."""

    merges: int
    prunes: int
    conflicts: int
    changes: int = Field(description="Texts that are brought up to date: dates, indexes, relations.")


class Proposal(BaseModel):
    """One proposed change, in the line that the report has for it."""

    id: Visible
    kind: Visible
    line: Visible
    answer: Visible | None = Field(default=None, description="What was answered so far.")


class Question(BaseModel):
    """Something that only a person can decide; nothing is done about it without an answer."""

    id: Visible
    line: Visible
    a: Visible = Field(description="What side A says.")
    b: Visible = Field(description="What side B says.")
    a_date: Visible | None = Field(description="When A was stated.")
    b_date: Visible | None
    newer: Literal["a", "b"] | None = Field(description="The side stated later, which is likely to hold.")
    answers: list[Choice] = Field(description="What may be answered.")
    answer: Visible | None = None


class PlanResult(BaseModel):
    """A plan, kept under its id; nothing was changed."""

    plan_id: Visible
    store: Visible = Field(description="Kind of store: mem0, md or graph.")
    report: Block = Field(description="Show this to the person, as it is.")
    proposed: Proposed
    proposals: list[Proposal] = Field(description="The first changes; dream_explain gives all of them.")
    conflicts: list[Question] = Field(description="The first open conflicts; ask the person.")
    unsure: int = Field(description="Doubtful pairs; dream_explain with unsure lists them.")
    left_open: int = Field(description="Conflicts that were skipped earlier and still stand.")
    over_budget: Visible | None = Field(description="Why dream_apply would refuse the plan, or null.")
    gaps: list[Visible] = Field(description="Why the listing may be incomplete; nothing may be applied then.")
    notes: list[Visible]


class Score(BaseModel):
    """What was thought of two memories."""

    a: Visible
    b: Visible
    label: Visible
    duplicate: float
    contradiction: float
    distinct: float
    cosine: float
    evidence: Visible


class Said(BaseModel):
    """A memory of a proposal."""

    id: Visible
    text: Visible
    date: Visible | None
    stays: bool


class Explanation(BaseModel):
    """One proposal with everything behind it."""

    id: Visible
    kind: Visible
    line: Visible
    scope: Visible
    category: Visible | None
    memories: list[Said]
    becomes: Visible | None = Field(description="The text that is there afterwards, if one is new.")
    reason: Visible | None
    scores: list[Score]
    answers: list[Choice]
    answer: Visible | None


class ExplainResult(BaseModel):
    """Proposals and doubts of a plan, one page of them."""

    plan_id: Visible
    total: int = Field(description="How many there are on all pages.")
    explanations: list[Explanation]


class AnswerResult(BaseModel):
    """The plan after the answers; nothing was changed."""

    plan_id: Visible
    report: Block = Field(description="The report as it stands now.")
    proposed: Proposed = Field(description="What would be applied, and the conflicts still open.")
    answered: dict[Visible, Visible] = Field(description="All answers so far, by id.")
    open_conflicts: int
    over_budget: Visible | None


class Moved(BaseModel):
    """A change that was not made, because the memory is no longer what was shown."""

    id: Visible
    line: Visible
    reason: Visible


class ApplyResult(BaseModel):
    """What was done; the numbers of `--json`."""

    run: Visible = Field(description="Name of the run, for dream_undo; empty if nothing had to be done.")
    summary: Visible = Field(description="Show this to the person, as it is.")
    merged: int
    pruned: int
    resolved: int
    skipped: int
    removed: int
    added: int
    moved: list[Moved]
    undo: Visible | None = Field(description="The command that takes it back.")


class LeftAlone(BaseModel):
    """A memory that an undo did not touch, because it changed since."""

    memory: Visible
    reason: Visible


class UndoneResult(BaseModel):
    """What was taken back; the numbers of `--json`."""

    run: Visible
    summary: Visible
    restored: int
    withdrawn: int
    kept: list[LeftAlone]


class Counted(BaseModel):
    """How many memories there are."""

    living: int
    retired: int
    pinned: int


class InScope(BaseModel):
    """How many memories a scope holds."""

    scope: dict[Visible, Visible]
    memories: int


class LastRun(BaseModel):
    """The newest run."""

    id: Visible
    state: Visible


class StatusResult(BaseModel):
    """What the store holds and what was done to it; the numbers of `status --json`."""

    kind: Visible
    memories: Counted
    scopes: list[InScope]
    categories: dict[Visible, int]
    exact_duplicates: int
    stale: int
    answered: dict[Visible, int]
    complete: bool
    gaps: list[Visible]
    interrupted: Visible | None = Field(
        description="A run that was cut off; apply its plan again, or undo it."
    )
    last_run: LastRun | None
    last_plan: Visible | None = Field(description="The newest plan that is kept.")
    may_write: bool = Field(description="Whether the server was started with --allow-write.")


class Found(BaseModel):
    """A memory that matches a query."""

    id: Visible | None = Field(description="Pick it by this; null for a pinned one, which is never touched.")
    label: Visible
    text: Visible


class ForgetResult(BaseModel):
    """What matches a query, or what was forgotten of it."""

    plan_id: Visible | None = Field(description="Under which the matches are kept; null if there are none.")
    found: list[Found] = []
    applied: ApplyResult | None = Field(default=None, description="What was done; null after a search.")


class Entity(BaseModel):
    """What to store."""

    name: Visible
    entityType: Visible  # noqa: N815  (the spelling of the memory server)
    observations: list[Visible]


class RelevanceResult(BaseModel):
    """Whether something is worth remembering; nothing was stored."""

    save: bool
    score: int
    reasons: list[Visible]
    similarity: float
    nearest: Visible | None
    entity: Entity | None


class OpenConflicts(BaseModel):
    """Conflicts that wait for a person: those of the last plan, and how many were skipped earlier."""

    plan_id: Visible | None
    conflicts: list[Question]
    left_open: int
