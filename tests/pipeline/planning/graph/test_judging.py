"""How entities and observations of a graph are judged, and which relations are proposed of them."""

from dataclasses import replace

import pytest
from graph_world import NOW, apply, big_graph, entity, kind_of, models, propose
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.judging.statements import Finding, Statement
from mem0_dream.pipeline.planning.graph_judging import GraphJudge, question, united
from mem0_dream.pipeline.planning.graph_relations import dangling, orphans, proposed
from mem0_dream.pipeline.review import Review
from mem0_dream.pipeline.rules.graph_use import GraphSettings
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.graph.entities import nodes_of
from mem0_dream.records import Candidate, Label, Memory, Scope, Verdict
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, FakeScorer

POSTGRES = entity("PostgreSQL", "15", kind="stack")
NEAR = ("The main database is PostgreSQL 16", "Uses PostgreSQL 16 as the main database")


def related(graph, *lines, edges=()):
    found, opened = graph.nodes(*lines)
    kind = kind_of(opened)
    kind._relate = True
    propose(opened)
    return found, proposed({node.id: node for node in found}, edges, kind.present())


def test_relations_are_proposed_from_evidence_and_bounded(graph):
    edges = [("a", "b", "uses"), ("a", "gone", "uses")]
    assert (dangling("abc", edges), orphans("abc", edges)) == ((("a", "gone", "uses"),), ("c",))
    said = "Fill the table of prices again after midnight, shard"
    found, edges = related(
        graph,
        entity("retry", "With PostgreSQL, retry on deadlocks"),
        POSTGRES,
        entity("warm start", "Warm the image cache of the shop before the sale", kind="design"),
        entity("sale checklist", "Before the sale warm the cache of the shop and tell the team", kind="note"),
        *(entity(f"cache-{i}", f"{said}{i}", kind="design") for i in range(8)),
    )
    assert ("retry", "PostgreSQL", "applies_to") in edges
    # Shards of one template are siblings and say nothing about each other.
    alike = [edge for edge in edges if edge[2] == "related_to"]
    assert alike == [("sale checklist", "warm start", "related_to")]
    most = GraphSettings().max_relations
    assert all(sum(node.id in edge[:2] for edge in edges) <= most for node in found)


ROADMAP = entity("roadmap", "Needs AuthGateway, and a shop")
THINGS = [
    entity("AuthGateway", "signs tokens", kind="service"),
    entity("shop", "sells tools", kind="project"),
]


@pytest.mark.parametrize(
    ("lines", "edges", "expected"),
    [
        ([ROADMAP, *THINGS], [], "roadmap AuthGateway related_to"),
        (
            [entity("retry", "With PostgreSQL, retry"), POSTGRES],
            [("PostgreSQL", "retry", "mentioned_in")],
            "",
        ),
        ([entity("b", "x", "Merged from: a, c on 2026-01-01"), entity("a", "other")], [], "b a derived_from"),
    ],
    ids=["a name that is no mere word", "what has a relation", "a source that came back"],
)
def test_what_is_evidence_of_a_relation(graph, lines, edges, expected):
    assert "; ".join(" ".join(edge) for edge in related(graph, *lines, edges=edges)[1]) == expected


def always(duplicate, contradiction, *, context=False):
    scorer = FakeScorer(default=lambda _a, _b: (duplicate, contradiction, 1.0 - duplicate - contradiction))
    scorer.reads_context = context
    return scorer


def test_only_observations_of_the_same_words_are_judged(graph):
    rules = ("Never use make for builds", "Use make for builds")
    scorer = always(0.0, 1.0)
    with graph.judged(scorer, entity("build", *rules, *(f"Fact {i}" for i in range(2000)))) as opened:
        plan = propose(opened)
    assert len(scorer.asked) == 1
    assert [tuple(sorted(m.text for m in item.members)) for item in plan.conflicts] == [rules]


def test_a_drafted_memory_is_judged_as_a_second_pass_would(graph):
    said = {"a": "one", "b": "two", "near": "one three", "far": "one four"}
    places = ([0.3, 0.95], [0.3, 0.95], [0.8, 0.6], [0.6, 0.8])
    text, scorer = "a: one two.", FakeScorer()
    encoder = FakeEncoder(
        {text: [1, 0]} | {f"{name}: {said[name]}.": at for name, at in zip(said, places, strict=True)}
    )
    with graph.judged(scorer, *(entity(*each) for each in said.items()), encoder=encoder) as opened:
        found = {node.id: node for node in nodes_of(opened.read(ScopeFilter()).memories)}
        judge = GraphJudge(found, models(opened), GraphSettings(), opened.means(NOW))
        living = [replace(node.memory, text=node.statement) for node in found.values()]
        judge.sources[text] = frozenset({"a", "b"})
        judge.drafted([replace(living[0], id="drafted", text=text)], living)
    others = {({pair.a, pair.b} - {text}).pop() for pair in scorer.asked}
    assert others == {"a: one.", "b: two.", "near: one three."}


