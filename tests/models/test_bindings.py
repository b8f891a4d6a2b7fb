import pytest
from mem0_dream.models.bindings import BINDING_NAMES, binding_evidence, binding_row, relation
from mem0_dream.models.stance import stance_evidence

EXCHANGED = [
    ("User owes Tom money", "Tom owes the user money"),
    ("User reports to Priya", "Priya is the user's subordinate"),
    ("User reports to Anna", "Anna reports to the user"),
    ("Reports to Anna", "Anna reports to me"),
    ("Anna manages the user", "Anna reports to the user"),
    ("Letters drafted in French with a Persian summary", "Letters drafted in Persian with a French summary"),
    ("The edges are trimmed before the spine is glued", "The spine is glued before the edges are trimmed"),
    ("Moved from Chapel Hill to New York", "Moved from New York to Chapel Hill"),
    ("Goatskin from Tunis on the spine, paper from Fabriano on the sides",
     "Paper from Fabriano on the spine, goatskin from Tunis on the sides"),
    ("Prefers tea to coffee", "Prefers coffee to tea"),
    ("Vito is older than Damir", "Damir is older than Vito"),
    ("Vito is older than Damir", "Vito is younger than Damir"),
    ("Ana sold the cart to Leo", "The cart was sold to Ana by Leo"),
    ("User borrowed Sana's tent", "Sana borrowed the user's tent"),
    ("Phone is an iPhone 15", "Phone is an iPhone 15 Pro"),
    ("User has a bird", "User has a bird feeder"),
    ("Lives in Utrecht", "Lives near Utrecht"),
]  # fmt: skip
AGREEING = [
    ("User reports to Priya", "Priya is the user's manager"),
    ("Anna manages the user", "User reports to Anna"),
    ("User owes Tom 40 euros", "Tom is owed 40 euros by the user"),
    ("Likes tea, coffee and cake", "Likes cake, coffee and tea"),
    ("The spine is glued before the edges are trimmed", "The edges are trimmed after the spine is glued"),
    ("Vito is older than Damir", "Damir is younger than Vito"),
    ("Goatskin from Tunis on the spine, paper from Fabriano on the sides",
     "Paper from Fabriano on the sides, goatskin from Tunis on the spine"),
    ("Ana sold the cart to Leo", "Leo bought the cart from Ana"),
    ("Plays sueca at the café on Thursday evenings", "On Thursday evenings he plays sueca at the café"),
    ("The deadline of the project is in May", "The project deadline is in May"),
    ("Omar is married to Leila", "Leila is married to Omar"),
    ("The bakery is next to the school", "The school is next to the bakery"),
    ("Anna shares a car with Ben", "Ben shares a car with Anna"),
    ("User is friends with Ben", "Ben is a friend of the user"),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), EXCHANGED)
def test_the_same_words_in_each_others_places_are_no_merge(a, b):
    assert binding_evidence(a, b)
    assert {each.kind for each in binding_evidence(a, b)} == {each.kind for each in binding_evidence(b, a)}


@pytest.mark.parametrize(("a", "b"), AGREEING)
def test_places_that_are_shown_to_agree_leave_a_merge_alone(a, b):
    assert not binding_evidence(a, b)


@pytest.mark.parametrize(
    ("kind", "a", "b"),
    [
        ("stage", "User is trying to quit smoking", "User quit smoking"),
        ("stage", "User is about to become a father", "User is a father"),
        ("stage", "Team wants to migrate to Postgres", "Migration to Postgres is done"),
        ("stage", "Was offered the night shift", "Works the night shift"),
        ("past", "Former vegetarian", "Is a vegetarian"),
        ("hedge", "User's doctor suspects diabetes", "User has diabetes"),
        ("hedge", "User thinks she is allergic to penicillin", "User is allergic to penicillin"),
        ("extent", "Tests are flaky", "Some tests are flaky"),
        ("extent", "Reviews take two days at most", "Reviews take at least two days"),
        ("extent", "Has one sister", "Has at least one sister"),
        ("extent", "The limit is 5 requests", "The limit is more than 5 requests"),
        ("extent", "Sleeps 7 hours", "Sleeps under 7 hours"),
        ("extent", "Eats fish", "Eats just fish"),
        ("stage", "User needs to book the ferry", "User has finished booking the ferry"),
    ],
)
def test_one_thing_at_two_stages_is_no_duplicate(kind, a, b):
    assert kind in {each.kind for each in stance_evidence(a, b)}
    assert kind in {each.kind for each in stance_evidence(b, a)}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("User wants to learn Turkish", "Learning Turkish is something Tamaz would like to do"),
        ("Plans to hire an apprentice", "Hiring an apprentice is Yayra's plan"),
        ("User is switching from VS Code to Neovim", "Switching from VS Code to Neovim"),
        ("Some 40 people came", "About 40 people came"),
        ("A lesson lasts at most 40 minutes", "Lessons stop after 40 minutes at the latest"),
        ("Board meeting is scheduled for 15 February", "Board meeting on 15 February"),
        ("User got promoted to head baker", "Just got promoted to head baker"),
        ("Prefers examples to long texts", "Prefers examples, not just long texts"),
        ("Only the verger may ring the bell", "Ringing the bell is reserved for the verger"),
        ("Is considering the Ghent job", "Thinking of the Ghent job, might take it"),
        ("Plans to set up a vault", "Needs to set up a vault"),
    ],
)
def test_one_stage_in_other_words_is_no_difference(a, b):
    assert not stance_evidence(a, b)


def test_a_row_has_one_number_for_each_name():
    row = binding_row("Anna manages Ben", "Ben reports to Anna, in Oslo")
    assert len(row) == len(BINDING_NAMES)
    assert dict(zip(BINDING_NAMES, row, strict=True))["unsaid_long"] == 1.0


def test_swapping_the_texts_swaps_what_each_leaves_unsaid():
    there, back = (
        relation(*pair) for pair in (("Has a dog", "Has a beagle, Rex"), ("Has a beagle, Rex", "Has a dog"))
    )
    assert there.unsaid == back.unsaid[::-1]
    assert there.said == back.said[::-1]


@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        ("Anna reports to Ben", "Ben reports to Anna", False),
        ("Red lanterns go before white lanterns", "White lanterns go before red lanterns", False),
        ("The otter swims faster than the mink", "The mink swims faster than the otter", False),
        ("The otter swims faster than the mink", "The mink swims more slowly than the otter", True),
        ("Apples are picked before pears", "Pears bloom before apples", True),
        ("The string supplier owes us 600 pesos", "We owe the case supplier 600 pesos", True),
        (
            "Star S7 is watched after midnight and comet C2 before midnight",
            "Before midnight we watch comet C2, after midnight star S7",
            True,
        ),
    ],
)
def test_sides_exclude_each_other_only_where_nothing_else_is_said_of_them(a, b, both):
    assert relation(a, b).excludes is not both
