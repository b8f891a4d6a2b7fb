"""A report shows every action of a plan, whatever the kind of store."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from hypothesis import given, settings, strategies as st
from mem0_dream.pipeline.plan import (
    Action,
    Append,
    Member,
    Merge,
    Plan,
    Promote,
    Prune,
    Reindex,
    Relate,
    Resolve,
    Rewrite,
    TextChange,
)
from mem0_dream.pipeline.planning.hooks import Proposal
from mem0_dream.pipeline.reporting.graph import GraphReport
from mem0_dream.pipeline.reporting.markdown import PlanReport
from mem0_dream.pipeline.reporting.report import Report
from mem0_dream.pipeline.rules.graph_use import GraphSettings
from mem0_dream.pipeline.stores.graph.entities import RELATIONS, part_id
from mem0_dream.pipeline.stores.graph.lines import GraphDocument
from messy import plans

CHANGES: dict[str, list[type[TextChange]]] = {
    "mem0": [Rewrite], "md": [Rewrite, Append, Reindex], "graph": [Rewrite, Relate, Promote],
}  # fmt: skip
_TEXT = st.text("abcdefgh \n", min_size=1, max_size=30).map(lambda text: f"x{text}")


def _relations(draw: st.DrawFn, what: type, name: str) -> dict[str, Any]:
    """Other relations for a node; each type leads to a node of its own. The text says those it has."""
    if what is not Relate:
        return {}
    kinds = (draw(st.sets(st.sampled_from("abcd"))) for _ in range(2))
    before, after = (sorted((kind, f"to {kind}") for kind in each) for each in kinds)
    members = (Member(part_id(name, RELATIONS), json.dumps(before)),)
    return {"members": members, "text": "", "source": name, "relations": tuple(after)}


def _before(action: Relate) -> set[tuple[str, str]]:
    return {(kind, target) for kind, target in json.loads(action.members[0].text)}


def _graph_report(plan: Plan) -> GraphReport:
    lines = [
        {"type": "relation", "from": action.source, "to": target, "relationType": kind}
        for action in plan.actions
        if isinstance(action, Relate)
        for kind, target in sorted(_before(action))
    ]
    graph = GraphDocument.parse("".join(json.dumps(line) + "\n" for line in lines).encode())
    store: Any = SimpleNamespace(document=lambda: graph)
    return GraphReport(store, store, Proposal(plan, plan), settings=GraphSettings(), health=store)


def _told(action: Relate) -> set[str]:
    before, after = _before(action), set(action.relations)
    return {
        f"{sign} {action.source} --{kind}--> {target}"
        for sign, edges in (("+", after - before), ("-", before - after))
        for kind, target in edges
    }


def _plans(kind: str) -> st.SearchStrategy[Plan]:
    """Plans whose texts are as the kind of store has them: an entity is its name and its observations."""
    given: dict[str, Any] = {"name": "memory/m{}{}.md"} if kind == "md" else {"name": "m{}{}"}
    if kind == "graph":
        given |= {"form": lambda name, text: f"{name}\n- {' '.join(text.split())}", "more": _relations}
    return plans([Merge, Prune, Resolve, *CHANGES[kind]], kind=kind, text=_TEXT, **given)


REPORTS: dict[str, Callable[[Plan], Report]] = {"mem0": Report, "md": PlanReport, "graph": _graph_report}


def test_no_kind_of_action_is_left_out() -> None:
    drawn = {Merge, Prune, Resolve, *(change for changes in CHANGES.values() for change in changes)}
    assert drawn == set(get_args(Action))


@pytest.mark.parametrize("kind", REPORTS)
def test_every_action_is_shown(kind: str) -> None:
    @settings(max_examples=60, deadline=None)
    @given(plan=_plans(kind))
    def holds(plan: Plan) -> None:
        shown = "\n".join(REPORTS[kind](plan).lines())
        for action in plan.actions:
            named = {*action.removes, *([action.survivor] if action.survivor else [])}
            if isinstance(action, Resolve) and action.choice is None:
                named = {action.a[0], action.b[0]}
            if isinstance(action, Merge) and not action.rewrites:
                named -= {action.survivor}
            if isinstance(action, Relate):
                named = _told(action)
            assert all(name.rpartition("/")[2] in shown for name in named), (action, shown)

    holds()
