"""Which statements are compared at all, and which verdicts on them are worth a question."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from mem0_dream.pipeline.judging.statements import Finding, Reader, Statement, findings, sharing
from mem0_dream.records import Label, Memory, Scope
from mem0_dream.testing import FakeEncoder, FakeScorer

SAME, AGAINST, DOUBTFUL = (0.97, 0.01, 0.02), (0.01, 0.97, 0.02), (0.55, 0.44, 0.01)
SCOPE = Scope.of(directory="memory")


def _found(
    *texts: str, verdict: tuple[float, float, float] = SAME, subjects: Sequence[str] = (), block: str = ""
) -> list[Finding]:
    scorer = FakeScorer(default=lambda _a, _b: verdict)
    said = [
        Statement(Memory(f"{n}.md", text, SCOPE), text, text, subject, block=block)
        for n, (text, subject) in enumerate(zip(texts, subjects or [""] * len(texts), strict=True))
    ]
    return findings(said, Reader(FakeEncoder(), scorer))


@pytest.mark.parametrize(
    ("a", "b", "verdict", "label"),
    [
        ("Price lists are imported every night by cron.", "Cron imports the price lists every night.", SAME, Label.DUPLICATE),
        ("Use tabs in all Go files of ours.", "Never use tabs in all Go files of ours.", AGAINST, Label.CONTRADICTION),
        ("Dark mode has shipped on the settings page.", "Dark mode is planned for the settings page.", SAME, Label.CONTRADICTION),
        # Whatever the scorer thinks: too little of each is in the other.
        ("Cards of one pool share all candidates.", "Pool only those cards that the discards of this turn name.", SAME, None),
        ("The gate drops duplicate rows at night.", "At night the gate wakes the cleaner and the guard.", AGAINST, None),
        # Fields of a template, what only says where to look, and what only says what follows.
        ("Functions: load, save, drop", "Exports: drop, load, save", SAME, None),
        ("See also [[price import notes]] for details", "See [[price import notes]] for the details", SAME, None),
        ("[[price-import-notes]] — where the price list of shops comes from", "[[price-import-notes]] — where the price list of shops comes from", SAME, None),
        # A key with one plain word or day tells of its own file; one with a name of code does not.
        ("**Severity of price incident**: MEDIUM", "**Severity of price incident**: MEDIUM", SAME, None),
        ("Plan file of the prices: `~/plans/a.md`.", "Plan file of the prices: `~/plans/a.md`.", SAME, None),
        ("Day of the price incident: 2026-06-06", "Day of the price incident: 2026-06-06", SAME, None),
        ("**Package name of shop**: `com.shop.App`", "**Package name of shop**: `com.shop.App`", SAME, Label.DUPLICATE),
        ("How to apply this price rule:", "How to apply this price rule to all:", SAME, None),
        # Other code, and too few words.
        ("The `load` step reads prices of the shop.", "The `save` step reads prices of the shop.", SAME, None),
        ("Use this.", "Do not use.", AGAINST, None),
        # Nothing says that one value alone holds; two events; a denial of other words; a list of things.
        ("The export page shows a list of all shops.", "The export page of all shops shows a map.", AGAINST, None),
        ("PR #41 of the shop was merged with 384 tests.", "PR #47 of the shop was merged with 395 tests.", AGAINST, None),
        ("Guests had no sign of the price at the start.", "Signs with the price are needed for guests.", AGAINST, None),
        ("Checked: names of shops, prices of shops, mail of guests", "Checked: names of shops, prices of shops, keys of guests", AGAINST, None),
        ("Shop deploys run on Fridays.", "Shop deploys run on Mondays.", AGAINST, Label.CONTRADICTION),
        # What a statement is comes first; a brief one and its denial are about one thing, if it is named.
        ("The shop is written in Vue.", "Decided: the shop is written in React.", AGAINST, Label.CONTRADICTION),
        ("The shop runs on Jenkins.", "**Rule:** the shop does not run on Jenkins any more.", AGAINST, Label.CONTRADICTION),
        ("Tests run on every push.", "Tests do not run on every push.", AGAINST, Label.CONTRADICTION),
        ("Runs on Jenkins now.", "Does not run on Jenkins now.", AGAINST, None),
    ],
)  # fmt: skip
def test_what_is_worth_a_question(a, b, verdict, label):
    for first, second in ((a, b), (b, a)):
        assert [finding.verdict.label for finding in _found(first, second, verdict=verdict)] == [
            label
        ] * bool(label)


def test_members_of_a_list_are_neither_the_same_nor_against_each_other() -> None:
    rows = [
        f"The {name} worker of the shop listens on port {n}."
        for n, name in enumerate(("mail", "print", "scan"))
    ]
    assert _found(*rows, verdict=AGAINST) == _found(*rows, verdict=SAME) == []
    denied = (
        "Always deploy on Fridays from main.",
        "Never deploy on Fridays from main.",
        "Do not deploy on Fridays from main.",
    )
    assert _found(*denied, verdict=AGAINST)


def test_a_label_that_many_sections_have_is_about_its_section() -> None:
    rows = ("Purpose: keeps the prices of shops", "Purpose: keeps prices of the shops", "Purpose: sends mail")
    for heading, found in (("Prices", 1), ("", 0)):
        said = [
            Statement(Memory(f"{n}.md", text, SCOPE), text, text, heading or f"Part{n}", block=f"{n}")
            for n, text in enumerate(rows)
        ]
        scorer = FakeScorer(default=lambda _a, _b: SAME)
        assert len(findings(said, Reader(FakeEncoder(), scorer))) == found


def test_values_of_the_cases_of_one_list_are_no_rivals() -> None:
    cases = (
        "404 is what the shop answers for missing orders.",
        "410 is what the shop answers for missing orders.",
    )
    for block, found in (("Weights", 0), ("", 1)):
        said = [Statement(Memory(text[:3], text, SCOPE), text, text, block=block) for text in cases]
        scorer = FakeScorer(default=lambda _a, _b: AGAINST)
        assert len(findings(said, Reader(FakeEncoder(), scorer))) == found


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
    for names, found in ((("Issue #850", "Issue #851"), 0), (("Release", "Deploy"), 1)):
        said = [
            Statement(Memory(name, text, SCOPE), text, text, name, named=True)
            for name, text in zip(names, ["All validation scripts of the shop have passed."] * 2, strict=True)
        ]
        assert len(findings(said, Reader(FakeEncoder(), FakeScorer(default=lambda _a, _b: SAME)))) == found


def test_texts_that_share_most_of_their_words_are_compared() -> None:
    texts = ["red apples from Bern", "apples from Bern", "blue plums from Chur"]
    assert sharing(texts) == [(0, 1)]
    assert sharing([texts[0]] * 100) == []  # words that so many have tell nothing
