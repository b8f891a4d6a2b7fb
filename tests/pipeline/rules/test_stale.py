"""Tests of what may be forgotten: stale and vague memories."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from builders import rows_of
from hypothesis import given, strategies as st
from mem0_dream.models.text.vocabulary import FILLERS, GENERIC, HALF_EMPTY, TASTES
from mem0_dream.pipeline.plan import Prune
from mem0_dream.pipeline.rules.stale import age_of, is_vague, stale_prune, vague_prune
from mem0_dream.records import Memory, Scope
from mem0_dream.settings import Settings

TABLE = Path(__file__).with_name("ages.tsv")
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SCOPE = Scope.of(user_id="alice")
FACT = "Rents plot 47B at the Golden Hill allotments"


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def memory(memory_id: str = "m1", text: str = FACT, **fields) -> Memory:
    return Memory(memory_id, text, SCOPE, **fields)


def prunes(
    *memories: Memory, settings: Settings | None = None, accessed: dict[str, datetime] | None = None
) -> tuple[Prune, ...]:
    limits, read = settings or Settings(), accessed or {}
    found = [
        stale_prune(memory, settings=limits, now=NOW, accessed=read.get(memory.id))
        or vague_prune(memory, settings=limits, now=NOW)
        for memory in memories
    ]
    return tuple(prune for prune in found if prune)


def stale(**fields) -> bool:
    return [prune.reason for prune in prunes(memory(**fields))] == ["stale"]


class TestAge:
    @pytest.mark.parametrize(
        ("fields", "days"),
        [
            ({"updated_at": ago(10)}, 10), ({"metadata": {"last_stated_at": ago(30).isoformat()}}, 30),
            ({"created_at": ago(5).replace(tzinfo=None)}, 5), ({"created_at": None}, None),
            *(({"metadata": {"last_stated_at": broken}}, 400) for broken in ("last spring", 20240101, None, "2024-13-01")),
        ],
    )  # fmt: skip
    def test_it_is_reckoned_from_the_latest_statement_that_can_be_read(self, fields, days):
        wanted = None if days is None else timedelta(days=days)
        assert age_of(memory(**{"created_at": ago(400)} | fields), now=NOW) == wanted


class TestStale:
    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ({"created_at": ago(180)}, False),  # exactly the limit is not older than it
            ({"created_at": ago(180) - timedelta(seconds=1)}, True),
            ({"created_at": ago(-1), "updated_at": ago(400)}, False),
            ({"created_at": ago(400), "updated_at": ago(-1)}, False),
            ({"created_at": ago(400), "expires_on": date(2026, 11, 20)}, False),  # retired already
            ({"created_at": ago(400), "expires_on": date(2026, 11, 21)}, True),
            *(
                ({"created_at": ago(400), "accessed_at": ago(days)}, days == 180.01)
                for days in (180, 180.01, 3, -2)
            ),
        ],
    )
    def test_what_is_older_than_the_limit_and_not_read_since_is_stale(self, fields, expected):
        assert stale(**fields) is expected

    def test_the_category_has_its_own_retention(self):
        settings = Settings(retention={"session_state": timedelta(days=90), "identity": timedelta(days=3650)})
        old = [
            memory("a", created_at=ago(100), category="session_state"),
            memory("b", created_at=ago(400), category="identity"),
            memory("c", created_at=ago(400), category="hobby"),
        ]
        assert [prune.members[0].id for prune in prunes(*old, settings=settings)] == ["a", "c"]

    def test_the_later_of_both_access_times_counts(self):
        old = memory(created_at=ago(400), accessed_at=ago(300))
        assert prunes(old, accessed={"m1": ago(10)}) == ()
        assert len(prunes(old, accessed={"m1": ago(350), "m2": ago(1)})) == 1


def test_a_finding_says_why_once():
    found = prunes(
        memory("a", created_at=ago(214.5), accessed_at=ago(200)),
        memory("b", "Fixed bug", created_at=ago(-1)),
        memory("c", "Fixed bug", created_at=ago(400)),
        memory("d", accessed_at=ago(900)),
        memory("e", created_at=ago(999), pinned=True),
        memory("f", "[PINNED] Be kind", created_at=ago(999)),
    )
    assert [(prune.reason, prune.age_days, prune.detail.partition(";")[0]) for prune in found] == [
        ("stale", 214, "214 days old, limit 180"),
        ("vague", None, "2 meaningful words of at least 5, none of them specific"),
        ("stale", 400, "400 days old, limit 180"),
    ]
    assert found[0].detail.endswith("; last read 200 days ago")


class TestVague:
    @pytest.mark.parametrize(
        ("kind", "text"), [*rows_of(TABLE, "vague", "specific"), ("vague", ""), ("vague", "   ")]
    )
    def test_only_what_says_nothing_is_vague(self, kind, text):
        """Short but specific, a rule that is missed when it is gone, and another language stay."""
        assert is_vague(text, min_words=5) is (kind == "vague")

    @given(st.text(max_size=40))
    def test_no_text_raises_and_enough_words_are_never_vague(self, text):
        assert is_vague(text, min_words=5) in {True, False}
        assert [is_vague("Fixed bug, updated file", min_words=words) for words in (2, 7)] == [False, True]

    @given(
        st.sampled_from(["Welsh", "vim", "O-", "coeliac", "47B", "Priya", "src/app.py"]),
        st.lists(st.sampled_from(sorted(GENERIC)), max_size=3),
    )
    def test_a_specific_word_saves_any_text_it_opens(self, word, others):
        assert not is_vague(" ".join([word, *others]), min_words=5)
        assert not (HALF_EMPTY | TASTES) & (GENERIC | FILLERS)  # no word is both
