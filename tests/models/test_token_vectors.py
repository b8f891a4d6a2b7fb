"""Token vectors: of unit length, independent of the other texts, and cached from the encoder."""

from __future__ import annotations

import numpy as np
import pytest
from mem0_dream.models import encoder
from mem0_dream.models.encoder import SentenceEncoder, TokenCache, TokenVectors

pytestmark = pytest.mark.model
TEXTS = ("Likes green tea.", "Owns a red dog.", "Moved to Porto in May.", "")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> TokenCache:
    empty = TokenCache()
    monkeypatch.setattr(encoder, "KEPT", empty)
    return empty


def test_each_token_has_a_unit_vector_whatever_company_it_is_in(kept: TokenCache) -> None:
    reader = TokenVectors()
    ids = dict(zip(TEXTS, reader.ids(TEXTS), strict=True))
    together = reader.of(ids)
    assert [len(ids[text]) for text in TEXTS] == [4, 5, 6, 0]
    assert set(together) == set(TEXTS[:3])
    assert together[TEXTS[0]].shape == (4, 384)
    assert np.linalg.norm(together[TEXTS[0]], axis=1) == pytest.approx(np.ones(4), abs=5e-3)
    assert reader.of({TEXTS[0]: ids[TEXTS[0]]})[TEXTS[0]] == pytest.approx(together[TEXTS[0]], abs=5e-3)


def test_what_the_encoder_made_is_not_made_again(kept: TokenCache, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = TokenVectors()
    ids = dict(zip(TEXTS, reader.ids(TEXTS), strict=True))
    alone = reader.of(ids)
    SentenceEncoder(keep_tokens=True).encode(TEXTS)
    monkeypatch.setattr(encoder, "_read", None)
    cached = reader.of(ids)
    for text in TEXTS[:3]:
        assert cached[text] == pytest.approx(alone[text], abs=5e-3)


def test_a_byte_a_number_moves_a_cosine_by_next_to_nothing() -> None:
    rows = np.random.default_rng(1).standard_normal((64, encoder.DIMENSION)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    data = encoder.packed(rows)
    assert len(data) == 64 * 388
    assert encoder.unpacked(data) @ rows.T == pytest.approx(rows @ rows.T, abs=2e-3)


def test_the_oldest_are_forgotten_first(kept: TokenCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "KEPT_BYTES", 2)
    for number in (1, 2, 3):
        kept.add((number,), b"1")
    assert [(number,) in kept for number in (1, 2, 3)] == [False, True, True]
