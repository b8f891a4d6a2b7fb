"""Training examples: certain relations only, mirrored, and composed as their labels say."""

import gzip
import random
from pathlib import Path

import numpy as np
import pytest
from mem0_dream.scripts.train import curve, edits, examples, progress, sets


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


def test_a_family_gives_its_certain_pairs_and_letters_say_what_only_they_know() -> None:
    columns = examples.TABLE["sets"]["families"]["columns"]
    family = dict(zip(columns, [*columns[:-1], "cd"], strict=True))
    told = [(a, b, relation) for a, b, _, relation in sets.relations_of(family, "families")]
    assert len(told) == len(set(told)) == 6 + 5 + 4 + 8 + 5 + 15
    assert ("same2", "bind", "contradiction") in told
    assert ("same2", "near", "other") in told
    assert ("more", "part", "a_has_more") in told
    both = sets.set_examples([family], "families")
    assert len(both) == 2 * len(told)
    assert {one.memory for one in both if "near" in (one.a, one.b)} == {(0, 1, 1)}


@pytest.mark.parametrize("folder", sets.FOLDERS)
def test_every_pair_of_a_set_names_columns_and_relations_that_exist(folder: str) -> None:
    columns = examples.TABLE["sets"][folder]["columns"]
    lettered = examples.TABLE["sets"][folder].get("lettered", ())
    one = sets.as_set(
        "\t".join(["c" * len(lettered) if name == "labels" else name for name in columns]), folder
    )
    pairs = list(sets.relations_of(one, folder))
    assert pairs
    assert {relation for *_, relation in pairs} <= set(examples.RELATIONS)
    with pytest.raises(ValueError, match="argument"):
        sets.as_set("a\tb", folder)


def test_a_share_of_the_sets_is_kept_and_is_always_the_same() -> None:
    facts = [f"User has {number} cats." for number in range(1_200)]
    assert 60 < sum(map(sets.kept_out, facts)) < 140


def test_what_is_found_is_above_all_but_one_in_a_hundred_others() -> None:
    score = np.array([0.9, 0.8, 0.7, 0.2])
    assert curve.found_at(score, np.array([True, True, False, True])) == pytest.approx(2 / 3)
    assert np.isnan(curve.found_at(score, np.ones(4, dtype=bool)))


def test_kept_progress_is_close_to_what_was_learnt_and_leaves_the_rest_to_the_bit() -> None:
    import torch

    torch.manual_seed(1)
    first = {"a": torch.randn(5, 130), "b": torch.randn(7), "frozen": torch.randn(4, 4)}
    now = {"a": first["a"] + 0.01 * torch.randn(5, 130), "b": first["b"] + 0.01, "frozen": first["frozen"]}
    kept = progress.differences(first, now)
    again = progress.added(first, kept)
    assert kept.keys() == {"a", "a" + progress.SCALE, "b"}
    assert torch.equal(again["frozen"], first["frozen"])
    assert torch.allclose(again["b"], now["b"], atol=1e-6)
    error = (again["a"] - now["a"]).norm() / (now["a"] - first["a"]).norm()
    assert error < 0.15
