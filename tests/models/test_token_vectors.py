"""Token vectors: of unit length, independent of the other texts, and cached from the encoder."""

from __future__ import annotations

import numpy as np
import pytest
from mem0_dream.models import kept_tokens, packaged, token_vectors
from mem0_dream.models.encoder import SentenceEncoder
from mem0_dream.models.kept_tokens import TokenCache
from mem0_dream.models.token_vectors import TokenVectors

pytestmark = pytest.mark.model
TEXTS = ("Likes green tea.", "Owns a red dog.", "Moved to Porto in May.", "")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> TokenCache:
    empty = TokenCache()
    for module in (kept_tokens, packaged, token_vectors):
        monkeypatch.setattr(module, "KEPT", empty)
    return empty


def test_each_token_has_a_unit_vector_whatever_company_it_is_in(kept: TokenCache) -> None:
    reader = TokenVectors()
    ids = reader.ids(TEXTS)
    together = reader.of(ids)
    assert [len(row) for row in ids] == [4, 5, 6, 0]
    assert set(together) == set(ids[:3])
    assert together[ids[0]].shape == (4, 384)
    assert np.linalg.norm(together[ids[0]], axis=1) == pytest.approx(np.ones(4), abs=1e-5)
    kept.__init__()  # type: ignore[misc]
    assert reader.of(ids[:1])[ids[0]] == pytest.approx(together[ids[0]], abs=1e-5)


def test_what_the_encoder_made_is_not_made_again(kept: TokenCache, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = TokenVectors()
    ids = reader.ids(TEXTS)
    alone = reader.of(ids)
    kept.__init__()  # type: ignore[misc]
    SentenceEncoder(keep_tokens=True).encode(TEXTS)
    monkeypatch.setattr(reader, "_forward", None)
    cached = reader.of(ids)
    for row in ids[:3]:
        assert cached[row] == pytest.approx(alone[row], abs=1e-5)


def test_the_oldest_are_forgotten_first(kept: TokenCache, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.ones((1, 4), np.float32)
    monkeypatch.setattr(kept_tokens, "KEPT_BYTES", 2 * rows.nbytes)
    for number in (1, 2, 3):
        kept.add((number,), rows)
    assert [kept.get((number,)) is not None for number in (1, 2, 3)] == [False, True, True]
