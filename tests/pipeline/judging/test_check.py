"""A new text against what is known: what it is called, and what is never called so."""

import pytest
from builders import ALICE, BOB, memory
from mem0_dream.models.text.statements import split_statements
from mem0_dream.pipeline.judging.check import NEAREST, Checked, Finding, Known
from mem0_dream.records import Memory, rejection_key
from mem0_dream.testing import FakeEncoder, FakeScorer

SURE, LIKELY, AGAINST = (0.95, 0.0, 0.05), (0.7, 0.0, 0.3), (0.1, 0.8, 0.1)
TEA, GREEN = "Likes a cup of tea at breakfast", "At breakfast enjoys a cup of hot tea"


def known(*memories: Memory, rejected: frozenset[str] = frozenset(), pairs: dict | None = None) -> Known:
    found = Known(FakeEncoder(), FakeScorer(pairs))
    found.learn(((m, split_statements(m.text)) for m in memories), keys={}, rejected=rejected)
    return found


def told(found: Checked) -> list[tuple[str, str, bool]]:
    return [(str(match.finding), match.memory.id, match.sure) for match in found.matches]


def test_of_nothing_everything_is_new_and_a_pinned_memory_is_known():
    assert known().check("Likes tea") == Checked("Likes tea")
    assert known(memory("1", "Likes tea")).check("  ").finding is Finding.NEW
    assert told(known(memory("1", "Likes tea", pinned=True)).check("Likes tea.")) == [("same as", "1", True)]


@pytest.mark.parametrize(
    ("scores", "finding", "sure"),
    [
        *((SURE, "same as", True), (LIKELY, "says more than", False), (AGAINST, "contradicts", True)),
        ((0.1, 0.5, 0.4), "contradicts", False),
    ],
)
def test_a_verdict_has_its_words(scores, finding, sure):
    found = known(memory("1", GREEN), pairs={(GREEN, TEA): scores}).check(TEA)
    assert told(found) == [(finding, "1", sure)]
    assert found.finding == (finding if sure else "new")


def test_what_adds_a_detail_says_more():
    longer = TEA + " with 2 lumps of sugar"
    assert told(known(memory("1", TEA), pairs={(longer, TEA): SURE}).check(longer))[0][0] == "says more than"
    assert told(known(memory("1", longer), pairs={(longer, TEA): SURE}).check(TEA))[0][0] == "same as"


def test_one_statement_written_twice_needs_no_model():
    found = Known(FakeEncoder(), scorer := FakeScorer())
    found.learn([(memory("1", "Likes tea."), ("Likes tea.",))], keys={})
    assert (told(found.check("User likes tea")), scorer.asked) == ([("same as", "1", True)], [])


def test_a_number_that_differs_is_no_copy():
    for a, b in (
        ("Sessions of the shop expire after 15 minutes", "Sessions of the shop expire after 60 minutes"),
        ("Retry failed payments of the shop", "Do not retry failed payments of the shop"),
    ):
        found = known(memory("1", a), pairs={(a, b): (0.99, 0.0, 0.01)}).check(b)
        assert told(found) == [("contradicts", "1", True)]


def test_a_sentence_of_a_long_memory_is_known():
    whole = "Lives in Porto. Has a whippet named Pickle. Plays chess on Sundays."
    found = known(memory("1", whole)).check("Has a whippet named Pickle")
    assert told(found) == [("same as", "1", True)]
    assert found.matches[0].said == "Has a whippet named Pickle."


def test_a_text_of_several_statements_is_known_if_each_is():
    held = [memory("1", "Lives in Porto"), memory("2", "Has a whippet named Pickle")]
    both = known(*held).check("Lives in Porto. Has a whippet named Pickle.")
    assert both.finding is Finding.SAME
    assert {match.part for match in both.matches} == {"Lives in Porto.", "Has a whippet named Pickle."}
    more = known(*held).check("Lives in Porto. Collects stamps.")
    assert told(more) == [("says more than", "1", True)]


def test_scopes_are_judged_each_for_itself_and_what_was_refused_is_nothing():
    mine, his = memory("1", TEA, scope=ALICE), memory("2", TEA, scope=BOB)
    assert told(known(mine, his).check(TEA)) == [("same as", "1", True), ("same as", "2", True)]
    new = memory("x", GREEN)
    refused = frozenset({rejection_key(mine, new)})
    assert told(known(mine, pairs={(TEA, GREEN): AGAINST}, rejected=refused).check(GREEN)) == []


def test_copies_do_not_hide_what_is_against():
    copies = [memory(f"c{n}", TEA) for n in range(3 * NEAREST)]
    found = known(*copies, memory("a", GREEN), pairs={(TEA, GREEN): AGAINST}).check(TEA)
    assert ("contradicts", "a") in {(name, held) for name, held, _ in told(found)}


def test_metadata_that_names_another_subject_keeps_apart():
    from mem0_dream.pipeline.judging.subjects import keys_by_scope

    held = [memory("1", "Pays 45 days net", metadata={"customer": "Kestrel"}),
            memory("2", "Orders by fax", metadata={"customer": "Marl"})]  # fmt: skip
    found = Known(FakeEncoder(), FakeScorer())
    found.learn(((m, (m.text,)) for m in held), keys=keys_by_scope(held))
    assert found.check("Pays 45 days net", {"customer": "Kestrel"}).finding is Finding.SAME
    assert found.check("Pays 45 days net", {"customer": "Marl"}).finding is Finding.NEW
