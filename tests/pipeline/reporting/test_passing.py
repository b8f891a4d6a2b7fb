"""A report shows every action of a plan, whatever the kind of store."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from builders import ALICE, NOW
from hypothesis import given, settings, strategies as st
from mem0_dream.pipeline import plan as plans
from mem0_dream.pipeline.planning.hooks import Proposal
from mem0_dream.pipeline.reporting.graph import GraphReport
from mem0_dream.pipeline.reporting.markdown import PlanReport
from mem0_dream.pipeline.reporting.report import Report
from mem0_dream.pipeline.rules.graph_use import GraphSettings
from mem0_dream.pipeline.stores.graph.entities import RELATIONS, part_id
from mem0_dream.pipeline.stores.graph.lines import GraphDocument

CHANGES: dict[str, list[type[plans.TextChange]]] = {
    "mem0": [plans.Rewrite], "md": [plans.Rewrite, plans.Append, plans.Reindex], "graph": [plans.Rewrite, plans.Relate, plans.Promote],
}  # fmt: skip
_TEXT = st.text("abcdefgh \n", min_size=1, max_size=30).map(lambda text: f"x{text}")


def _name(kind: str, number: int) -> str:
    return f"memory/m{number:03}.md" if kind == "md" else f"m{number:03}"


def _text(kind: str, name: str, said: str) -> str:
    """A text as the kind of store has it: an entity is its name and its observations."""
    return f"{name}\n- {' '.join(said.split())}" if kind == "graph" else said


def _relate(draw: st.DrawFn, name: str, about: dict[str, Any]) -> plans.Relate:
    """Other relations for a node; each type leads to a node of its own. The text says those it has."""
    kinds = (draw(st.sets(st.sampled_from("abcd"))) for _ in range(2))
    before, after = (sorted((kind, f"to {kind}") for kind in each) for each in kinds)
    members = (plans.Member(part_id(name, RELATIONS), json.dumps(before)),)
    new = tuple((kind, target) for kind, target in after)
    return plans.Relate(**about, members=members, text="", reason="why", source=name, relations=new)


def _before(action: plans.Relate) -> set[tuple[str, str]]:
    return {(kind, target) for kind, target in json.loads(action.members[0].text)}


def _graph_report(plan: plans.Plan) -> GraphReport:
    """The report on the graph whose relations are those that the plan saw."""
    lines = [
        {"type": "relation", "from": action.source, "to": target, "relationType": kind}
        for action in plan.actions
        if isinstance(action, plans.Relate)
        for kind, target in sorted(_before(action))
    ]
    graph = GraphDocument.parse("".join(json.dumps(line) + "\n" for line in lines).encode())
    store: Any = SimpleNamespace(document=lambda: graph)
    return GraphReport(store, store, Proposal(plan, plan), settings=GraphSettings(), health=store)


def _told(action: plans.Relate) -> set[str]:
    before, after = _before(action), set(action.relations)
    return {
        f"{sign} {action.source} --{kind}--> {target}"
        for sign, edges in (("+", after - before), ("-", before - after))
        for kind, target in edges
    }


@st.composite
def _plans(draw: st.DrawFn, kind: str) -> plans.Plan:
    actions: list[plans.Action] = []
    sorts = st.sampled_from([plans.Merge, plans.Prune, plans.Resolve, *CHANGES[kind]])
    for place, what in enumerate(draw(st.lists(sorts, max_size=6))):
        names = [_name(kind, 10 * place + number) for number in range(2)]
        members = tuple(plans.Member(name, _text(kind, name, draw(_TEXT))) for name in names)
        about: dict[str, Any] = {"id": f"x{place}", "scope": ALICE, "category": "c"}
        new = _text(kind, names[0], draw(_TEXT))
        if what is plans.Merge:
            actions.append(plans.Merge(**about, members=members, survivor=names[0], text=new))
        elif what is plans.Prune:
            actions.append(plans.Prune(**about, members=members[:1], reason="stale", detail="old"))
        elif what is plans.Resolve:
            about |= {"a": (names[0],), "b": (names[1],), "choice": draw(st.sampled_from(["a", "b", None]))}
            actions.append(plans.Resolve(**about, members=members, topic="t"))
        elif what is plans.Relate:
            actions.append(_relate(draw, names[0], about))
        else:
            actions.append(what(**about, members=members[:1], text=new, reason="why"))
    return plans.Plan("s", kind, NOW, "keywords", (plans.ScopeTotal(ALICE, 99),), tuple(actions))


REPORTS: dict[str, Callable[[plans.Plan], Report]] = {
    "mem0": Report,
    "md": PlanReport,
    "graph": _graph_report,
}


def test_no_kind_of_action_is_left_out() -> None:
    drawn = {
        plans.Merge,
        plans.Prune,
        plans.Resolve,
        *(change for changes in CHANGES.values() for change in changes),
    }
    assert drawn == set(get_args(plans.Action))


@pytest.mark.parametrize("kind", REPORTS)
def test_every_action_is_shown(kind: str) -> None:
    @settings(max_examples=60, deadline=None)
    @given(plan=_plans(kind))
    def holds(plan: plans.Plan) -> None:
        shown = "\n".join(REPORTS[kind](plan).lines())
        for action in plan.actions:
            named = {*action.removes, *([action.survivor] if action.survivor else [])}
            if isinstance(action, plans.Resolve) and action.choice is None:
                named = {action.a[0], action.b[0]}
            if isinstance(action, plans.Merge) and not action.rewrites:
                named -= {action.survivor}
            if isinstance(action, plans.Relate):
                named = _told(action)
            assert all(name.rpartition("/")[2] in shown for name in named), (action, shown)

    holds()
