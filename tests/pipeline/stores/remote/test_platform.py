"""The hosted platform as a store: what is listed, what is left alone, and what a change must prove."""

from dataclasses import asdict
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from loopback import Fault, Reply, Request
from mem0_dream.errors import ConfigError, RefusedChangeError, StoreError
from mem0_dream.pipeline.cli.main import main
from mem0_dream.pipeline.stores.base import Add, Delete, Retire, ScopeFilter
from mem0_dream.pipeline.stores.remote.services import _newest, open_platform
from mem0_dream.pipeline.stores.remote.store import DATES_KEY, Caller, Patience, RemoteStore
from mem0_dream.records import Memory, Scope
from platform_double import PlatformDouble
from services import ALICE, DAY, EVERYTHING, stored
from typed import on_store

pytestmark = pytest.mark.store
LOST = "gives no deleted id out again"
OWN_KEYS = {"agent_id": "x", "app_id": "y", "role": "lead", "hash": "h", "id": 3}


@pytest.fixture
def place(platform):
    return platform


def by_text(store: RemoteStore, scopes: ScopeFilter = EVERYTHING) -> dict[str, Memory]:
    return {memory.text: memory for memory in store.read(scopes).memories}


class TestListing:
    def test_every_page_of_every_kind_of_entity_is_read(self, place):
        for number in range(450):
            place.put(f"Fact {number}", user_id=f"user {number % 3}")
        for key in ("agent_id", "app_id", "run_id"):
            owner: dict[str, Any] = {key: "x"}
            place.put(f"Of {key}", **owner)
        inventory = place.open().read(EVERYTHING)
        assert (len(inventory.memories), inventory.gaps) == (453, ())

    def test_a_scope_is_the_whole_tuple(self, place):
        place.put("Likes tea", user_id="alice", run_id="r1")
        place.put("Likes jazz", user_id="alice", run_id="r2", app_id="shop")
        place.put("Likes rain", user_id="bob")
        found = by_text(place.open(), ScopeFilter({"user_id": "alice"}))
        assert found["Likes tea"].scope == Scope.of(user_id="alice", run_id="r1")
        assert found["Likes jazz"].scope == Scope.of(user_id="alice", run_id="r2", app_id="shop")
        assert len(found) == 2

    def test_what_the_platform_merged_away_is_no_memory(self, place):
        kept = place.put("Has a dog named Rex, a retriever", user_id="alice")
        gone = place.put("Has a dog named Rex", user_id="alice", lifecycle_state="merged")
        store = place.open()
        assert [memory.id for memory in store.read(EVERYTHING).memories] == [kept]
        assert stored(store, gone).pinned

    @pytest.mark.parametrize(
        ("fields", "told"),
        [
            ({"immutable": True}, {"pinned": True}),
            ({"synthesized": True}, {"pinned": True}),
            ({"replaced_by": "x"}, {"pinned": True}),
            ({"expiration_date": "2026-01-31"}, {"expires_on": date(2026, 1, 31), "pinned": False}),
            ({"categories": ["food", "drinks"]}, {"category": "drinks/food", "metadata": {}}),
            ({"categories": ["x"], "metadata": {"category": "music"}}, {"category": "music"}),
            ({"metadata": OWN_KEYS}, {"scope": ALICE, "metadata": OWN_KEYS}),
            ({"metadata": "no mapping"}, {"scope": ALICE, "metadata": {}}),
        ],
    )
    def test_a_record_says(self, place, fields, told):
        place.put("Likes tea", user_id="alice", **fields)
        (memory,) = place.open().read(EVERYTHING).memories
        assert {name: getattr(memory, name) for name in told} == told

    def test_evidence_and_successors_are_left_alone(self, place):
        run = place.put("Runs 40 km a week", user_id="alice")
        place.put("Trains hard", user_id="alice", synthesized=True, evidence=[{"memory": run}])
        new = place.put("Drives a Tesla", user_id="alice")
        place.put("Drives a Subaru", user_id="alice", replaced_by=new)
        place.put("Likes tea", user_id="alice")
        pinned = {text: memory.pinned for text, memory in by_text(place.open()).items()}
        assert {text for text, is_pinned in pinned.items() if not is_pinned} == {"Likes tea"}

    @pytest.mark.parametrize(
        ("count", "meanwhile", "told"),
        [
            (2_000, lambda rows, put, _: put("Meanwhile", user_id="alice"), ""),
            (401, lambda rows, _, page: page == "3" and len(rows) == 401 and rows.pop(next(iter(rows))), ""),
            (600, lambda rows, *_: rows.pop(next(reversed(rows))), "somebody is removing memories meanwhile"),
        ],
        ids=["another client writes", "the last page is gone", "another client keeps removing"],
    )
    def test_a_listing_is_whole_or_says_why_not(self, place, count, meanwhile, told):
        for number in range(count):
            place.put(f"Fact {number}", user_id="alice", created_at=DAY + timedelta(seconds=number))
        rows = place.double.rows
        there = set(rows)

        def acting(request: Request) -> None:
            if request.path == "/v3/memories/":
                meanwhile(rows, place.put, request.query.get("page"))

        place.server.before = acting
        inventory = place.open().read(EVERYTHING)
        listed = [memory.id for memory in inventory.memories]
        assert [told in gap for gap in inventory.gaps] == [True] * bool(told)
        assert told or there & set(rows) <= set(listed) <= set(rows)
        assert len(listed) == len(set(listed))

    def test_the_newest_memory_is_that_of_the_latest_moment(self, place):
        texts = ("2026-03-01T10:00:00-07:00", "2026-03-01T16:59:00+00:00", "2026-02-01T23:00:00Z", "x", None)
        assert _newest({"created_at": text} for text in texts) == "2026-03-01T10:00:00-07:00"
        assert _newest([]) is None


