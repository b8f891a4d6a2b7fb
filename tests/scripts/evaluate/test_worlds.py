"""Worlds: reading them, what their blocks make certain, and the training pairs drawn from them."""

import numpy as np
import pytest
from mem0_dream.errors import UsageError
from mem0_dream.scripts.evaluate.labelled import held_out, label, labelled_pairs, read_files, read_worlds
from mem0_dream.scripts.train.examples import CONTRADICTION, DISTINCT, DUPLICATE, world_examples

TEXT = """\
# ana | memory of a nurse | short facts
- [home] 2026-01-04 Lives in Porto.
  = 2026-02-11 Her home is Porto. {client: Ana Lima; source: call}
  ~ 2026-03-02 Her brother lives in Porto.
  ! 2026-06-20 Moved to Faro in June.
- [pets] 2026-01-05 Has a cat.
# ben | memory of a baker | short facts
- [work] 2026-01-04 Bakes rye bread.
"""


@pytest.fixture
def worlds(tmp_path):
    (tmp_path / "w1_test.txt").write_text(TEXT, encoding="utf-8")
    return read_worlds(tmp_path)


def test_blocks_and_worlds_are_told_apart_and_an_unnamed_subject_is_put_in_front(worlds):
    ana, ben = worlds
    assert (ana.name, ana.style, len(ana.lines), len(ben.lines)) == ("ana", "w1_test", 5, 1)
    assert [line.block for line in ana.lines] == [1, 1, 1, 1, 2]
    assert {line.category for line in ana.lines[:4]} == {"home"}
    line = ana.lines[1]
    assert (line.subjects, line.judged) == ({"client": "Ana Lima"}, "Ana Lima: Her home is Porto.")


def test_only_what_a_block_makes_certain_is_labelled(worlds):
    lines = worlds[0].lines
    stated, same, beside, against, other = lines
    assert [label(stated, x) for x in (same, beside, against, other)] == [0, 2, 1, 2]
    assert (label(same, against), label(same, beside)) == (1, 2)
    assert label(beside, against) == -1
    assert len(list(labelled_pairs(worlds[0]))) == 9


def test_one_world_in_five_of_each_style_is_kept_from_training(tmp_path):
    for style in ("w1_a", "w2_b"):
        text = "".join(f"# {style}{n} | x | y\n- [c] 2026-01-01 Fact {n}.\n" for n in range(10))
        (tmp_path / f"{style}.txt").write_text(text, encoding="utf-8")
    train, held = held_out(read_worlds(tmp_path))
    assert [world.style for world in held] == ["w1_a"] * 2 + ["w2_b"] * 2
    assert not {world.name for world in train} & {world.name for world in held}


def test_training_pairs_hold_both_orders_of_a_block_and_what_lies_near_it(worlds):
    examples = world_examples(worlds[:1], lambda texts: np.eye(len(texts), dtype=np.float32), seed=1)
    found = {(one.a, one.b): one.memory for one in examples}
    assert found["Lives in Porto.", "Ana Lima: Her home is Porto."] == DUPLICATE
    assert found["Ana Lima: Her home is Porto.", "Lives in Porto."] == DUPLICATE
    assert found["Lives in Porto.", "Moved to Faro in June."] == CONTRADICTION
    assert {memory for pair, memory in found.items() if "Has a cat." in pair} == {DISTINCT}


def test_a_world_is_read_as_a_store_whose_contradictions_have_two_sides(tmp_path):
    path = tmp_path / "w1_test.txt"
    path.write_text(TEXT, encoding="utf-8")
    _, (ana, _) = read_files([path])
    assert ana.name == "w1_test/ana"
    assert [memory.id for memory in ana.inventory.memories] == ["0000", "0001", "0002", "0003", "0004"]
    assert ana.inventory.memories[1].metadata == {"client": "Ana Lima", "source": "call"}
    assert ana.gold.groups == (frozenset({"0000", "0001"}), frozenset({"0004"}))
    assert ana.gold.contradictions == ((frozenset({"0000", "0001"}), frozenset({"0003"})),)


def test_a_line_that_is_neither_heading_nor_memory_is_refused(tmp_path):
    (path := tmp_path / "w2_bad.txt").write_text("# x | y | z\nLives in Porto.\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"w2_bad\.txt, line 2"):
        read_worlds(tmp_path)
    with pytest.raises(UsageError, match=r"w2_bad\.txt cannot be read"):
        read_files([path])
