"""The command line on a graph that kills itself for real, with SIGKILL, on its way."""

from __future__ import annotations

from forks import Call, command_line
from killing import dying
from mem0_dream.pipeline.stores.files import exchange
from mem0_dream.pipeline.stores.graph.store import GraphStore


def run_and_die(call: Call) -> None:
    """Die at the n-th write of the store, or at the n-th "exchange" of the graph's file with its successor."""
    at, step, after = (call.options[name] for name in ("at", "step", "after"))
    owner, name = {"write": (GraphStore, "write"), "exchange": (exchange, "_exchange")}[at]
    setattr(owner, name, dying(getattr(owner, name), step, after=after))
    command_line(call)
