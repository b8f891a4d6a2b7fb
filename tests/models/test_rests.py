"""What is kept of a text that loses a conflict, and which of its values are no longer held."""

import pytest
from hypothesis import given, strategies as st
from mem0_dream.models.guards import missing
from mem0_dream.models.rests import old_values, rest_of
from mem0_dream.models.text.words import significant_words

STACK = "The shop's tech stack is React, FastAPI and Postgres."
LATE = "K8s is at 1.24 on bare metal. Costs are $3K."


def denied(*words: str):
    """Statements that name one of these words are denied."""
    return lambda part: float(any(word in part for word in words))


@pytest.mark.parametrize(
    ("lost", "held", "about", "rest", "old"),
    [
        (STACK, "The database moved from Postgres to MySQL.", "", "The shop's tech stack is React and FastAPI.", ["Postgres"]),
        (STACK, "The shop uses MySQL instead of Postgres.", "", "The shop's tech stack is React and FastAPI.", ["Postgres"]),
        ("Uses Redis, Kafka.", "Kafka is gone, RabbitMQ took its place.", "", "Uses Redis.", []),
        ("User works at Acme and lives in Porto.", "User works at Globex.", "Acme", "User lives in Porto.", ["Acme"]),
        ("Lives in Porto. Has 2 cats.", "Lives in Faro.", "Porto", "Has 2 cats.", ["Porto"]),
        # what is denied is not what sounds most alike, and what leans on it goes with it
        (f"{LATE} Plans to move to EKS.", "Plans to move to EKS, and K8s is at 1.28.", "1.24", "Costs are $3K.", ["1.24"]),
        ("Scored 42% on Swahili. This is a start. Ana helps.", "Ben scored 58%.", "42%", "Ana helps.", ["42%"]),
        ("Ana lives in Porto.", "User lives in Faro.", "", "", ["Porto"]),
        ("Is based in New York City.", "Is based in San Francisco.", "", "", ["New York City"]),
        ("Uses VS Code.", "Uses Neovim, having moved from VS Code.", "", "", ["VS Code"]),
        # nothing shows which part of it is denied
        (STACK, "The stack is Vue, Django and MySQL.", "", "", ["React", "FastAPI", "Postgres"]),
        ("Lives in Porto. Has 2 cats.", "Lives in Faro.", "?", "", ["Porto"]),
        ("Lives in Porto near the river.", "Lives in Faro near the river.", "", "", ["Porto"]),
        ("Likes tea.", "Never drinks tea.", "", "", []),
        # said by what holds, too
        ("Lives in Porto. Has 2 cats.", "Lives in Faro. Has 2 cats.", "Porto", "", ["Porto"]),
    ],
)  # fmt: skip
def test_what_only_the_loser_says_is_kept_and_what_is_denied_is_not(lost, held, about, rest, old):
    assert rest_of(lost, held, denied(about)) == rest
    assert [value for _, value in old_values(lost, held, rest)] == old


SAID = st.sampled_from(
    ["Lives in Porto.", "Has 2 cats.", "Works at Acme and walks to work.", STACK, "Rex barks.", "It is red."]
)


@given(
    st.lists(SAID, min_size=1, max_size=4, unique=True), SAID, st.sampled_from(["Porto", "2", "Acme", "?"])
)
def test_the_rest_is_made_of_the_loser_and_is_less_than_it(said, held, about):
    lost = " ".join(said)
    rest = rest_of(lost, held, denied(about))
    assert significant_words(rest) <= significant_words(lost)
    assert len(rest) < len(lost) or rest == ""
    assert about not in rest
    assert not [item for item in missing([rest], lost) if item.kind != "negation"]
