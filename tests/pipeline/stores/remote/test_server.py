"""A mem0 server of one's own as a store: its routes, its bound, its keys, and a bad line."""

import pytest
from click.testing import CliRunner, Result
from loopback import Reply, Request
from mem0_dream.errors import ConfigError, RefusedChangeError, StoreError
from mem0_dream.pipeline.cli.main import main
from mem0_dream.pipeline.stores.base import Delete
from mem0_dream.pipeline.stores.remote.services import open_server
from mem0_dream.pipeline.stores.remote.store import Patience
from mem0_dream.records import Scope
from server_double import ServerDouble
from services import ALICE, EVERYTHING

pytestmark = pytest.mark.store


@pytest.fixture
def place(hosted):
    return hosted


class TestListing:
    def test_every_user_agent_and_run_is_listed_once(self, place):
        place.put("Likes tea")
        place.put("Likes jazz", run_id="r1", expiration_date="2026-01-01")
        place.put("Deploys on Tuesdays", user_id=None, agent_id="bot")
        inventory = place.open().read(EVERYTHING)
        assert inventory.gaps == ()
        assert {memory.text: memory.scope for memory in inventory.memories} == {
            "Likes tea": ALICE,
            "Likes jazz": Scope.of(user_id="alice", run_id="r1"),
            "Deploys on Tuesdays": Scope.of(agent_id="bot"),
        }

    def test_a_scope_at_the_servers_bound_is_read_only(self, place, monkeypatch):
        monkeypatch.setattr("mem0_dream.pipeline.stores.remote.services.LISTED_AT_MOST", 4)
        monkeypatch.setattr("server_double.LISTED_AT_MOST", 4)
        for number in range(4):
            place.put(f"Fact {number}")
        (gap,) = place.open().read(EVERYTHING).gaps
        assert "lists at most 4 memories, and user_id=alice has as many" in gap
        place.double.memory.delete(place.open().read(EVERYTHING).memories[0].id)
        assert place.open().read(EVERYTHING).gaps == ()

    def test_the_bound_is_the_servers_own(self, place):
        place.put("Likes tea")
        place.open().read(EVERYTHING)
        (asked,) = (r.query for r in place.server.requests if r.path == "/memories")
        assert asked == {"user_id": "alice", "top_k": "1000", "show_expired": "true"}
        more = Request("GET", "/memories", {**asked, "top_k": "1001"}, None, {})
        assert place.double(more).status == 422

    def test_a_count_that_differs_makes_the_run_read_only(self, place):
        place.put("Likes tea")
        real = place.double._entities
        place.double._entities = lambda: [item | {"total_memories": 2} for item in real()]  # type: ignore[method-assign]
        (gap,) = place.open().read(EVERYTHING).gaps
        assert gap == "1 memories of user_id=alice were listed where the server counts 2"

    @pytest.mark.parametrize(
        ("provider", "told"),
        [("mongodb", "mem0 turns an error of this store into an empty listing"), ("", "does not say which")],
    )
    def test_a_vector_store_that_cannot_be_trusted_is_named(self, place, monkeypatch, provider, told):
        place.put("Likes tea")
        real = ServerDouble.__call__

        def configured(self: ServerDouble, request: Request) -> Reply:
            if request.path == "/configure":
                return Reply(200, {"vector_store": {"provider": provider}}) if provider else Reply(404, {})
            return real(self, request)

        monkeypatch.setattr(ServerDouble, "__call__", configured)
        (gap,) = place.open().read(EVERYTHING).gaps
        assert told in gap

    def test_what_cannot_be_written_back_is_left_alone(self, place):
        added = place.double.memory.add(
            [{"role": "user", "content": "Likes tea", "name": "ann"}], user_id="alice", infer=False
        )
        store = place.open()
        (memory,) = store.read(EVERYTHING).memories
        assert (memory.scope.get("actor_id"), memory.pinned) == ("ann", True)
        with pytest.raises(RefusedChangeError, match="cannot write back"):
            store.write(Delete(added["results"][0]["id"]))


class TestKeys:
    @pytest.mark.parametrize(
        ("variable", "value", "attribute"),
        [("MEM0_SERVER_API_KEY", "m0sk_x", "key"), ("MEM0_SERVER_TOKEN", "jwt", "token")],
    )
    def test_a_key_or_a_token_opens_the_server(self, place, monkeypatch, variable, value, attribute):
        place.put("Likes tea")
        setattr(place.double, attribute, value)
        with pytest.raises(ConfigError, match="refuses the key"):
            place.open().read(EVERYTHING)
        monkeypatch.setenv(variable, value)
        assert len(place.open().read(EVERYTHING).memories) == 1

    @pytest.mark.parametrize("url", ["localhost:8888", "ftp://x", "http://me:secret@localhost:8888"])
    def test_an_address_must_be_one_and_hold_no_password(self, url):
        with pytest.raises(ConfigError) as told:
            open_server(url)
        assert "secret" not in str(told.value)

    def test_nobody_there_is_one_sentence(self):
        patience = Patience(attempts=2, first_wait=0.001, per_minute=1e9)
        with pytest.raises(StoreError, match="did not answer listing entities after 2 attempts"):
            open_server("http://127.0.0.1:9", patience=patience).read(EVERYTHING)


def test_the_command_takes_the_address(place, tmp_path):
    for text in ("Deploys the shop to staging on Tuesdays", "deploys the shop to staging on Tuesdays."):
        place.put(text)
    file = tmp_path / "settings.yaml"
    file.write_text("mem0_dream: {scorer: keywords, max_delete: 1.0, remote: {per_minute: 1.0e+9}}\n")

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, [*words, "--config", str(file)])

    done = invoke("server", place.server.url, "--user-id", "alice", "--auto")
    assert done.exit_code == 0, done.output
    assert "gives no deleted id out again" in done.stderr
    assert len(place.content()) == 1
    nowhere = invoke("server", "--all")
    assert nowhere.exit_code == 2
    assert "Name the server" in nowhere.stderr
