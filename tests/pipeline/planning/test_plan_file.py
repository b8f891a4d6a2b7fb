"""Plans on disk: what is written is read back, what is wrong is named."""

import json

import pytest
from builders import ALICE, NOW, plan_of
from hypothesis import given, settings, strategies as st
from mem0_dream.errors import PlanFileError
from mem0_dream.pipeline.plan import Append, Member, Plan, Promote, Reindex, Relate, Rewrite
from mem0_dream.pipeline.planning import plan_file
from mem0_dream.pipeline.planning.plan_file import dump_plan, parse_plan
from messy import messy_plan, messy_store, moody_scorer, stores


@settings(max_examples=60, deadline=None)
@given(store=stores(), seed=st.integers(0, 50))
def test_a_plan_is_read_back_equal(store, seed):
    plan = plan_of(store, moody_scorer(seed))
    assert parse_plan(dump_plan(plan)) == plan
    assert dump_plan(parse_plan(dump_plan(plan))) == dump_plan(plan)


def test_a_plan_is_written_alike_in_parts_of_any_size(monkeypatch):
    plan = messy_plan(messy_store())
    whole = dump_plan(plan)
    monkeypatch.setattr(plan_file, "AT_ONCE", 1)
    assert len(plan.actions) > 1
    assert dump_plan(plan) == whole


def test_a_conflict_can_be_answered_in_the_file():
    text = dump_plan(messy_plan(messy_store()).with_choices({"c1": None}))
    edited = text.replace('"choice": null', '"choice": "a"')
    assert parse_plan(edited).conflicts[0].removes == ("t2",)


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda text: "", "no plan header"),
        (lambda text: "{}\n" + text, "no plan header"),
        (lambda text: text.replace('"version": 2', '"version": 7'), "version 7"),
        (lambda text: text + "{not json\n", "is no JSON"),
        (lambda text: text + "[1]\n", "is no JSON object"),
        (lambda text: text + '{"record": "surprise"}\n', "neither an action"),
        (lambda text: text.replace('"kind": "prune"', '"kind": "purge"'), "damaged at actions"),
        (lambda text: text.replace('"survivor": "d3"', '"survivor": "zz"'), "no members for"),
    ],
)
def test_a_damaged_file_is_refused_with_one_sentence(damage, complaint):
    text = dump_plan(messy_plan(messy_store()))
    with pytest.raises(PlanFileError, match=complaint):
        parse_plan(damage(text))


def test_one_header_and_a_line_for_each_action_are_read_also_of_an_earlier_version():
    plan = messy_plan(messy_store())
    header, *lines = [json.loads(line) for line in dump_plan(plan).splitlines()]
    assert (header["format"], header["version"]) == ("mem0-dream plan", 2)
    assert [line["id"] for line in lines if line["record"] == "action"] == ["m1", "m2", "c1", "p1"]
    for name in ("notes", "left_open", "apart"):
        del header[name]
    for line in lines:
        line.pop("expires", None)
        if line["kind"] == "merge" and line["survivor"]:
            line["metadata"] = {}
    read = parse_plan("".join(json.dumps(line) + "\n" for line in (header, *lines)))
    assert (read.notes, read.left_open, read.apart) == ((), 0, ())
    assert not any(merge.amends for merge in read.merges)


@pytest.mark.parametrize("kind", [Rewrite, Append, Reindex, Relate, Promote])
def test_every_kind_of_change_is_read_back_equal(kind):
    change = kind(id="x", scope=ALICE, category=None, members=(Member("a", "x"),), text="y", reason="why")
    plan = Plan("s", "md", NOW, "fake", (), (change,))
    assert parse_plan(dump_plan(plan)) == plan
