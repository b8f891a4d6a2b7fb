"""Texts and lines of a graph: what goes in comes out, to the letter."""

from pathlib import Path

import pytest
from builders import rows_of
from graph_world import entity, relation
from hypothesis import given, strategies as st
from mem0_dream.errors import RefusedChangeError
from mem0_dream.pipeline.stores.graph import entities
from mem0_dream.pipeline.stores.graph.entities import (
    edited_observations,
    observation_key,
    part_id,
    split_part,
)
from mem0_dream.pipeline.stores.graph.lines import GraphDocument, GraphLine

TABLE = Path(__file__).with_name("lines.tsv")


def document(*lines):
    return GraphDocument.parse("\n".join(lines).encode())


@given(name=st.text(max_size=12), observations=st.lists(st.text(max_size=20), max_size=4))
def test_the_text_of_an_entity_reads_back(name, observations):
    assert edited_observations(name, entities.entity_text(name, observations)) == observations


@pytest.mark.parametrize("text", ["name\nloose", "other\n- one", "name\n  rest"])
def test_another_form_is_no_text_of_an_entity(text):
    with pytest.raises(ValueError):
        edited_observations("name", text)


def test_a_part_is_named_by_its_entity():
    assert split_part(part_id("a::b", "relations")) == ("a::b", "relations")
    assert split_part(part_id("a", observation_key("x"))) == ("a", observation_key("x"))
    assert split_part("std::vector") is None


def test_names_are_taken_apart_into_words():
    assert entities.parts_of("SSOProviderV2_test-run") == ("sso", "provider", "v", "2", "test", "run")
    assert entities.words_of("react_useEffect-cleanup") == "react use Effect cleanup"
    assert entities.statement("use-tabs", ["Go code", "Always!"]) == "use tabs: Go code. Always!"


@given(data=st.binary(max_size=200))
def test_a_document_keeps_every_byte(data):
    assert GraphDocument.parse(data).data == data or not data.strip()


@pytest.mark.parametrize(("kind", "raw", "reason"), rows_of(TABLE, "broken", "other", cells=3))
def test_a_line_the_server_could_not_use_is_broken_and_those_of_other_tools_are_left(kind, raw, reason):
    line = GraphLine.of(raw)
    assert (line.kind, line.reason) == (kind, reason)


def test_lines_with_one_fault_are_one_sentence():
    relation, why = (
        b'{"type": "relation", "from_entity": "a", "to_entity": "b"}\n',
        "it is a relation without from",
    )
    one = "line {} of the graph is broken, {}; --repair moves it to the archive"
    assert GraphDocument.parse(relation).faults == (one.format(1, why),)
    assert GraphDocument.parse(relation * 10 + b"no\n").faults == (
        f"10 lines of the graph (1, 2, 3, 4, 5 …) are broken, {why}; --repair moves them to the archive",
        one.format(11, "it is no JSON"),
    )


def test_a_byte_that_is_no_utf8_is_broken_and_kept():
    data = entity("a").encode() + b"\n\xff\xfe\n"
    read = GraphDocument.parse(data)
    assert ([number for number, _ in read.broken], read.data) == ([2], data)


def test_a_changed_line_keeps_unknown_fields_and_their_order():
    raw = '{"x":1,"type":"entity","name":"ä","entityType":"t","observations":["a"],"y":[2]}\r'
    assert GraphLine.of(raw).changed(observations=["b"]).raw == raw.replace('"a"', '"b"')


def test_a_lone_surrogate_can_be_written():
    line = GraphLine.new("entity", "a", "t", observations=["\ud83d"])
    assert GraphDocument((line,)).data.isascii()
    assert line.item["observations"] == ["\ud83d"]


def test_relations_of_the_removed_go_to_the_survivor_or_with_it():
    edges = [relation("a", "c", "uses", weight=1), relation("b", "c"), relation("c", "a"), relation("a", "b")]
    graph = document(*map(entity, "abc"), *edges, relation("a", "a"), relation("b", "b"))
    lines = [line for line in graph.without_entity("a", "b").lines if line.kind == "relation"]
    assert [line.edge[:2] for line in lines] == [("b", "c"), ("c", "b"), ("b", "b")]
    assert lines[1].raw == relation("c", "b")
    left = [line.raw for line in graph.without_entity("a", None).lines]
    assert left == [entity("b"), entity("c"), relation("b", "c"), relation("b", "b")]


def test_a_relation_to_nowhere_is_refused():
    with pytest.raises(RefusedChangeError):
        document(entity("a")).with_relations("a", [("uses", "gone")])
