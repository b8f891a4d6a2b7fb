"""What the session adds to the writer: names, backups, sentences."""

from __future__ import annotations

import pytest
from builders import NOW
from mem0_dream.errors import StoreError
from mem0_dream.pipeline.engine import KEPT_BACKUPS, Session
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder
from messy import messy_scorer, messy_store


def session_of(store, own_state):
    return Session(
        store,
        settings=Settings(floor=-1.0, max_delete=1.0),
        state_dir=own_state,
        encoder=FakeEncoder(),
        scorer=messy_scorer(),
    )


def test_an_outage_half_way_names_the_run_to_resume(own_state):
    store = messy_store()

    def fail(_change):
        raise StoreError("The store does not answer.")

    with session_of(store, own_state) as session:
        plan = session.propose(ScopeFilter(), now=NOW)
        store.before_write = fail
        with pytest.raises(StoreError, match=r"does not answer\. Run \S+ stopped half-way: .*resume"):
            session.apply(plan, now=NOW)
        store.before_write = lambda _: None
        session.resume(now=NOW)
        assert session.journal.interrupted(store.fingerprint) is None
        assert "d1" not in store.rows


def test_a_store_of_files_is_copied_before_each_run(own_state):
    store = messy_store()

    def backup(folder):
        folder.mkdir(parents=True)
        (folder / "copy").write_text("x")
        return (folder / "copy",)

    store.backup = backup
    with session_of(store, own_state) as session:
        for _ in range(KEPT_BACKUPS + 2):
            plan = session.propose(ScopeFilter(), now=NOW)
            session.undo(session.apply(plan, now=NOW).run, now=NOW)
            session.withdraw(session.answered)
    assert len(list((own_state / "backups" / store.fingerprint).iterdir())) == KEPT_BACKUPS
