"""What is read of a pair: once where that is sure, else both ways; and how often a memory is."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from mem0_dream.models.bundled.scorer import ENOUGH, FOLDER, Answers, PairReader, read_in_turns
from mem0_dream.models.bundled.weights import load_network
from mem0_dream.models.scorer import PairInput

SURE = np.array([0.002, 0.003, 0.995])
UNSURE = np.array([0.3, 0.1, 0.6])
ENTAILMENT = np.array([0.2, 0.7, 0.1])
SHORT, LONG = "Ana has a dog.", "Ana is a nurse in Leeds. She plays chess on Sundays."


class ScriptedReader(PairReader):
    def __init__(
        self, memory: np.ndarray[tuple[int], np.dtype[np.float64]], before: PairReader | None = None
    ) -> None:
        self._before = before
        self.memory = memory
        self.asked: list[tuple[str, str]] = []

    def read(self, pairs: Sequence[tuple[str, str]]) -> Answers:
        self.asked += pairs
        return dict.fromkeys(pairs, (ENTAILMENT, self.memory))


def test_a_sure_first_reading_is_the_only_one_and_an_unsure_pair_is_read_both_ways() -> None:
    for pair in ((SHORT, LONG), (LONG, SHORT)):
        for memory, wanted in ((SURE, []), (UNSURE, [(SHORT, LONG)])):
            reader = ScriptedReader(memory)
            reader.signals([pair])
            assert sorted(reader.asked) == sorted([(LONG, SHORT), *wanted])


def test_the_large_network_reads_what_the_small_one_is_not_sure_of_and_its_word_counts() -> None:
    for first, wanted in ((SURE, []), (UNSURE, [(LONG, SHORT)])):
        small = ScriptedReader(first)
        large = ScriptedReader(SURE, before=small)
        (said,) = large.signals([(SHORT, LONG)])
        assert (small.asked, large.asked) == ([(LONG, SHORT)], wanted)
        assert said.memory[0].tolist() == SURE.tolist()
    large = ScriptedReader(UNSURE, before=(small := ScriptedReader(UNSURE)))
    large.signals([(SHORT, LONG)])
    assert (len(small.asked), len(large.asked)) == (1, 2)


def test_no_text_is_read_twice() -> None:
    reader = ScriptedReader(UNSURE)
    assert len(reader.signals([(SHORT, SHORT), (SHORT, LONG), (LONG, SHORT)])) == 3
    assert len(reader.asked) == len(set(reader.asked))


@pytest.mark.model
def test_a_pair_says_the_same_to_the_last_bit_beside_whatever_pairs_and_nothing_without_one() -> None:
    reader = PairReader(*load_network(FOLDER))
    assert reader.signals([]) == []
    texts = [SHORT, LONG, "Ana has a dog and a cat.", "Bo plays the oboe.", "Reads the Rust book. Has a cat."]
    pairs = [(a, b) for a in texts for b in texts]
    together = reader.read(pairs)
    for pair in pairs:
        for alone, among in zip(reader.read([pair])[pair], together[pair], strict=True):
            assert alone.tobytes() == among.tobytes()


def test_a_layer_in_whole_numbers_says_nearly_what_it_said_and_the_same_on_all_machines(monkeypatch) -> None:
    torch = pytest.importorskip("torch")
    from mem0_dream.models import bert_layers

    said = {}
    for fast in {bert_layers.exact_in_int8(), False}:
        monkeypatch.setattr(bert_layers, "exact_in_int8", lambda fast=fast: fast)
        torch.manual_seed(3)
        layers = torch.nn.Sequential(torch.nn.Linear(384, 1536), torch.nn.GELU(), torch.nn.Linear(1536, 384))
        read = torch.randn(2, 5, 384)
        with torch.inference_mode():
            before = layers(read)
            bert_layers.in_whole_numbers(layers)
            said[fast] = after = layers(read)
            assert not layers(torch.zeros(1, 1, 384)).isnan().any()
        assert 0 < float((after - before).abs().max() / before.abs().max()) < 0.03
    assert all(torch.equal(one, said[False]) for one in said.values())


@pytest.mark.parametrize("wrong", ["saturates", "no such library"])
def test_products_that_may_be_wrong_or_slow_are_not_asked_for(monkeypatch, wrong) -> None:
    torch = pytest.importorskip("torch")
    from mem0_dream.models import bert_layers

    if wrong == "saturates":
        monkeypatch.setattr(torch, "_int_mm", lambda a, b: (a.int() @ b.int()).clamp(-32_768, 32_767))
    else:
        monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert not bert_layers.exact_in_int8.__wrapped__()


MANY = ENOUGH + 4
NEAR = [PairInput("Likes tea", f"Tells of tea {number:02}", 0.5) for number in range(MANY)]
WORTH = [1 - number / 100 for number in range(MANY)]


def read_of(pairs: list[PairInput], worth: list[float], unsure: set[str]) -> set[frozenset[str]]:
    """The texts of the pairs that are read, where all but those with an unsure text are surely distinct."""
    seen: set[frozenset[str]] = set()

    def read(numbers: list[int]) -> list[bool]:
        seen.update(frozenset((pairs[at].a, pairs[at].b)) for at in numbers)
        return [unsure.isdisjoint((pairs[at].a, pairs[at].b)) for at in numbers]

    read_in_turns(pairs, worth, read)
    return seen


@pytest.mark.parametrize(("unsure", "count"), [(0, ENOUGH), (1, ENOUGH + 1), (MANY, MANY)])
def test_a_reading_that_is_not_sure_costs_a_memory_nothing(unsure: int, count: int) -> None:
    seen = read_of(NEAR, WORTH, {pair.b for pair in NEAR[:unsure]})
    assert seen == {frozenset((pair.a, pair.b)) for pair in NEAR[:count]}


def test_neither_order_nor_sides_play_a_part_and_groups_take_no_room_from_each_other() -> None:
    turned = [pair.swapped() for pair in NEAR[::-1]]
    assert read_of(turned, WORTH[::-1], set()) == read_of(NEAR, WORTH, set())
    others = [replace(pair, group=(("user_id", "other"),), b=f"{pair.b}!") for pair in NEAR]
    assert len(read_of([*NEAR, *others], [*WORTH, *WORTH], set())) == 2 * ENOUGH


def test_a_pair_is_read_only_while_both_have_room() -> None:
    lone = PairInput("Likes tea", "Owns a kettle", 0.4)
    for near, read in ((MANY, False), (ENOUGH - 1, True)):
        seen = read_of([*NEAR[:near], lone], [*WORTH[:near], 0.01], set())
        assert (frozenset((lone.a, lone.b)) in seen) is read
