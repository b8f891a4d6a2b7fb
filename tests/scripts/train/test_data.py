"""Training examples: certain relations only, mirrored, and composed as their labels say."""

import gzip
import random
from pathlib import Path

import pytest
from mem0_dream.scripts.train import edits, examples


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311


DATA = examples.DATA


def test_both_orders_mirror_the_direction_of_entailment() -> None:
    forward, backward = examples.both_orders("more", "less", "a_has_more")
    assert (forward.a, forward.entailment, forward.memory) == ("more", (1, 0, 0), examples.DUPLICATE)
    assert (backward.a, backward.entailment, backward.memory) == ("less", (0, 1, 0), forward.memory)


def test_sets_give_their_certain_pairs_in_both_orders() -> None:
    group = examples.read_short(DATA / "contrast_short.jsonl")[:1]
    labels = [example.memory for example in examples.set_pairs(group)]
    of = (examples.DUPLICATE, examples.CONTRADICTION, examples.DISTINCT)
    assert [labels.count(label) for label in of] == [6, 12, 12]
    assert sum(1 for _ in examples.compound_pairs(DATA / "contrast_compound.jsonl")) % 48 == 0
    assert len(list(examples.set_pairs(examples.read_minimal(DATA / "minimal.txt")))) % 10 == 0


def test_composed_pairs_are_reproducible_and_joined_facts_are_all_there() -> None:
    sets = examples.read_short(DATA / "contrast_short.jsonl")[:20]
    first, again, other = (list(examples.composed_pairs(sets, seed=seed)) for seed in (1, 1, 2))
    assert first == again != other
    texts = [examples.join(["Rex is a dog.", "Mia sings."], seeded(seed)) for seed in range(12)]
    assert all("Rex is a dog" in text and "Mia sings" in text for text in texts)


def test_stories_use_the_later_state_only_where_asked(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text(
        "# Ada | she\n- @ lives in Rome | Rome\n> @ lives in Oslo | Oslo\n", encoding="utf-8"
    )
    (story,) = examples.read_stories(tmp_path / "s.txt")
    facts = [("@ lives in Rome", "Rome"), ("@ lives in Oslo", "Oslo")]
    assert story == examples.Story("Ada", "she", [[*facts]])
    assert "Rome" in examples.render(story, [0], [False], seeded(0))
    assert "Oslo" in examples.render(story, [0], [True], seeded(0))


def test_story_pairs_leave_no_placeholder() -> None:
    for example in examples.story_pairs(examples.read_stories(DATA / "stories.txt"), seed=5):
        assert not {"@", "%s", "%o", "%r"} & set(example.a.replace("%s", " %s ").split())
        assert "\0" not in example.a


def test_general_pairs_keep_what_their_label_allows(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "t.tsv.gz", "wt", encoding="utf-8") as file:
        file.write("kind\tlabel\ta\tb\tsource\tlicence\ne_ne\tne\tx\ty\thans_regen\tMIT\n")
    assert examples.read_nli(tmp_path / "t.tsv.gz", seed=1)[0].entailment == (0, 1, 1)


def test_a_pronoun_takes_the_case_of_its_place() -> None:
    moved, form = ("@ moved", "Moved"), ("the form is for @ and @'s son", "Form")
    story = examples.Story("Ana", "she", [[moved], [form]])
    texts = {examples.render(story, [0, 1], [False, False], seeded(seed)) for seed in range(60)}
    assert any("for her and her son" in text for text in texts)
    assert not any("for she" in text for text in texts)


def test_constructions_say_the_same_unless_two_are_exchanged() -> None:
    leads = edits.Relation("contradiction", (["Ann", "Bo"], []), ["{a} leads {b}", "{b} is led by {a}"])
    pairs = list(edits.constructed_pairs([leads], seed=1, count=200))
    led = {"Ann leads Bo": "Ann", "Bo is led by Ann": "Ann", "Bo leads Ann": "Bo", "Ann is led by Bo": "Bo"}

    def leader(text: str) -> str:
        return next(who for said, who in led.items() if said in text)

    for pair in pairs:
        assert pair.memory == (
            examples.DUPLICATE if leader(pair.a) == leader(pair.b) else examples.CONTRADICTION
        )
    assert {pair.memory for pair in pairs} == {examples.DUPLICATE, examples.CONTRADICTION}


def test_a_line_of_another_shape_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("# Ada | she\n+ oops\n", encoding="utf-8")
    with pytest.raises(ValueError, match="oops"):
        examples.read_stories(tmp_path / "s.txt")


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("User works late because the train is slow.", {"Because the train is slow, the user works late."}),
        ("Anna is the user's dentist.", {"The user's dentist is Anna.", "The user's dentist is called Anna."}),
        ("User has been vegan since 2022.",
         {"Since 2022, the user has been vegan.", "It is since 2022 that the user has been vegan."}),
        ("Bo bakes bread and rides to work.", {"Bo rides to work and bakes bread."}),
        ("Do not log player ids in clear.", {None}),
    ],
)  # fmt: skip
def test_a_restatement_moves_what_it_says(text: str, forms: set[str | None]) -> None:
    assert {edits.restated(text, edits.PATTERNS, seeded(seed)) for seed in range(20)} == forms


def test_a_restatement_comes_with_its_exchange() -> None:
    told = [
        pair.memory
        for pair in edits.restated_pairs(
            [["User ran home for 5 km on Monday."]], edits.PATTERNS, seed=2, count=1
        )
    ]
    assert told == [examples.DUPLICATE, (0, 1, 1)]
