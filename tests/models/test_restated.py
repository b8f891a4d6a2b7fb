import pytest
from mem0_dream.models.restated import restated
from mem0_dream.models.same_statement import same_statement

SAME = [
    ("Elin recommended Oskar to the firm", "Oskar was recommended to the firm by Elin"),
    ("Lena manages Aaron's team", "Aaron's team is managed by Lena"),
    ("User reports to Priya", "Priya is the user's manager"),
    ("Joel borrowed the ladder from me", "I lent Joel the ladder"),
    ("Sold the kayak to the neighbour", "The neighbour bought the kayak from the user"),
    ("Arjun beat Stefan at chess", "Stefan lost to Arjun at chess"),
    ("Omar is married to Leila", "Leila is married to Omar"),
    ("Ivo is Maja's landlord", "Maja is Ivo's tenant"),
    ("Anna is the user's dentist", "The user's dentist is Anna"),
    ("It was Hakim who drove Noor to the airport", "Hakim drove Noor to the airport"),
    ("In Porto the user met Rita in 2019", "The user met Rita in Porto in 2019"),
    ("Run the linter before the tests", "Run the tests after the linter"),
    ("Vito is older than Damir", "Damir is younger than Vito"),
    ("Emma's flight arrives after Theo's", "Theo's flight arrives before Emma's"),
    ("Staging is on port 8081 and production on 9443", "Production is on port 9443 and staging on 8081"),
    ("Green bin for glass, blue bin for paper", "Blue bin for paper, green bin for glass"),
    ("User and Ben share a car", "Ben and the user share a car"),
    ("Pickles, Olive and Juno are the three cats", "Has three cats: Olive, Juno and Pickles"),
    ("eu-north-1, us-east-1 = supported regions", "Supported regions: us-east-1, eu-north-1"),
    ("Anna wrote the report", "The report was written by Anna"),
    ("Rex bit Tom", "Tom was bitten by Rex"),
    ("Lena ran the workshop", "The workshop was run by Lena"),
    ("Anna has drawn the map", "The map has been drawn by Anna"),
]
OTHER = [
    ("Anna wrote the report", "The report is written by Anna"),
    ("Rex bit Tom", "Rex was bitten by Tom"),
    ("Ivo found the drill bit", "The drill bit was hidden by Ivo"),
    ("Elin recommended Oskar to the firm", "Oskar recommended Elin to the firm"),
    ("Lena managed Aaron's team", "Aaron's team is managed by Lena"),
    ("Ana recommended the firm to Oskar", "Oskar was recommended to the firm by Ana"),
    ("User reports to Priya", "Priya reports to the user"),
    ("Ivo is Maja's landlord", "Maja is Ivo's landlord"),
    ("Ivo is Maja's uncle", "Maja is Ivo's aunt"),
    ("Evelia's cousin's teacher restored harps", "Evelia's teacher's cousin restored harps"),
    ("Run the linter before the tests", "Run the tests before the linter"),
    ("Vito is older than Damir", "Vito is younger than Damir"),
    ("Ana cooks rice and Ben eats fish", "Ben cooks rice and Ana eats fish"),
    ("Rent is 900 and the deposit 1,800", "Rent is 1,800 and the deposit 900"),
    ("Cai Feng had a son, Cai Mao", "Cai Mao had a son, Cai Feng"),
    ("Wanda is a cook married to Otto, a judge", "Wanda is a judge married to Otto, a cook"),
    ("Ana cooks and Ben paints and sings", "Ben paints and Ana cooks and sings"),
    ("Dogs are not allowed by the landlord", "The landlord allows dogs"),
    ("User has repainted the hall", "The hall has been repainted"),
    ("The staging port is 8081", "8082 is the staging port"),
]


@pytest.mark.parametrize(("a", "b"), SAME)
def test_a_statement_told_from_another_side_is_one_statement(a, b):
    assert restated(a, b)
    assert restated(a, b) == restated(b, a)
    assert same_statement(a, b)
    assert same_statement(b, a)


@pytest.mark.parametrize(("a", "b"), OTHER)
def test_the_same_words_bound_otherwise_are_not(a, b):
    assert restated(a, b) is None
    assert restated(b, a) is None
    assert not same_statement(a, b)