class TestAdditions:
    def test_a_text_that_is_there_already_is_never_added(self, place):
        place.put("Likes tea", user_id="alice")
        with pytest.raises(RefusedChangeError, match="holds already"):
            place.open().write(Add("Likes tea", ALICE, {}, None, "run/m1"))

    @pytest.mark.parametrize("looks", [1, 3, 12])
    def test_an_addition_that_is_only_announced_is_followed_to_its_end(self, place, looks):
        place.double.pending = looks
        store = place.open()
        added = store.write(Add("Likes tea", ALICE, {}, DAY, "run/m1"))
        assert place.double.rows[added]["memory"] == "Likes tea"

    def test_an_addition_that_fails_in_the_end_is_an_error(self, place):
        place.double.pending, place.double.failing = 2, True
        with pytest.raises(StoreError, match="failed"):
            place.open().write(Add("Likes tea", ALICE, {}, DAY, "run/m1"))


class TestDeletions:
    @pytest.fixture
    def tea(self, place):
        return place.put("Likes tea", user_id="alice")

    def test_what_superseded_another_is_not_deleted(self, place):
        memory_id = place.put("Drives a Tesla", user_id="alice", linked_memory_ids=["older"])
        store = place.open()
        with pytest.raises(RefusedChangeError, match="would count as current again"):
            store.write(Delete(memory_id))
        assert store.write(Retire(memory_id, DAY.date())) == memory_id

    def test_a_deletion_that_did_nothing_is_an_error(self, place, tea, monkeypatch):
        monkeypatch.setattr(PlatformDouble, "_delete", lambda *_: Reply(200, {}))
        with pytest.raises(StoreError, match="still there"):
            place.open().write(Delete(tea))

    def test_an_outage_never_looks_like_a_deletion(self, place, tea):
        store = place.open()
        place.server.fault = lambda _number, _request: Fault.ERROR
        with pytest.raises(StoreError, match="did not answer reading memory"):
            store.fetch([tea])


