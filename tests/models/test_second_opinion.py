"""A second opinion, over real HTTP: what counts as one, and that nothing else changes anything."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import CONTRADICTION, NOW, memory
from hypothesis import given, strategies as st
from llm_server import LanguageModel, Reply, says
from mem0_dream.errors import ConfigError, MissingExtraError, NoAnswerError, UsageError
from mem0_dream.models.llm import LABELS, ChatEndpoint, Mem0Adviser, load_adviser, opinion, question, verdict
from mem0_dream.models.scorer import PairInput
from mem0_dream.pipeline.consolidation import consolidate
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.plan import Merge, Plan, Resolve
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.records import Evidence
from mem0_dream.settings import Settings, read_settings
from mem0_dream.testing import FakeEncoder, FakeScorer, InMemoryStore

KEY = "sk-loopback-hush"
DOG, DOG_NAME = "Has a whippet.", "Has a brindle whippet named Pickle."
SEA, VOYAGE = "Reads long novels about the sea.", "Reads novels about sea voyages."
OFFICE, HOME = "Enjoys working from the office.", "Enjoys long days at home."
ANNA, BEN = "Anna reviews the backend code every Friday.", "Ben reviews the backend code every Friday."
PAIR = PairInput(DOG, DOG_NAME, 0.5)
TABLE = {(DOG, DOG_NAME): (0.7, 0.0, 0.3), (SEA, VOYAGE): (0.8, 0.0, 0.2), (OFFICE, HOME): (0.2, 0.5, 0.3)}


NO_VERDICTS = (
    "They are duplicates.", 'Sure! {"label": "duplicate"}', '{"label": "same"}', '{"label": ["duplicate"]}',
    '{"label": "duplicate"} Hope this helps.', '{"verdict": "duplicate"}', '["duplicate"]', '"duplicate"',
    '{"label": "distinct", "label": "duplicate"}', '{"label": "duplicate"', "[" * 50_000, "",
)  # fmt: skip


class Store(InMemoryStore):
    llm: dict[str, Any] | None = None


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[LanguageModel]:
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    monkeypatch.setenv("MEM0_DREAM_API_KEY", KEY)
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    running = LanguageModel()
    yield running
    running.close()


@pytest.fixture(params=["endpoint", "mem0"])
def wanted(request: pytest.FixtureRequest, model: LanguageModel, store: Store) -> bool | str:
    store.llm = {"provider": "openai", "config": {"model": "m", "api_key": KEY, "openai_base_url": model.url}}
    return f"openai:m@{model.url}" if request.param == "endpoint" else True


@pytest.fixture
def store() -> Store:
    texts = {"dog1": DOG, "dog2": DOG_NAME, "sea1": SEA, "sea2": VOYAGE}
    rows = [memory(name, text) for name, text in texts.items()]
    return Store([*rows, memory("work1", OFFICE, days=90), memory("work2", HOME, days=3)])


class Asked:
    def __init__(self, store: Store, state: Path, wanted: bool | str, **options: Any) -> None:
        scorer = options.pop("scorer", None) or FakeScorer(TABLE)
        settings = Settings(second_opinion=wanted, floor=-1.0, **{"second_opinion_timeout": 30, **options})
        self.said: list[str] = []
        session = Session(store, settings=settings, state_dir=state, encoder=FakeEncoder(), scorer=scorer)
        try:
            self.before: Plan = session.propose(ScopeFilter(), now=NOW)
            self.plan = session.look(ScopeFilter(), now=NOW, say=self.said.append).plan
        finally:
            session.release()

    @property
    def unsure(self) -> list[tuple[str, ...]]:
        return [tuple(member.id for member in doubt.members) for doubt in self.plan.unsure]


Ask = Callable[..., Asked]


@pytest.fixture
def ask(store: Store, tmp_path: Path, wanted: bool | str) -> Ask:
    return lambda asked=store, **options: Asked(asked, tmp_path, wanted, **options)


@pytest.fixture
def over_http(store: Store, model: LanguageModel, tmp_path: Path) -> Ask:
    return lambda asked=store, **options: Asked(asked, tmp_path, f"openai:m@{model.url}", **options)


class TestOverHttp:
    def test_each_label_does_what_it_may(self, ask: Ask, model: LanguageModel) -> None:
        labels = {DOG: "duplicate", OFFICE: "contradiction", SEA: "distinct"}
        model.decide = lambda a, b: says(labels.get(a) or labels[b])
        asked = ask()
        (merge,), (conflict,) = asked.plan.merges, asked.plan.conflicts
        assert {member.id for member in merge.members} == {"dog1", "dog2"}
        assert merge.verdicts[0].evidence[-1] == Evidence("second-opinion", "duplicate")
        assert (conflict.choice, conflict.removes, conflict.newer) == (None, (), "b")
        assert asked.unsure == []
        assert asked.said[0].startswith("second opinion: asking m")
        assert asked.said[0].endswith("about 3 unsure pairs, one call each.")
        counted = "1 duplicate, 1 contradiction, 1 distinct"
        assert asked.said[1] == f"second opinion: 3 of 3 pairs answered ({counted})."

    def test_the_most_probable_are_asked_first_and_no_more_than_the_limit(self, ask, model):
        asked = ask(second_opinion_limit=1)
        assert model.pairs == [tuple(sorted((SEA, VOYAGE)))]
        told = "about 1 unsure pairs, one call each; 2 left for another run (limit 1)."
        assert asked.said[0].endswith(told)
        assert asked.unsure == [("dog1", "dog2"), ("work1", "work2")]

    def test_what_was_answered_is_never_asked_again(self, ask, model, store):
        first = ask()
        assert len(model.asked) == 3
        again = ask()
        assert (len(model.asked), again.said) == (3, [])
        assert again.plan == first.plan
        store.rows["dog1"]["text"] = "Has a small whippet."
        scorer = FakeScorer({**TABLE, ("Has a small whippet.", DOG_NAME): (0.7, 0.0, 0.3)})
        ask(scorer=scorer)
        assert len(model.asked) == 4

    @pytest.mark.parametrize(
        ("replies", "unsure", "told"),
        [
            ([Reply(content) for content in NO_VERDICTS[:3]], 3, "0 of 3 pairs answered; 3 stay unsure: "),
            (
                [Reply(body=each) for each in (b'{"choices": [', b"<html>busy</html>", b"{}")],
                3,
                "0 of 3 pairs",
            ),
            ([Reply(after=60)], 1, "2 of 3 pairs answered (2 duplicate); 1 stays unsure: 1 late."),
        ],
    )
    def test_what_is_no_verdict_in_time_leaves_the_pair_unsure(self, ask, model, replies, unsure, told):
        model.replies = [*replies]
        asked = ask(second_opinion_timeout=2)
        assert asked.said[1].startswith(f"second opinion: {told}")
        assert (len(asked.unsure), asked.plan == asked.before) == (unsure, unsure == 3)
        assert ask().plan.merges

    def test_too_many_requests_are_tried_again_when_the_server_says(self, ask, model):
        later = Reply(status=429, headers={"Retry-After": "0.1"})
        model.replies = [later, Reply(status=500), says("duplicate")]
        assert len(ask(second_opinion_limit=1).plan.merges) == 1
        assert len(model.asked) == 3

    def test_a_server_that_stays_broken_is_left_alone_after_three_pairs(self, ask, model, store):
        pairs = dict(TABLE)
        for tool in ("spade", "rake", "hoe"):
            texts = f"Owns a {tool}.", f"Keeps the {tool} dry."
            more = [memory(f"{tool}{x}", text) for x, text in zip("ab", texts, strict=True)]
            store.rows |= InMemoryStore(more).rows
            pairs[texts] = (0.65, 0.0, 0.35)
        model.decide = lambda _a, _b: Reply(status=500)
        asked = ask(scorer=FakeScorer(pairs))
        assert asked.plan == asked.before
        assert asked.said[1] == (
            "second opinion: 0 of 6 pairs answered; 6 stay unsure: 3 answered 500, 3 not asked any more."
        )
        model.close()  # nobody listens
        asked = ask(second_opinion_limit=1)
        assert asked.plan == asked.before
        assert "0 of 1 pairs answered; 1 stays unsure" in asked.said[1]

    def test_a_guard_is_never_overruled(self, ask: Ask, model: LanguageModel, store: Store) -> None:
        team = Store([memory("a", ANNA), memory("b", BEN)])
        team.llm = store.llm
        asked = ask(team, scorer=FakeScorer({(ANNA, BEN): (0.97, 0.0, 0.03)}))
        assert len(model.asked) == 1
        assert asked.plan.actions == ()
        (doubt,) = asked.plan.unsure
        assert getattr(doubt, "verdicts")[0].evidence[-1] == Evidence("second-opinion", "duplicate")  # noqa: B009


class TestWhoIsAsked:
    def test_only_about_doubts_and_of_no_document_or_incomplete_listing(self, over_http, model, store):
        certain = FakeScorer({(DOG, DOG_NAME): (0.97, 0.0, 0.03), (OFFICE, HOME): CONTRADICTION})
        assert (over_http(scorer=certain).said, model.asked) == ([], [])
        long = "word " * 2_000
        docs = Store([memory("a", f"{long}one"), memory("b", f"{long}two")])
        scorer = FakeScorer(default=lambda _a, _b: (0.7, 0.0, 0.3))
        asked = over_http(docs, scorer=scorer)
        assert (model.asked, len(asked.plan.unsure)) == ([], len(asked.before.unsure))
        store.gaps = ("20 of 45 listed",)
        over_http()
        assert model.asked == []

    def test_the_library_asks_too(self, store, model, tmp_path, monkeypatch):
        monkeypatch.setattr("mem0_dream.models.registry.load_scorer", lambda _spec: FakeScorer(TABLE))
        monkeypatch.setattr("mem0_dream.models.registry.load_encoder", lambda *_, **__: FakeEncoder())
        settings = Settings(second_opinion=f"openai:m@{model.url}", floor=-1.0)
        more: dict[str, Any] = {"all_scopes": True, "settings": settings, "state_dir": tmp_path, "now": NOW}
        assert len(consolidate(store, **more).plan.merges) == 3
        applied = consolidate(store, apply=True, **more)
        assert (applied.result and applied.result.merged, len(model.asked)) == (0, 3)

    @pytest.mark.parametrize(
        ("llm", "error", "said"),
        [
            (None, ConfigError, "no section llm"),
            ({"provider": "groq", "config": {}}, MissingExtraError, "provider groq needs a package"),
            ({"provider": "openai", "config": {"no_such_option": KEY}}, ConfigError, "cannot open"),
            ({"provider": "nobody"}, ConfigError, "cannot open"),
        ],
    )
    def test_a_model_that_cannot_be_opened_is_one_sentence(self, store, tmp_path, llm, error, said):
        store.llm = llm
        with pytest.raises(error, match=said) as told:
            Asked(store, tmp_path, wanted=True)
        assert KEY not in str(told.value)

    @pytest.mark.parametrize("value", ["yes", "gpt-5", "openai:m", "openai:m@ftp://x", 3])
    def test_a_wrong_setting_is_told_how_to_write_it(self, value: object) -> None:
        with pytest.raises(ConfigError, match=r"second_opinion is wrong.*openai:MODEL@URL"):
            read_settings({"second_opinion": value})

    def test_a_password_or_key_is_not_told(self, model: LanguageModel) -> None:
        address = model.url.replace("http://", "http://me:hush@")
        adviser = load_adviser(f"openai:m@{address}", llm=None, timeout=1)
        assert adviser is not None
        assert adviser.spoken == f"m at {model.url}"
        with pytest.raises(UsageError) as told:
            ChatEndpoint("@http://me:hush@host/v1")
        assert "hush" not in str(told.value)
        own = Mem0Adviser({"provider": "openai", "config": {"model": "gpt-5-mini", "api_key": KEY}})
        assert own.spoken == "gpt-5-mini (openai)"
        assert KEY not in own.name


def test_a_server_that_asks_for_too_much_patience_is_left_alone(model: LanguageModel) -> None:
    model.decide = lambda _a, _b: Reply(status=429, headers={"Retry-After": "1800"})
    adviser = load_adviser(f"openai:m@{model.url}", llm=None, timeout=5)
    assert adviser is not None
    with pytest.raises(NoAnswerError) as told:
        opinion(adviser, PAIR, timeout=5)
    assert (told.value.reason, told.value.hopeless, len(model.asked)) == ("answered 429", True, 1)


def test_a_pair_and_its_mirror_image_are_one_question() -> None:
    assert question(PAIR) == question(PairInput(DOG_NAME, DOG, 0.9))
    json.dumps(question(PairInput("lone \ud800", "x", 0.5)), ensure_ascii=False).encode()


FENCED = '```json\n{"label": "distinct"}\n```'


@pytest.mark.parametrize("content", [*NO_VERDICTS, f"Here: {FENCED}", {"label": "distinct"}])
def test_only_one_json_object_with_a_known_label_bare_or_in_one_code_fence_is_a_verdict(content) -> None:
    assert verdict(content) is None
    assert verdict(FENCED) == "distinct"


@given(st.text() | st.sampled_from(["{", '{"label":', '"duplicate"', "}"]).flatmap(lambda t: st.just(t * 3)))
def test_no_text_is_a_verdict_by_accident(text: str) -> None:
    assert verdict(text) in (None, *LABELS)


def test_a_doubt_of_the_other_sort_is_turned(over_http: Ask, model: LanguageModel) -> None:
    labels = {HOME: "duplicate", DOG: "contradiction", SEA: "unsure"}
    model.decide = lambda a, b: says(labels.get(a) or labels[b])
    plan = over_http().plan
    kinds = {action.members[0].id: type(action) for action in plan.actions}
    assert kinds["dog1"] is Resolve
    assert kinds["work1"] is Merge
    assert [doubt.members[0].id for doubt in plan.unsure if doubt.members[0].id == "sea1"] == ["sea1"]


def test_doubts_keep_their_order(over_http: Ask, model: LanguageModel) -> None:
    model.decide = lambda _a, _b: says("unsure")
    asked = over_http()
    assert asked.plan == asked.before
