"""A report shows every action of a plan, whatever the kind of store."""

from __future__ import annotations

import pytest
from builders import ALICE, NOW
from hypothesis import given, settings
from hypothesis import strategies as st
from mem0_dream.pipeline.plan import Action, Member, Merge, Plan, Prune, Resolve, Rewrite, ScopeTotal
from mem0_dream.pipeline.reporting.graph.report import GraphReport
from mem0_dream.pipeline.reporting.markdown.report import PlanReport
from mem0_dream.pipeline.reporting.passing import PassReport

KINDS = {"mem0": PassReport, "md": PlanReport, "graph": GraphReport}
_TEXT = st.text("abcdefgh \n", min_size=1, max_size=30).map(lambda text: f"x{text}")


def _name(kind: str, number: int) -> str:
    return f"memory/m{number:03}.md" if kind == "md" else f"m{number:03}"


def _text(kind: str, name: str, said: str) -> str:
    """A text as the kind of store has it: an entity is its name and its observations."""
    return f"{name}\n- {' '.join(said.split())}" if kind == "graph" else said


@st.composite
def _plans(draw: st.DrawFn, kind: str) -> Plan:
    """Up to six actions of any kind, each on memories of its own."""
    actions: list[Action] = []
    for place, what in enumerate(
        draw(st.lists(st.sampled_from(["merge", "prune", "resolve", "rewrite"]), max_size=6))
    ):
        names = [_name(kind, 10 * place + number) for number in range(2)]
        members = tuple(Member(name, _text(kind, name, draw(_TEXT))) for name in names)
        about = {"id": f"{what[0]}{place}", "scope": ALICE, "category": "c"}
        new = _text(kind, names[0], draw(_TEXT))
        if what == "merge":
            actions.append(Merge(**about, members=members, survivor=names[0], text=new))
        elif what == "prune":
            actions.append(Prune(**about, members=members[:1], reason="stale", detail="old"))
        elif what == "resolve":
            actions.append(
                Resolve(
                    **about,
                    members=members,
                    a=(names[0],),
                    b=(names[1],),
                    topic="t",
                    choice=draw(st.sampled_from(["a", "b", None])),
                )
            )
        else:
            actions.append(Rewrite(**about, members=members[:1], text=new, reason="why"))
    return Plan("s", kind, NOW, "keywords", (ScopeTotal(ALICE, 99),), tuple(actions))


@pytest.mark.parametrize("kind", KINDS)
def test_every_action_is_shown(kind: str) -> None:
    """Each memory that goes, changes or is asked about stands in the lines that are agreed to."""

    @settings(max_examples=60, deadline=None)
    @given(plan=_plans(kind))
    def holds(plan: Plan) -> None:
        shown = "\n".join(KINDS[kind](plan).lines())
        for action in plan.actions:
            named = {*action.removes, *([action.survivor] if action.survivor else [])}
            if isinstance(action, Resolve) and action.choice is None:
                named = {action.a[0], action.b[0]}
            if isinstance(action, Merge) and not action.rewrites:
                named -= {action.survivor}
            assert all(name.rpartition("/")[2] in shown for name in named), (action, shown)

    holds()
