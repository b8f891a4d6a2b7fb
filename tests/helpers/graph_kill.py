"""A driver that runs the command line on a graph and kills it for real, with SIGKILL, on its way.

It reads cases as JSON from its input and forks a child for each, so that the imports are paid once:

    {"arguments": ["undo", "--store", "graph", "--file", ...], "state": ...}
    {"arguments": [...], "state": ..., "at": "write", "step": 3, "after": true}

A child with "at" dies at the n-th write of the store, or at the n-th "exchange" of the graph's file with
its successor, just before or just after it. One line of JSON per case comes back.
"""

from __future__ import annotations

import mem0_dream.pipeline.cli.main
from killing import Case, dying, serve
from mem0_dream.pipeline.stores.files import exchange
from mem0_dream.pipeline.stores.graph.store import GraphStore

BEFORE_THE_FORK = (
    "faiss", "filelock", "mem0_dream.models.keywords", "mem0_dream.models.lexical", "mem0_dream.models.registry",
    "mem0_dream.pipeline.cli.progress", "mem0_dream.pipeline.reporting.graph.health", "mem0_dream.pipeline.reporting.graph.report",
    "mem0_dream.pipeline.planning.graph.proposing", "mem0_dream.pipeline.reporting.report",
)  # fmt: skip


def carry_out(case: Case) -> None:
    """What a child does."""
    if "at" in case:
        owner, name = {"write": (GraphStore, "write"), "exchange": (exchange, "_exchange")}[case["at"]]
        setattr(owner, name, dying(getattr(owner, name), case["step"], after=case.get("after", False)))
    mem0_dream.pipeline.cli.main.main(case["arguments"], prog_name="mem0-dream")


if __name__ == "__main__":
    serve(carry_out, imports=BEFORE_THE_FORK)
