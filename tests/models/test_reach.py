import pytest
from mem0_dream.models.doubts import misplaced, of_another

MISPLACED = [
    ("Only Ana fixes old bikes", "Ana fixes only old bikes"),
    ("Old bikes are fixed by nobody but Ana", "Ana fixes only old bikes"),
    ("Fire is insured, theft is not", "The policy covers theft, with no cover for fire"),
    ("The attic is heated, the cellar isn't", "The cellar is heated; the attic isn't heated"),
    ("Logins are written as name.town", "Logins look like town.name"),
    ("Copies /data/a to b->c", "Copies /data/a to c->b"),
    ("Takes aspirin for headaches", "Gets headaches from aspirin"),
    ("User is the oldest of three sisters", "User has three older sisters"),
]
PLACED = [
    ("Only admins and editors may post", "Only editors and admins may post"),
    ("User only drinks tea", "User drinks only tea"),
    ("She swims only on Sundays", "Only on Sundays she swims"),
    ("User eats fish but no meat", "User doesn't eat meat but eats fish"),
    ("Use pnpm, never npm", "Never npm; use pnpm"),
    ("No commit without a test", "Commits without tests are not made"),
    ("Logs go to var/log", "Logs are kept in var/log"),
    ("Has a visa for India from 2024", "Visa for India since 2024"),
    ("The oldest of three sisters", "Is older than three sisters, the oldest"),
]
OF_ANOTHER = [
    ("The mill has 312 employees", "The mill has 312 parking spaces"),
    ("The choir has 24 members", "24 concerts a year by the choir"),
    ("Lives in Oslo", "His dentist lives in Oslo too"),
    ("User sings in a choir", "User's neighbour sings in a choir"),
    ("User is afraid of dogs", "User's dog is afraid"),
]
OF_THE_SAME = [
    ("The mill has 312 employees", "The mill employs 312 people"),
    ("Filters have a mesh of 20 mm", "Mesh of the filters: 20 millimetres"),
    ("Sings in a choir", "User sings in a choir"),
    ("Works for Acme", "User's name is Ida and she works for Acme"),
    ("Lives in Oslo", "His flat is in Oslo"),
]


@pytest.mark.parametrize(
    ("rule", "pairs", "found"),
    [
        (misplaced, MISPLACED, True),
        (misplaced, PLACED, False),
        (of_another, OF_ANOTHER, True),
        (of_another, OF_THE_SAME, False),
    ],
)
def test_a_word_that_belongs_to_something_else_is_found_from_either_side(rule, pairs, found):
    for a, b in pairs:
        assert bool(rule(a, b)) is found, (a, b)
        assert rule(b, a) == rule(a, b)[::-1]
