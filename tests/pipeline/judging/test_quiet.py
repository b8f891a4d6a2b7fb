"""What the words of screened pairs do not say: asked once, and anew whenever something decides otherwise."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from builders import memory
from mem0_dream.models.scorer import PairTable
from mem0_dream.models.whose import Names
from mem0_dream.pipeline.judging import inventory, quiet
from mem0_dream.pipeline.judging.cache import Cache
from mem0_dream.pipeline.judging.inventory import Judging
from mem0_dream.pipeline.judging.quiet import Quiet
from mem0_dream.pipeline.judging.subjects import MetadataKeys
from mem0_dream.records import Label
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, FakeScorer

TEXTS = ("Likes tea.", "Has a dog.", "Rows on Sundays.", "Works at Kestrel.")
MEMORIES = [memory(f"m{at}", text) for at, text in enumerate(TEXTS)]
ALL = np.array([(i, j) for i in range(4) for j in range(i + 1, 4)])


class Deaf(FakeScorer):
    """Reads no pair."""

    reads_context = True

    def worth(self, table: PairTable) -> np.ndarray:
        return np.zeros(len(table.rows))


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """Judge memories as a new night does; the verdicts, and how many pairs were looked at."""
    looked: list[int] = []

    def counting(pairs, *rest, **more):
        looked.append(len(pairs))
        return judge(pairs, *rest, **more)

    judge = inventory.judge
    monkeypatch.setattr(inventory, "judge", counting)

    def night(memories, encoder="fake", **settings):
        looked.clear()
        limits, read = Settings(floor=-1.0, **settings), FakeEncoder()
        read.name = encoder
        judging = Judging(read, Deaf(), limits, {}, cache=Cache(tmp_path))
        return judging.all_pairs(memories), sum(looked)

    return night


def test_words_that_say_nothing_are_looked_at_once(judged):
    assert judged(MEMORIES) == ((), 6)
    assert judged(MEMORIES) == ((), 0)
    changed = [*MEMORIES[:3], replace(MEMORIES[3], text="Works at Heron.")]
    assert judged(changed) == ((), 3)
    assert judged([replace(each, id=f"x{each.id}") for each in changed[::-1]]) == ((), 0)
    assert judged(MEMORIES, encoder="another") == ((), 6)


def test_words_that_say_something_are_heard_every_night(judged):
    lives = [memory("a", "Lives in Porto."), memory("b", "Lives in Faro.")]
    for looked in (3, 1, 1):
        (said,), count = judged([*lives, MEMORIES[0]])
        assert (said.label, count) == (Label.CONTRADICTION, looked)


def test_a_value_that_a_person_calls_single_is_looked_for_anew(judged):
    rows = [memory("a", "Deploy target: staging"), memory("b", "The deploy target is production")]
    assert judged(rows) == ((), 1)
    (said,), _ = judged(rows, single=("deploy target",))
    assert said.label is Label.CONTRADICTION


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Has a cat."},
        {"metadata": {"customer": "Kestrel"}},
        {"updated_at": datetime(2030, 1, 1, tzinfo=UTC)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_a_memory_says_of_itself_is_part_of_its_number(tmp_path, change):
    cache = Cache(tmp_path)
    Quiet.among(MEMORIES, {}, cache=cache).add(ALL)
    assert Quiet.among(MEMORIES, {}, cache=cache).knows(ALL).all()
    known = Quiet.among([MEMORIES[0], replace(MEMORIES[1], **change), *MEMORIES[2:]], {}, cache=cache).knows(
        ALL
    )
    assert known.tolist() == [1 not in row for row in ALL.tolist()]


def test_another_judge_or_other_keys_or_rules_know_nothing(tmp_path, monkeypatch):
    cache, scope = Cache(tmp_path), MEMORIES[0].scope
    Quiet.among(MEMORIES, {}, "encoder", cache=cache).add(ALL[::-1, ::-1])
    assert Quiet.among(MEMORIES, {}, "encoder", cache=cache).knows(ALL).all()
    others = Quiet.among(MEMORIES, {}, "another", cache=cache), Quiet.among(MEMORIES, {}, "encoder")
    named = Quiet.among(MEMORIES, {scope: MetadataKeys(names=Names(own=("Ada",)))}, "encoder", cache=cache)
    monkeypatch.setattr(quiet, "rules_digest", lambda: "another version")
    ruled = Quiet.among(MEMORIES, {}, "encoder", cache=cache)
    assert not any(each.knows(ALL).any() for each in (*others, named, ruled))


def test_pairs_that_come_later_are_kept_besides(tmp_path):
    cache = Cache(tmp_path)
    for row in ALL:
        Quiet.among(MEMORIES, {}, cache=cache).add(row[None])
    assert Quiet.among(MEMORIES, {}, cache=cache).knows(ALL).all()
