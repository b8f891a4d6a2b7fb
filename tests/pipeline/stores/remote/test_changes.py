"""What a change must prove on both services. Whether the platform replaces metadata or adds to it is not documented."""

from contextlib import closing
from datetime import timedelta

import pytest
from loopback import Fault
from mem0_dream.errors import RefusedChangeError
from mem0_dream.pipeline.stores.base import Add, Amend, Delete, Restore, Retire, Update
from mem0_dream.records import Scope
from platform_double import PlatformDouble
from services import ALICE, DAY, EVERYTHING, Service, stored

pytestmark = pytest.mark.store


@pytest.fixture(params=["platform that adds", "platform that replaces", "server"])
def service(request, tmp_path, monkeypatch):
    hosted = request.param == "server"
    built = (
        Service.hosted(tmp_path, monkeypatch)
        if hosted
        else Service.platform(replaces_metadata="replaces" in request.param)
    )
    with closing(built):
        yield built


@pytest.fixture
def store(service):
    return service.open()


@pytest.fixture
def tea(service):
    """The id of a memory of some age."""
    return service.put(
        "Likes tea", user_id="alice", metadata={"k": 1}, created_at=DAY, expiration_date="2030-01-01"
    )


def test_amending_keeps_the_dates_that_the_service_would_forget(store, tea):
    earlier = DAY - timedelta(days=30)
    store.write(Amend(tea, {"merged_from": ["a", "b"]}, earlier, "2027-01-01"))
    memory = stored(store, tea)
    assert memory.metadata == {"k": 1, "merged_from": ["a", "b"]}
    assert (memory.created_at, memory.updated_at) == (earlier, DAY)
    assert str(memory.expires_on) == "2027-01-01"


def test_a_text_of_ours_is_not_stated_anew_but_an_agents_is(store, tea):
    for change in (Update(tea, "Likes green tea"), Amend(tea, {"k": 1})):
        store.write(change)
        memory = stored(store, tea)
        assert (memory.text, memory.created_at, memory.updated_at) == ("Likes green tea", DAY, DAY)
        assert memory.metadata == {"k": 1}
    store._put(tea, {"text": "Likes black tea"})
    memory = stored(store, tea)
    assert memory.created_at == DAY
    assert memory.updated_at > DAY


def test_undoing_changes_gives_the_record_back(store, tea):
    before = store.fetch([tea])[tea]
    store.write(Update(tea, "Likes green tea"))
    store.write(Amend(tea, {"merged_from": ["a"], "k": 2}, None, ""))
    store.write(Retire(tea, DAY.date()))
    assert not store.finds(tea)
    store.write(Restore(before))
    after = stored(store, tea)
    assert after == store.parse(before)
    assert after.metadata == {"k": 1}


def test_a_deleted_memory_comes_back_under_a_new_id(service, store):
    memory_id = service.put(
        "Likes tea", user_id="alice", run_id="r1", metadata={"k": [1, {"a": None}]}, created_at=DAY,
        expiration_date="2030-01-01",
    )  # fmt: skip
    before = store.fetch([memory_id])[memory_id]
    store.write(Delete(memory_id))
    assert store.fetch([memory_id]) == {}
    new = store.write(Restore(before))
    assert store.write(Restore(before)) == new != memory_id
    assert stored(store, memory_id) == store.parse(before)
    assert len(store.read(EVERYTHING).memories) == 1
    if isinstance(service.double, PlatformDouble):
        assert service.double.rows[new]["created_at"] == DAY.replace(microsecond=0).isoformat()


def test_an_addition_that_is_delivered_twice_is_one_memory_verbatim_with_its_date_and_mark(service, store):
    service.server.fault = lambda _number, request: Fault.TWICE if request.method == "POST" else None
    added = store.write(Add("Likes tea", ALICE, {"k": 1}, DAY, "run/m1"))
    memory = stored(store, added)
    assert (memory.text, memory.created_at, memory.metadata) == ("Likes tea", DAY, {"k": 1})
    assert [each.id for each in store.read(EVERYTHING).memories] == [added]
    assert store.find_mark("run/m1", ALICE) == added
    assert store.find_mark("run/m1", Scope.of(user_id="alice", run_id="r1")) is None
    assert store.find_mark("run/m2", ALICE) is None


def test_a_platform_that_takes_no_copy_at_all_is_told(platform, monkeypatch):
    memory_id, store = platform.put("Likes tea", user_id="alice"), platform.open()
    before = store.fetch([memory_id])[memory_id]
    store.write(Delete(memory_id))
    monkeypatch.setattr(PlatformDouble, "_stored", lambda *_: None)
    with pytest.raises(RefusedChangeError, match="takes no copy"):
        store.write(Restore(before))
