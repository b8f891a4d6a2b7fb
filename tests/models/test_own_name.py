"""The user's own name: read as "the user" where it surely is, and nowhere once it may be somebody else's."""

import pytest
from mem0_dream.models.own_name import as_user, name_in, only_own

OWN = {
    "Ines wants short answers.": "The user wants short answers.",
    "Ines's sister lives in Porto.": "The user's sister lives in Porto.",
    "Ines' sister lives in Porto.": "The user's sister lives in Porto.",
    "Ines and Tom share a flat.": "The user and Tom share a flat.",
    "When Ines is tired, Ines drinks tea.": "When the user is tired, the user drinks tea.",
    "Anna reports to Ines.": "Anna reports to the user.",
    "Anna told Ines about it.": "Anna told the user about it.",
    "The flat belongs to Ines.": "The flat belongs to the user.",
    "Medical alert: Ines is diabetic.": "Medical alert: the user is diabetic.",
    "Beatriz is Ines's daughter.": "Beatriz is Ines's daughter.",
    "Always ask before mailing on Ines's behalf.": "Always ask before mailing on Ines's behalf.",
    "If asked what coffee to get Ines, flat white.": "If asked what coffee to get Ines, flat white.",
    "[PINNED] Ask under Ines's name only.": "[PINNED] Ask under Ines's name only.",
    "Invoices over 90 need Ines's approval.": "Invoices over 90 need Ines's approval.",
    "Always greet Ines by name.": "Always greet Ines by name.",
    "User Ines likes tea.": "User Ines likes tea.",
    "Name is Ines.": "Name is Ines.",
    "User's name is Ines.": "User's name is Ines.",
    "Prefers to be called Ines.": "Prefers to be called Ines.",
    "Ines Weber is a nurse.": "Ines Weber is a nurse.",
    "Mail goes to ines@x.org, Ines.md or @Ines.": "Mail goes to ines@x.org, Ines.md or @Ines.",
}
OTHERS = (
    "Met Ines at work.", "User's sister is Ines.", "User's sister Ines lives in Rome.", "Reports to Ines.",
    "Has a sister named Ines.", "Has a parrot called Ines", "New colleague Ines owns the queue.",
    "Ines is her cousin.", "Ines, a colleague, left.", "Sister: Ines, vet in Gdynia", "The new hire is Ines.",
    "There is another Ines in the team.", "Married to Ines.", "Friends with Ines", "User knows Ines.", "Met Ines Weber.", "The new hire is Ines Weber.",
    "Dr. Ines is ill.", "The dog answers to Ines", "Two Iness met", "Ines and the user share a car", "User thinks Ines should rest",
    "Lunch with Ines every Monday", "Ines from accounting left", "Ines, who lives above, sings", "Kids: Ines and Leo",
    "Children are Leo and Ines", "Has two kids, Tom (4) and Ines", "Ines = mentor", "Thinks Ines is too strict", "Likes Ines's cooking",
    "Little Ines sings", "Godchild Ines sings", "Ines senior sings", "User borrowed Ines's tent", "The server ines runs Debian", "Hurricane Ines flooded the cellar",
)  # fmt: skip


@pytest.mark.parametrize(
    ("identity", "name"),
    [
        ("ines", "Ines"),
        ("Alice.Smith", "Alice"),
        ("anna_k", "Anna"),
        ("maria@x.org", "Maria"),
        ("Łukasz", "Łukasz"),
        *((word, "") for word in ("will", "mark", "rose", "default", "u123", "a1", "k", "o'brien", "")),
    ],
)
def test_an_id_that_is_a_name_and_no_other_word_names_the_user(identity, name):
    assert name_in(identity) == name


@pytest.mark.parametrize(("text", "judged"), OWN.items())
def test_the_own_name_is_the_user(text, judged):
    assert as_user(text, "Ines") == judged
    assert only_own("Ines", [text])


@pytest.mark.parametrize("text", OTHERS)
def test_one_memory_of_somebody_else_of_that_name_ends_it(text):
    assert not only_own("Ines", ["Ines likes tea.", text])


def test_a_text_that_says_user_names_somebody_else():
    assert as_user("Ines met the user.", "Ines") == "Ines met the user."
    assert as_user("Ines likes tea.", "") == "Ines likes tea."
