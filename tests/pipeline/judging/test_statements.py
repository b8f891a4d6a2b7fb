"""Which statements are compared at all, and which verdicts on them are worth a question."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from builders import rows_of
from mem0_dream.pipeline.judging.statements import Finding, Reader, Statement, findings, sharing
from mem0_dream.records import Memory, Scope
from mem0_dream.testing import FakeEncoder, FakeScorer

TABLE = Path(__file__).with_name("observations.tsv")
SAME, AGAINST, DOUBTFUL = (0.97, 0.01, 0.02), (0.01, 0.97, 0.02), (0.55, 0.44, 0.01)
SCOPE = Scope.of(directory="memory")


def _found(
    *texts: str,
    verdict: tuple[float, float, float] = SAME,
    subjects: Sequence[str] = (),
    names: Sequence[str] = (),
    blocks: Sequence[str] = (),
    **more: Any,
) -> list[Finding]:
    count, scorer = len(texts), FakeScorer(default=lambda _a, _b: verdict)
    rows = zip(texts, names or range(count), subjects or [""] * count, blocks or [""] * count, strict=True)
    said = [
        Statement(Memory(f"{name}.md", text, SCOPE), text, text, subject, block=block, **more)
        for text, name, subject, block in rows
    ]
    return findings(said, Reader(FakeEncoder(), scorer))


@pytest.mark.parametrize(("verdict", "label", "a", "b"), rows_of(TABLE, "question"))
def test_what_is_worth_a_question(a, b, verdict, label):
    said = SAME if verdict == "same" else AGAINST
    for first, second in ((a, b), (b, a)):
        found = [finding.verdict.label.value for finding in _found(first, second, verdict=said)]
        assert found == [label] * (label != "-")


def test_members_of_a_list_are_neither_the_same_nor_against_each_other() -> None:
    rows = [
        f"The {name} worker of the shop listens on port {n}."
        for n, name in enumerate(("mail", "print", "scan"))
    ]
    assert _found(*rows, verdict=AGAINST) == _found(*rows, verdict=SAME) == []
    denied = (f"{word} deploy on Fridays from main." for word in ("Always", "Never", "Do not"))
    assert _found(*denied, verdict=AGAINST)


def test_a_label_that_many_sections_have_is_about_its_section() -> None:
    rows = ("Purpose: keeps the prices of shops", "Purpose: keeps prices of the shops", "Purpose: sends mail")
    for subjects, found in ((["Prices"] * 3, 1), (("Part0", "Part1", "Part2"), 0)):
        assert len(_found(*rows, subjects=subjects, blocks="012")) == found


def test_values_of_the_cases_of_one_list_are_no_rivals() -> None:
    cases = (
        "404 is what the shop answers for missing orders.",
        "410 is what the shop answers for missing orders.",
    )
    for block, found in (("Weights", 0), ("", 1)):
        assert len(_found(*cases, verdict=AGAINST, blocks=[block] * 2)) == found


def test_a_short_statement_is_read_with_the_heading_above_it() -> None:
    texts = ("Default timeout is 30 seconds.", "Default timeout is 90 seconds.")
    assert _found(*texts, verdict=AGAINST, subjects=("Gateway", "Gateway"))
    assert not _found(*texts, verdict=AGAINST, subjects=("Gateway proxy layer", "Mobile client retries"))
    (finding,) = _found(
        "Retry failed webhook deliveries of the shop twice.", "Failed webhook deliveries of the shop are retried twice.",
        subjects=("Gateway", "Client"),
    )  # fmt: skip
    assert (finding.same, finding.exact) == (True, False)


def test_one_statement_written_twice_needs_no_scorer() -> None:
    (finding,) = _found("Ask Ines before a release.", "- ask Ines before a release", verdict=(0.0, 0.0, 1.0))
    assert finding.exact


def test_what_issues_that_differ_in_their_number_say_of_themselves_is_not_compared() -> None:
    texts = ["All validation scripts of the shop have passed."] * 2
    for names, found in ((("Issue #850", "Issue #851"), 0), (("Release", "Deploy"), 1)):
        assert len(_found(*texts, names=names, subjects=names, named=True)) == found


def test_texts_that_share_most_of_their_words_are_compared() -> None:
    texts = ["red apples from Bern", "apples from Bern", "blue plums from Chur"]
    assert sharing(texts) == [(0, 1)]
    assert sharing([texts[0]] * 100) == []  # words that so many have tell nothing


def test_a_cell_of_a_table_denies_nothing() -> None:
    rows = (
        "Checkout: Build settings (0), root scope, opens the shop",
        "Checkout: 0, build settings (scene 0), never (root scope), opens the shop",
    )
    for row, found in ((True, 0), (False, 1)):
        assert len(_found(*rows, verdict=(0.2, 0.7, 0.1), row=row)) == found
