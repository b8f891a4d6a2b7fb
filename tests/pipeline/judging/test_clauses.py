"""The statements of two long memories that oppose each other."""

from mem0_dream.pipeline.planning.drafts import opposing_statements


def test_the_statements_that_share_most_words_are_named():
    older = "Lives in Porto with two cats. Is training for the Porto marathon."
    newer = "Works as a nurse. Has finished the Porto marathon in 4:10."
    assert opposing_statements(older, newer) == (
        "Is training for the Porto marathon.",
        "Has finished the Porto marathon in 4:10.",
    )


def test_a_statement_that_both_make_is_no_opposition():
    older = "Has a cat. Lives in Porto since May."
    newer = "has a cat. Lives in Faro since June."
    assert opposing_statements(older, newer) == ("Lives in Porto since May.", "Lives in Faro since June.")


def test_single_statements_and_strangers_stay_whole():
    assert opposing_statements("Has a cat.", "Has a dog. Is old.") == ("Has a cat.", "Has a dog. Is old.")
    apart = ("Sings tenor. Owns skis.", "Bakes bread. Reads maps.")
    assert opposing_statements(*apart) == apart
