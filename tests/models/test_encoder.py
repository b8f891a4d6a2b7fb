"""The encoder: unit vectors that do not depend on their neighbours in a batch."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from mem0_dream.errors import ModelError
from mem0_dream.models import encoder as module
from mem0_dream.models.bert import on_all_cores
from mem0_dream.models.encoder import LONGEST, SentenceEncoder, TokenCache, TokenVectors, encodable

TEXTS = [
    "Allergic to nuts.", "Uses tabs in Go", "Likes tea", "likes green tea very much indeed, with milk", "🙂", "",
]  # fmt: skip


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder()


def test_what_is_missing_or_damaged_is_one_sentence(monkeypatch, tmp_path):
    with pytest.raises(ModelError, match="no model folder"):
        SentenceEncoder("./nowhere")
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ModelError, match=r"^The encoder .* cannot be loaded: [^\n]*\.$"):
        SentenceEncoder(str(tmp_path)).encode(["a"])
    monkeypatch.setattr(module, "PACKAGE", "no_such_package")
    with pytest.raises(ModelError, match="pip install no-such-package"):
        module.packaged_model_path()


def test_name_changes_with_the_files_and_not_with_the_place(tmp_path):
    names = []
    for place, config in (("one", "{}"), ("two", "{}"), ("three", "{ }")):
        folder = tmp_path / place / "mine"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(config)
        names.append(SentenceEncoder(str(folder)).name)
    assert names[0] == names[1] != names[2]
    assert names[0].startswith("mine@")


@pytest.mark.parametrize("count", [0, 1, module.BATCH_SIZE, module.BATCH_SIZE + 1, 30])
def test_batches_cover_every_row_once(count):
    lengths = [(7 * row) % 5 for row in range(count)]
    batches = list(module.equal_length_batches(lengths))
    assert sorted(row for rows in batches for row in rows) == list(range(count))
    assert all(len({lengths[row] for row in rows}) == 1 for rows in batches)
    assert all(len(rows) <= module.BATCH_SIZE for rows in batches)


def test_long_texts_go_through_in_smaller_batches():
    lengths = [200] * 3 + [60] * 5
    batches = [[lengths[row] for row in rows] for rows in module.equal_length_batches(lengths, tokens=256)]
    assert batches == [[60] * 4, [60], [200], [200], [200]]
    rows = {0: 8, 1: 8, 32: 8, 33: 7, 64: 4, 200: 1, 256: 1, 512: 1}
    assert {length: module.rows_at_once(length) for length in rows} == rows


@pytest.mark.model
def test_vectors_are_unit_float32_and_contiguous_and_nearer_of_one_fact(encoder):
    assert encodable("a\ud800b") == "a?b"
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert encoder.encode([]).shape == (0, 384)
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    same, paraphrase, other = encoder.encode(["Has a dog", "Owns a dog", "Deploys on Fridays"])
    assert same @ paraphrase > 0.7
    assert same @ other < 0.4


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.model
def test_several_threads_give_the_bits_of_one(encoder, threads):
    texts = [f"{text} {word}" for text in TEXTS for word in ("", "at home", "since the flood of 1997")]
    told = []
    for number in (1, 2, 3):
        threads(number)
        told.append(encoder.encode(texts).tobytes())
        assert torch.get_num_threads() == number
    assert told[0] == told[1] == told[2]


def test_what_fails_on_a_thread_is_raised_and_the_rest_let_go(threads):
    threads(2)
    begun = []

    with pytest.raises(ZeroDivisionError):
        on_all_cores(lambda part: begun.append(part) or 1 / part, [0, *range(1, 500)])
    assert (len(begun) < 500, torch.get_num_threads()) == (True, 2)


@pytest.mark.model
def test_vector_does_not_depend_on_company(encoder):
    together = encoder.encode(TEXTS)
    np.testing.assert_array_equal(together, encoder.encode(TEXTS[::-1])[::-1])
    np.testing.assert_array_equal(together[1:2], encoder.encode(TEXTS[1:2]))
    long = [" ".join(TEXTS * count) for count in (1, 3, 9)] * 3
    np.testing.assert_array_equal(encoder.encode(long), np.tile(encoder.encode(long[:3]), (3, 1)))


@pytest.mark.model
def test_the_library_gives_the_same_vectors_and_name(encoder, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(
        module.packaged_model_path(),
        folder,
        copy_function=lambda source, target: Path(target).symlink_to(source),
    )
    long = [" ".join(["word"] * count) for count in (LONGEST - 3, LONGEST - 2, LONGEST - 1, 900)]
    odd = "\ud800|日本語 がすき|naïve Café Å e\u0301 ﬁ|[SEP] [CLS] a|\x00 a\u200b b\t\n|a-b_c.d/e@f#g|1,234.50 €"
    texts = [*TEXTS, *long, *odd.split("|"), "x" * 5_000]
    other = SentenceEncoder(str(folder))
    np.testing.assert_allclose(encoder.encode(texts), other.encode(texts), atol=1e-5, equal_nan=False)
    assert other.name.partition("@")[2] == encoder.name.partition("@")[2]


TOLD = ("Likes green tea.", "Owns a red dog.", "Moved to Porto in May.", "")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> TokenCache:
    monkeypatch.setattr(module, "KEPT", TokenCache())
    return module.KEPT


@pytest.mark.model
def test_each_token_has_a_unit_vector_whatever_its_company_and_none_is_made_twice(kept, monkeypatch) -> None:
    reader = TokenVectors()
    ids = dict(zip(TOLD, reader.ids(TOLD), strict=True))
    together = reader.of(ids)
    assert [len(ids[text]) for text in TOLD] == [4, 5, 6, 0]
    assert set(together) == set(TOLD[:3])
    assert together[TOLD[0]].shape == (4, 384)
    assert np.linalg.norm(together[TOLD[0]], axis=1) == pytest.approx(np.ones(4), abs=5e-3)
    assert reader.of({TOLD[0]: ids[TOLD[0]]})[TOLD[0]] == pytest.approx(together[TOLD[0]], abs=5e-3)
    SentenceEncoder(keep_tokens=True).encode(TOLD)
    monkeypatch.setattr(module, "_read", None)
    cached = reader.of(ids)
    for text in TOLD[:3]:
        assert cached[text] == pytest.approx(together[text], abs=5e-3)


@pytest.mark.model
def test_a_byte_a_number_moves_a_cosine_by_next_to_nothing() -> None:
    rows = np.random.default_rng(1).standard_normal((64, module.DIMENSION)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    data = module.packed(rows)
    assert len(data) == 64 * 388
    assert module.unpacked(data) @ rows.T == pytest.approx(rows @ rows.T, abs=2e-3)


@pytest.mark.model
def test_the_oldest_are_forgotten_first(kept: TokenCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_BYTES", 2)
    for number in (1, 2, 3):
        kept.add((number,), b"1")
    assert [(number,) in kept for number in (1, 2, 3)] == [False, True, True]
