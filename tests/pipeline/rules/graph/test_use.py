"""What the use of memories decides: what is read of it, forgotten, promoted, and protected by attention."""

from dataclasses import replace
from datetime import timedelta

import pytest
from graph_world import NOW, apply, day, entity, propose
from mem0_dream.pipeline.rules import graph_use
from mem0_dream.pipeline.rules.graph_use import GraphSettings, topics, weights_of
from mem0_dream.pipeline.stores.graph.entities import combined, is_bookkeeping, usage
from mem0_dream.pipeline.writing.passes import due_reason

LIMITS = GraphSettings()


def read(said):
    found = usage(said)
    moments = (each and each.date().isoformat() for each in (found.discovered, found.last_used))
    return found.uses, found.helpful, found.unhelpful, *moments


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["Researched: 2026-01-03", "Discovered: 2026-01-02"], (0, 0, 0, "2026-01-02", None)),
        (
            ["Applied in shop - HELPFUL (2026-03-01)", "Applied in blog: NOT HELPFUL, 2026-04-01"],
            (2, 1, 1, None, "2026-04-01"),
        ),
        (["Applied in docs", "Anything else 2026-09-09"], (1, 0, 0, None, None)),
        (["Applied in a: unhelpful", "Applied in b, did not help"], (2, 0, 2, None, None)),
        (["Applied in the nightly job that copies all orders to the archive"], (0, 0, 0, None, None)),
        (["Discovered: 2026-02-30", "Discovered: soon", "Found in 2026"], (0, 0, 0, None, None)),
    ],
)
def test_use_is_read_from_lines_of_the_convention(said, expected):
    assert read(said) == expected


def test_a_date_in_a_sentence_is_content_and_critical_is_a_line_or_a_field():
    said = [f"{word}: 2021-03-01" for word in ("Created", "Added", "Learned")]
    said += [f"{begun} production since 2021-03-01" for begun in ("In", "Used in")]
    said += [
        "Discovered: the outage of 2021-03-01 came from a full disk",
        "Used for the login of all partners",
    ]
    assert read(said) == (0, 0, 0, None, None)
    assert not any(map(is_bookkeeping, said))
    said = [
        "critical: true",
        "Critical: yes",
        "[PINNED] keep",
        "pinned: true",
        "Never delete, critical: true",
    ]
    assert all(usage([text]).critical for text in said)
    assert usage([], {"critical": True}).critical


@pytest.mark.parametrize(
    ("lines", "pinned"),
    [
        ([entity("a", "x", createdAt="2025-03-24T14:38:53.603Z")], False),
        ([entity("a", "x", "x", f"Discovered: {day(400)}"), entity("a", "x", kind="stack")], True),
    ],
    ids=["a date in a field of another server", "one name with two types"],
)
def test_what_is_left_alone(graph, lines, pinned):
    found, opened = graph.nodes(*lines)
    assert found[0].memory.pinned is pinned
    assert propose(opened).actions == ()


def test_equal_uses_are_counted_when_combined():
    line = "Applied in shop - HELPFUL"
    also = "Also applied: 2 times, 1 helpful, 1 not helpful"
    assert read(combined([[line, "Discovered: 2026-01-01"], [line, also]]))[:3] == (4, 3, 1)


@pytest.mark.parametrize(
    ("changed", "forgotten"),
    [
        ({}, True), ({"critical": True}, False), ({"promoted": True}, False), ({"discovered": None}, False),
        ({"discovered": NOW + timedelta(days=3)}, False), ({"last_used": NOW - timedelta(days=29)}, False),
        ({"last_used": NOW - timedelta(days=90)}, False), ({"last_used": NOW - timedelta(days=91)}, True),
        ({"uses": 3}, False), ({"uses": 2}, True), ({"uses": 9, "helpful": 2, "unhelpful": 7}, True),
        ({"uses": 9, "helpful": 3, "unhelpful": 7}, False),
    ],
)  # fmt: skip
def test_forgetting_has_a_reason_or_does_not_happen(changed, forgotten):
    used = replace(usage([f"Discovered: {day(200)}"]), **changed)
    assert (graph_use.forget_reason(used, settings=LIMITS, now=NOW) is not None) is forgotten
    assert graph_use.forget_reason(used, settings=LIMITS, now=NOW, weight=0.25) is None


