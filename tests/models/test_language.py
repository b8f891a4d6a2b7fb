"""English is told from other languages by script and function words."""

from __future__ import annotations

import pytest
from mem0_dream.models.text.words import is_english

ENGLISH = (
    "User lives in Köln", "Works at Volvo", "valid till 30.4.25", "spelling: en-GB", "office open til 12",
    "draws 85 mA @ +12V", "Mixes up por and para.", "", "42", "Reads Der Spiegel on the train",
)  # fmt: skip
FOREIGN = (
    "Der Nutzer bevorzugt Kaffee", "Benutzer trinkt keinen Kaffee", "El usuario vive en Madrid",
    "Lubi kawę bez mleka", "Mora em Lisboa com sua família", "Anna bor i Stockholm och arbetar på Volvo",
    "用户住在东京", "ユーザーは東京に住んでいる", "Пользователь живёт в Москве", "يعيش المستخدم في القاهرة",
    "L'utilisateur habite chez sa soeur", "Gebruiker woont niet meer in Utrecht",
)  # fmt: skip


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_read(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize("text", FOREIGN)
def test_other_languages_are_told(text: str) -> None:
    assert not is_english(text)
