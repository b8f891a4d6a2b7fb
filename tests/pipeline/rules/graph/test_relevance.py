"""Whether a learning is worth saving: its points, what is known already, what contradicts."""

import pytest
from graph_world import NOW, day, entity
from mem0_dream.errors import UsageError
from mem0_dream.pipeline.rules.graph_relevance import Learning, load_learning, relevance
from mem0_dream.pipeline.rules.graph_use import GraphSettings
from mem0_dream.pipeline.stores.base import ScopeFilter

SAID = "Warm the image cache before the sale starts"


def score(graph, *lines, core=(), settings=None, **learning):
    found, opened = graph.nodes(*(lines or [entity("other", "Nothing of the kind")]))
    asked = Learning(**({"name": "warm-cache", "observations": [SAID]} | learning))
    known, encoder = opened.known(ScopeFilter(), now=NOW), opened.models.encoder
    limits = settings or GraphSettings()
    return relevance(asked, found, core, known=known, encoder=encoder, settings=limits, now=NOW)


@pytest.mark.parametrize(
    ("learning", "points"),
    [
        ({}, 0), ({"contexts": 2}, 2), ({"contexts": ["a", "b", "c"]}, 3), ({"appliesTo": ["a", "b", "c"]}, 3),
        ({"severity": "critical"}, 5), ({"severity": "high"}, 3), ({"severity": "medium"}, 2),
        ({"severity": "low"}, 1), ({"source": "a mistake in production"}, 2), ({"source": "test failure"}, 2),
        ({"source": "explicit_user_feedback"}, 3), ({"userFeedback": True}, 3), ({"aligned": True}, 1),
        ({"common": True}, 2), ({"frequencyHint": "common"}, 2), ({"frequencyHint": "rare"}, 0),
        ({"summary": "Warm it", "observations": []}, 0), ({"core": [("c", "Warm the image cache always")]}, 1),
    ],
)  # fmt: skip
def test_each_reason_has_its_points(graph, learning, points):
    found = score(graph, **learning)
    assert (found.score, found.save) == (points, points >= 5)


@pytest.mark.parametrize(
    ("known", "learning"),
    [
        (entity("cache-warm", SAID), {"userFeedback": True}),
        (entity("cache-warm", SAID + ".", "And after it"), {"name": "quite another name"}),
    ],
)
def test_what_is_known_is_never_saved(graph, known, learning):
    found = score(graph, known, severity="critical", **learning)
    assert (found.save, found.nearest, found.similarity, found.entity) == (False, "cache-warm", 1.0, None)


def test_a_correction_is_not_known_already(graph):
    known, said = (f"Sessions of the shop expire after {n} minutes" for n in (15, 60))
    found = score(graph, entity("warm-cache", known), observations=[said], severity="critical")
    assert found.save
    assert any("contradicts warm-cache" in reason for reason in found.reasons)


def test_what_is_similar_loses_points_and_points_are_settings(graph):
    near = entity("cache", "The image cache is warm while a sale runs")
    found = score(graph, near, severity="critical")
    assert 0.6 < found.similarity <= 0.85
    assert (found.score, found.save) == (3, False)
    answer = score(graph, severity="critical", settings=GraphSettings(points={"critical": 4}))
    assert (answer.score, answer.save, answer.nearest) == (4, False, None)


@pytest.mark.parametrize(
    ("learning", "said", "points", "source"),
    [
        ({"summary": "Warm it early"}, ["Warm it early", SAID], 5, "implementation"),
        ({"source": "mistake"}, [SAID], 7, "mistake"),
    ],
)
def test_a_saved_learning_carries_its_metadata(graph, learning, said, points, source):
    told = score(graph, severity="critical", **learning).entity["observations"]
    assert told == [*said, f"Discovered: {day(0)}", f"Relevance score: {points}", f"Source: {source}"]


@pytest.mark.parametrize("more", ['"contexts": -1', '"observations": []', '"severty": "high"'])
def test_a_wrong_learning_is_an_error(tmp_path, more):
    for text in ("{", "[1]", f'{{"name": "x", "observations": ["a"], {more}}}'):
        (tmp_path / "l.json").write_text(text)
        with pytest.raises(UsageError):
            load_learning(str(tmp_path / "l.json"))