class TestPatience:
    def test_the_seconds_that_are_asked_for_are_waited(self, place):
        waits: list[float] = []
        store = place.open()
        caller = Caller("The service", Patience(per_minute=1e9), sleep=waits.append)
        wanted = len(place.server.requests)
        place.server.fault = lambda number, _request: Fault.LIMIT if number == wanted else None
        caller.ask("listing", lambda: store._once("GET", "/v1/ping/"))
        (wait,) = waits
        assert 1.0 <= wait <= 1.2

    def test_a_refusal_is_not_repeated(self, place):
        store = place.open()
        with pytest.raises(StoreError, match="status 400"):
            store.fetch(["no uuid"])
        assert [r.path for r in place.server.requests].count("/v1/memories/no%20uuid/") == 1

    def test_the_page_tells_the_limits_and_their_defaults(self):
        page = (Path(__file__).parents[4] / "docs" / "platform.md").read_text(encoding="utf-8")
        section = yaml.safe_load(page.partition("```yml\n")[2].partition("```")[0])
        assert section["mem0_dream"]["remote"] == asdict(Patience())


class TestOpening:
    def test_without_a_key_the_variable_is_named(self, monkeypatch):
        monkeypatch.delenv("MEM0_API_KEY", raising=False)
        with pytest.raises(ConfigError, match="MEM0_API_KEY is not set"):
            open_platform()

    def test_a_wrong_key_is_told_and_never_printed(self, place, monkeypatch):
        monkeypatch.setenv("MEM0_API_KEY", "m0-wrong-secret")
        with pytest.raises(ConfigError, match="refuses the key") as told:
            place.open()
        assert "secret" not in str(told.value)
        assert len(place.server.requests) == 1

    def test_a_key_of_another_project_is_refused(self, place):
        assert place.open(org="org-double", project="project-double")
        with pytest.raises(ConfigError, match="opens the project project-double, not shop"):
            place.open(project="shop")

    def test_the_fingerprint_names_the_project_and_no_secret(self, place):
        first = place.open().fingerprint
        place.double.project = "other"
        assert len(first) == 16
        assert place.open().fingerprint != first


class TestCommandLine:
    @pytest.fixture
    def call(self, place, tmp_path):
        """A command on a store of ten memories, two of which are one."""
        for text in ("Deploys the shop to staging on Tuesdays", "deploys the shop to staging on Tuesdays."):
            place.put(text, user_id="alice")
        for number in range(8):
            place.put(f"The billing service number {number} is written in Rust", user_id="alice")
        file = tmp_path / "settings.yaml"
        file.write_text("mem0_dream: {scorer: keywords, remote: {per_minute: 1.0e+9, first_wait: 0.001}}\n")

        def called(*words: str, answers: str = "", config: Path = file, code: int = 0) -> Result:
            line = on_store([*words, "--host", place.server.url, "--config", str(config)])
            done = CliRunner().invoke(main, line, input=answers)
            assert done.exit_code == code, done.output
            return done

        return called

    def test_what_an_undo_cannot_give_back_is_said_before_anything_changes(self, place, call, tmp_path):
        """By a pass, with a plan that was kept, and before something is forgotten; not where nothing is done."""
        asked, file = call("platform", "--all", answers="n\n").stdout, tmp_path / "plan.jsonl"
        assert asked.index(LOST) < asked.index("Apply?")
        call("plan", "-o", str(file), "--all", "--store", "platform")
        assert LOST in file.read_text()
        assert LOST in call("apply", str(file), "--store", "platform", answers="n\n").stderr
        words = ("forget", "billing", "--store", "platform", "--all", "--encoder", "words")
        assert LOST in call(*words, answers="1\nn\n").stderr
        assert len(place.double.rows) == 10
        assert LOST not in call(*words, answers="\n").stderr
        assert LOST in call("platform", "--all", "--auto").stderr
        assert len(place.double.rows) == 9
        assert LOST not in call("platform", "--all", "--auto").stderr

    def test_an_unknown_limit_is_named(self, call, tmp_path):
        file = tmp_path / "wrong.yaml"
        file.write_text("mem0_dream: {remote: {per_minut: 3}}\n")
        told = call("platform", "--all", config=file, code=2).stderr
        assert "mem0_dream.remote.per_minut" in told

    def test_no_text_and_no_note_of_the_client_reaches_the_error_stream(self, place, call):
        told = call("platform", "--all", "--auto").stderr
        assert "404" not in told
        assert "Deploys" not in told
        assert DATES_KEY in next(iter(place.double.rows.values()))["metadata"]