def test_only_what_may_be_one_is_embedded(graph):
    said = "Runs as a container behind the gateway and writes its logs to the central collector"
    texts = dict.fromkeys(("billing", "search", "upload"), said)
    texts |= {"mail queue": f"{said}, and holds letters", "letters": f"{said}, the queue of all mail"}
    encoder = FakeEncoder()
    lines = [entity(name, text, kind="service") for name, text in texts.items()]
    with graph.judged(FakeScorer(), *lines, encoder=encoder) as opened:
        propose(opened)
    names = {text.partition(":")[0] for text in encoder.asked if ": " in text}
    assert names == {"letters", "mail queue"}


def test_the_floor_changes_no_plan_of_a_big_graph(graph):
    plans = []
    for floor in (-1.0, Settings().floor):
        store = graph.open(*big_graph()).store
        limits = Settings(scorer="keywords", floor=floor)
        with Session(store, settings=limits, state_dir=graph.state) as opened:
            plans.append(propose(opened))
    assert plans[0] == plans[1]
    assert (len(plans[0].merges), len(plans[0].conflicts)) == (20, 1)


@pytest.mark.parametrize(
    ("observations", "probabilities", "asked"),
    [
        ((*NEAR, "Deployed with Helm", "Owned by the payments team"), (1.0, 0.0), [NEAR]),
        (NEAR, (0.2, 0.0), []),
        (NEAR, (0.5, 0.1), []),
        (("Retries failed jobs", "Retries failed mails and sends alerts"), (1.0, 0.0), []),
        (("Docker image of the server 計画", "Docker image of the server 完了"), (1.0, 0.0), []),
    ],
    ids=[
        "likely the same", "judged distinct", "as likely wrong", "half of the words",
        "letters no model reads",
    ],
)  # fmt: skip
def test_observations_that_may_say_the_same_are_a_question(graph, observations, probabilities, asked):
    scorer = always(*probabilities, context=True)
    with graph.judged(scorer, entity("api", *observations, kind="service")) as opened:
        plan = propose(opened)
    assert plan.actions == ()
    assert [tuple(sorted(member.text for member in item.members)) for item in plan.unsure] == asked
    assert len(scorer.asked) == 1 or not asked


@pytest.mark.parametrize("entailment", [(0.5, 0.97), (0.97, 0.5)])
def test_an_item_more_stays_whatever_a_network_reads(entailment):
    texts = (
        "Sub-commands: list, sync, reset, remove",
        "Added an interface with sub-commands: list, sync, remove",
    )
    memories = (Memory(name, text, Scope({})) for name, text in zip("ab", texts, strict=True))
    a, b = (Statement(memory, memory.text, memory.text) for memory in memories)
    verdict = Verdict(Candidate("a", "b", 0.8), Label.DUPLICATE, False, (0.9, 0.0, 0.1), entailment)
    assert question(Finding(a, b, verdict, sure=False)).text == texts[0]


@pytest.mark.parametrize(("more", "expected"), [(["Drawn by a worker", "Tested each night"], 0), ([], 1)])
def test_a_general_word_more_asks_alone_where_little_is_said(graph, more, expected):
    route = entity("TradeRoute", "Runs on port 80", "Written in Go", "Owned by Ada")
    system = entity("TradeRouteSystem", "Moves goods between islands", *more)
    with graph.judged(always(0.0, 0.0), route, system) as opened:
        assert len(propose(opened).unsure) == expected


def test_observations_that_are_united_are_judged_where_they_stand(graph):
    api = entity("api", f"{NEAR[0]} since May", "Deployed with Helm")
    scorer = always(0.0, 0.0, context=True)
    with graph.judged(scorer, api, entity("api two", *NEAR)) as opened:
        united(nodes_of(opened.read(ScopeFilter()).memories), models(opened), now=NOW)
    assert scorer.asked
    assert all(pair.cosine > 0 and pair.context is not None for pair in scorer.asked)


def test_an_accepted_question_leaves_one_observation_and_can_be_undone(graph):
    with graph.judged(always(1.0, 0.0), entity("api", *NEAR, "Deployed with Helm", kind="service")) as opened:
        plan = propose(opened)
        review = Review(opened, plan)
        review.answer(plan.unsure[0].id, "yes", now=NOW)
        yes = review.planned(opened)
        shown = opened.reporter(yes, explain=True).lines()
        assert all(any(text in line for line in shown) for text in NEAR)
        apply(opened, yes)
        left = graph.entities()["api"]
        assert (len(left), len(set(left) & set(NEAR))) == (2, 1)
        assert graph.undone(opened)
        assert propose(opened).unsure == ()
