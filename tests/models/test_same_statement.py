"""What is one statement by its words alone, and what never is."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mem0_dream.models.same_statement import same_statement, sameness, slip_in, statement_key
from mem0_dream.models.text.vocabulary import is_word

SAME = """
User runs the 5 km loop on Tuesdays. | - runs 5000 m loop on Tuesday
Tag releases as vMAJOR.MINOR.PATCH. | Tag the releases as vMAJOR.MINOR.PATCH.
Is alergic to nuts | Is allergic to nuts
User is allergic to penicillin | **User** is allergic to `penicillin` 🎉
Meeting at 5 pm | The meeting at 17:00!
Speaks French and German | speaks German & French.
Likes tea. Likes tea. | likes tea
User doesn't eat meat | Does not eat meat
Growth is 20% | growth is 20 percent
Remember that the user has two cats | Has 2 cats
Note: CI runs on GitHub Actions & Jenkins | CI runs on github actions and jenkins
Due on March 12, 2025 | Due on 12 March 2025
Currently works at Acme | works at Acme
Takes about 20 mg of lisinopril | takes roughly 20 mg of lisinopril
Run `make test` before pushing | Run make test before pushing
It's been raining | It has been raining
Prefers tabs over spaces | Prefers tabs to spaces
Likes apples, pears, and plums | Likes plums, apples and pears
Shop open Mon-Fri 9-17 | shop open Mon – Fri 9–17
USER LIVES IN LISBON | User lives in Lisbon
Takes "vitamin D" | Takes vitamin D
Runs six times a week | Runs 6 times a week
"""

OTHER = """
Uses v1.8 | Uses v1.9
Pass -t | Pass -T
User can swim | User cant swim
Met Jan | Met Jon
Fill the form | Fill the from
Talked to marla | Talked to maria
Takes pills every morning | Takes pills every evening
Backup runs daily | Backup runs nightly
Moves from Oslo to Bergen | Moves from Bergen to Oslo
Tests are flaky | Some tests are flaky
Has a few friends | Has few friends
Lives in the US | Lives in us
Takes vitamin A | Takes vitamin
Likes dark chocolate and wine | Likes dark wine and chocolate
Coffee with no sugar and milk | Coffee with no milk and sugar
Tea and coffee with milk | Coffee and tea with milk
Uses nitrates | Uses nitrites
Patient is asymptomatic | Patient is symptomatic
3. Oktober ist frei | 4. Oktober ist frei
export PATH | export path
10² m | 102 m
Likes tea? | Likes tea
[PINNED] Be kind. | Be kind.
- [ ] call mum | - [x] call mum
~~uses npm~~ | uses npm
User's dog is ill | User is ill
User sessions are long | Are long
git add . | git add
Costs 5 | Costs -5
Costs <5 | Costs 5
Due 12 to 15 March | Due 12 and 15 March
One person in five | One user in five
Starts early-March | Starts late-March
Not really tired | Not tired
Writes "25" not "twenty-five" | Writes "twenty-five" not "25"
see src/Foo | see src/foo
bucket a1B | bucket A1B
Uses C | Uses C++
Du hasst Katzen | Du hast Katzen
"""


def _pairs(table: str) -> list[list[str]]:
    return [[text.strip() for text in line.split(" | ")] for line in table.strip().splitlines()]


@pytest.mark.parametrize(("a", "b"), _pairs(SAME))
def test_what_is_only_written_differently_is_one_statement(a, b):
    assert same_statement(a, b)
    assert same_statement(b, a)


@pytest.mark.parametrize(("a", "b"), _pairs(OTHER))
def test_where_a_letter_is_the_fact_nothing_is_left_out(a, b):
    assert not same_statement(a, b)
    assert not same_statement(b, a)


def test_the_reason_names_what_differs():
    assert sameness("Tag releases", "Tag the releases.") == "- / the"
    assert sameness("Is alergic to nuts", "Is allergic to nuts") == "alergic / allergic"
    assert sameness("Likes tea", "likes tea.") == "the same words; only marks, case or order differ"


def test_guards_have_the_last_word():
    days = [datetime(2025, 1, day, tzinfo=UTC) for day in (3, 9)]
    assert sameness("Met Ben yesterday", "- Met Ben yesterday", a_date=days[0], b_date=days[0])
    assert not sameness("Met the Ben yesterday", "Met Ben yesterday", a_date=days[0], b_date=days[1])


@given(st.text(st.characters(codec="utf-8"), max_size=40), st.text(st.characters(codec="utf-8"), max_size=40))
def test_it_is_symmetric_and_every_text_is_itself(a, b):
    assert same_statement(a, b) == same_statement(b, a)
    assert same_statement(a, a)
    assert isinstance(statement_key(a), str)


def test_a_slip_is_one_edit_of_a_word_that_is_none():
    assert slip_in("Sails wiht Ana", "Sails with Ana") == ("wiht", "with")
    assert slip_in("Two sllips in htis", "Two slips in this") is None
    assert slip_in("Call `alergic`", "Call allergic") is None
    assert [is_word(word) for word in ("allergies", "stopped", "Ärger".casefold(), "alergic")] == [
        True, True, False, False,
    ]  # fmt: skip
