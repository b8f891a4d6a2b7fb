"""Which sentences cannot both hold: denials, rival values, stated changes; and what only looks like it."""

from __future__ import annotations

import pytest
from mem0_dream.models.scorer import PairInput
from mem0_dream.pipeline.rules.markdown.contradictions import sentence_conflicts
from mem0_dream.pipeline.rules.markdown.rivalry import exclusion
from mem0_dream.pipeline.rules.markdown.screen import same_statement, worth_judging
from mem0_dream.records import Memory, Scope
from mem0_dream.testing import FakeScorer

SCOPE = Scope.of(directory="memory")


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ("Always deploy on Fridays from the main branch.", "Never deploy on Fridays from the main branch.", "negation"),
        ("Use tabs for indentation in Go files.", "Stop using tabs for indentation in Go files.", "negation"),
        ("The staging database runs on port 5432.", "The staging database runs on port 5433.", "value"),
        ("The upload limit is 20 MB per request.", "The upload limit is 50 MB per request.", "value"),
        ("The production database is Postgres.", "The production database is MySQL.", "value"),
        ("CI was moved from Jenkins to Buildkite in May.", "CI runs on Jenkins.", "change"),
        ("Delete the test fixtures after each run.", "Never delete the test fixtures after each run.", "negation"),
        ("The gateway no longer uses Redis for sessions.", "The gateway uses Redis.", "negation"),
    ],
)  # fmt: skip
def test_rivals_are_found(a: str, b: str, why: str) -> None:
    """In either order, and for the reason that stands in the words."""
    assert (exclusion(a, b), exclusion(b, a)) == (why, why)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Always run the tests before a merge.", "Never run migrations before a backup."),
        ("The gateway service does not retry on timeouts.", "The billing service does retry on timeouts."),
        ("Phase 2 of the import is done.", "Phase 3 of the import is done."),
        ("The release was cut on 2026-01-01 by Ines.", "The release was cut on 2026-02-01 by Ines."),
        ("Deploy the main branch on Fridays if it is green.", "Never deploy the main branch on Fridays if it is red."),
        ("The API stores sessions in Redis.", "The API stores sessions in Postgres."),
        ("The staging service is fast and green.", "The staging service is fast and small."),
        ("Use tabs for indentation in Go files.", "Use tabs for indentation in Go files too."),
        ("CI was moved from Jenkins to Buildkite.", "CI ran on Jenkins before, which was slow."),
        ("**Drop dead fixtures**: delete fixtures of removed suites", "**Drop dead fixtures** - no fixtures of deleted suites"),
        ("The module lib/report.sh has ~50 lines.", "The module lib/report.sh has ~40 lines."),
        ("The nightly import takes about 20 minutes.", "The nightly import takes about 25 minutes."),
        ("Port 3000 serves the web app locally.", "Port 3001 serves the api docs locally."),
    ],
)  # fmt: skip
def test_what_may_both_hold_is_no_rival(a: str, b: str) -> None:
    """Other things, steps, cases, events, and one of several."""
    assert exclusion(a, b) is None


def _conflicts(*texts: str, scorer: FakeScorer | None = None, rejected: frozenset[str] = frozenset()):
    memories = [Memory(f"memory/{n}.md", text, SCOPE, "project") for n, text in enumerate(texts)]
    agreed = scorer or FakeScorer(default=lambda _a, _b: (0.0, 0.9, 0.1))
    return sentence_conflicts(memories, agreed, rejected=rejected)


def test_a_list_of_values_is_no_conflict() -> None:
    """Three sentences of one frame tell of three things."""
    texts = [f"The worker pool of the shop listens on port {port}." for port in (1, 2, 3)]
    assert _conflicts(*texts) == ()
    assert len(_conflicts(*texts[:2])) == 1


def test_a_conflict_names_both_sentences() -> None:
    """Not the files around them."""
    found = _conflicts("Ines helps. The upload limit is 20 MB there.", "The upload limit is 50 MB there. Bo.")
    assert [conflict.said for conflict in found] == [
        ("The upload limit is 20 MB there.", "The upload limit is 50 MB there.")
    ]


def test_the_scorer_may_object() -> None:
    """Words propose; a scorer that calls both true keeps the question away."""
    texts = ("The upload limit is 20 MB there.", "The upload limit is 50 MB there.")
    assert _conflicts(*texts, scorer=FakeScorer()) == ()


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Surface: `#EDEAE4` is the light one", "Border: `#EDEAE4` is the light one"),
        ("Use `focus-visible` and not `focus`", "The pattern is `focus-visible:ring` here"),
        ("word " * 3 + " ".join(f"a{n}" for n in range(40)), "word " * 3 + " ".join(f"b{n}" for n in range(40))),
    ],
)  # fmt: skip
def test_what_cannot_be_a_duplicate_is_not_judged(a: str, b: str) -> None:
    """Other labels, other code, and long texts that share little."""
    assert not worth_judging(PairInput(a, b, 0.95))


def test_equal_statements_need_no_judge() -> None:
    """The same words in the same order, whatever carries no meaning between them."""
    assert same_statement("Use tabs in Go files.", "use tabs in all the Go files")
    for other in (
        "Never use tabs in Go files.",
        "Use tabs in two Go files.",
        "Go files use tabs in.",
        "Use tabs in Go.",
    ):
        assert not same_statement("Use tabs in Go files.", other)
