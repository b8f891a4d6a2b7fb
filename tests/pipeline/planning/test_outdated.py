"""Which other memories a settled conflict may have made untrue."""

from __future__ import annotations

import pytest
from builders import BOB, CONTRADICTION, NOW, memory
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.planning.outdated import outdated
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, FakeScorer, InMemoryStore

PORTO, FARO = "Lives in Porto near the river.", "Lives in Faro near the river."
EVERY = ScopeFilter({"user_id": "alice"})


@pytest.mark.parametrize(
    ("text", "scope", "listed"),
    [
        ("Takes the tram to the office in Porto.", None, True),
        ("Takes the tram to the office in Faro.", None, False),
        ("Takes the tram to the office in Portobello.", None, False),
        ("Takes the tram to the office in Porto.", BOB, False),
    ],
)
@pytest.mark.parametrize("choice", ["b", None])
def test_what_names_the_old_value(text, scope, listed, choice) -> None:
    other = memory("other", text, days=50, **({"scope": scope} if scope else {}))
    store = InMemoryStore([memory("a", PORTO, days=100), memory("b", FARO, days=3), other])
    scorer = FakeScorer({(FARO, PORTO): CONTRADICTION}, default=lambda _a, _b: (0.0, 0.0, 1.0))
    limits = Settings(floor=-1.0, max_delete=1.0)
    with Session(store, scorer=scorer, encoder=FakeEncoder(), settings=limits) as session:
        plan = session.propose(EVERY, now=NOW)
        plan = plan.with_choices({plan.conflicts[0].id: choice})
        session.apply(plan, now=NOW)
        found = outdated(plan, session.read(ScopeFilter()).memories)
    assert [each.id for each in found] == (["other"] if listed and choice else [])
