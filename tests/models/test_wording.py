"""Words in which two nearly equal texts differ."""

import pytest
from mem0_dream.models.wording import exchanged

DIFFER = [
    ("User needs a visa for India", "User has a visa for India"),
    ("User knows the founder of Stripe", "User is the founder of Stripe"),
    ("User sells honey", "User buys honey"),
    ("User's cat died", "User's cat is dying"),
    ("User works as a nurse", "User works with nurses"),
    ("The invoice from Acme was paid", "The invoice to Acme was paid"),
    ("User left for Rome", "User left Rome"),
    ("API keys are stored in Vault", "API keys should be stored in Vault"),
    ("Ben said that Anna is moving", "Anna is moving"),
    ("According to Ben, Anna is moving", "Anna is moving"),
    ("User pays monthly", "User is paid monthly"),
    ("User's parents are divorced", "User's parents are getting divorced"),
    ("Line 5 runs every ten minutes", "Line 5 runs for ten minutes"),
    ("User sings for the choir", "User sings to the choir"),
    ("User plays chess", "User is a chess coach"),
]
AGREE = [
    ("User enjoys tea", "Likes tea"),
    ("User lives in Berlin", "The user's home is in Berlin"),
    ("Use TypeScript strict mode", "TypeScript strict mode should be used"),
    ("We use pnpm", "We should use pnpm"),
    ("Meeting on Mondays", "Meeting at Mondays"),
    ("Works with Docker", "Works using Docker"),
    ("Married to Paul", "User is married to Paul"),
    ("Paid 3 bills", "Paid 4 bills"),  # figures are compared as facts
    ("The colour is blue", "The color is blue"),
    ("User said that Anna is moving", "Anna is moving"),
    ("Anna reports to Ben", "Reports to Ben"),
    ("Dental claims arrive twice", "Claims arrive twice"),
    ("Prefers lists for tracking tasks", "Prefers lists to track tasks"),
    ("Hates being called early", "Hates to be called early"),
    ("Goran plays chess", "Goran is a chess player"),
    ("We have about 400 games", "We have around 400 games"),
    ("Brews porridge in the big copper kettle", "The coach left early because of heavy snow"),
    ("", "Anything"),
]


@pytest.mark.parametrize(("a", "b"), DIFFER)
def test_words_that_tell_different_things_are_named_whichever_text_comes_first(a, b):
    assert exchanged(a, b)
    assert exchanged(b, a) == exchanged(a, b)[::-1]


@pytest.mark.parametrize(("a", "b"), AGREE)
def test_words_that_may_stand_for_each_other_are_passed_over(a, b):
    assert exchanged(a, b) == exchanged(b, a) == ()