@pytest.mark.parametrize(
    ("kind", "changed", "promoted"),
    [
        ("pattern", {}, True), ("preference", {}, True), ("stack", {}, False), ("pattern", {"uses": 14}, False),
        ("pattern", {"helpful": 17, "unhelpful": 3}, True), ("pattern", {"helpful": 16, "unhelpful": 4}, False),
        ("pattern", {"discovered": NOW - timedelta(days=29)}, False), ("pattern", {"discovered": None}, False),
        ("pattern", {"promoted": True}, False),
    ],
)  # fmt: skip
def test_promotion_needs_uses_effectiveness_and_age(kind, changed, promoted):
    proven = usage([f"Discovered: {day(30)}", *[f"Applied in p{i} - HELPFUL" for i in range(15)]])
    reason = graph_use.promotion_reason(replace(proven, **changed), kind, settings=LIMITS, now=NOW)
    assert (reason is not None) is promoted


@pytest.mark.parametrize(
    ("count", "last", "due"),
    [
        (2, None, True),
        (2, (NOW - timedelta(days=2), ["m0"]), False),
        (2, (NOW - timedelta(days=7), ["m0"]), True),
        (12, (NOW - timedelta(days=2), []), True),
        (201, (NOW - timedelta(days=2), [f"m{i}" for i in range(201)]), True),
    ],
)
def test_a_graph_is_due_for_one_reason_alone(count, last, due):
    limits = {"after": LIMITS.due_after, "new": LIMITS.due_new, "most": LIMITS.max_memories}
    answer, why = due_reason([f"m{i}" for i in range(count)], last, now=NOW, **limits)
    assert (answer, bool(why)) == (due, True)


def used(ago, *, helpful=True):
    return [f"Applied in shop{' - HELPFUL' * helpful} ({day(ago)})", f"Discovered: {day(300)}"]


HOT = (
    *(entity(f"payment-{i}", f"Fact {i}", *used(5)) for i in range(3)),
    entity("payment-old", "Rarely", *used(120, helpful=False)),
    entity("garden", "Roses", f"Discovered: {day(300)}"),
)
"""Four memories about payments, three of them in use, and two that may be forgotten."""


def test_a_hot_topic_protects_and_a_focus_does(graph):
    found, opened = graph.nodes(*HOT)
    first = topics(found, now=NOW, settings=LIMITS)[0]
    assert (first.name, first.weight, len(first.memories)) == ("payment", 1.0, 4)
    weights = weights_of(found, now=NOW, settings=LIMITS)
    assert weights["payment-old"] >= LIMITS.attention_floor
    assert weights["garden"] == 0.0
    for focus, pruned in ((None, ["garden"]), ("roses", []), (None, ["garden"])):
        opened.store.notes.note("focus", focus)
        assert [prune.members[0].id for prune in propose(opened).prunes] == pruned


def test_a_type_in_front_of_names_is_no_topic(graph):
    lines = [entity(f"pattern:{word}", f"About {word}", *used(5)) for word in ("tea", "rain", "iron")]
    found, opened = graph.nodes(*lines, entity("pattern:moss", "About moss", *used(120, helpful=False)))
    assert weights_of(found, now=NOW, settings=LIMITS, focus="pattern")["pattern:moss"] == 0.0
    assert [p.members[0].id for p in propose(opened).prunes] == ["pattern:moss"]
    assert len(topics(found, now=NOW, settings=LIMITS)) == 4


def test_attention_protects_a_share_alone(graph):
    cold = [entity(f"payment-old-{i:02}", "Then", *used(100 + i)) for i in range(40)]
    found, opened = graph.nodes(*(entity(f"payment-{i}", "Now", *used(5)) for i in range(3)), *cold)
    weights = weights_of(found, now=NOW, settings=GraphSettings(attention_floor=0.1))
    assert [i for i in range(40) if weights[f"payment-old-{i:02}"] > 0] == list(range(10))
    apply(opened)
    assert propose(opened).prunes == ()
