"""One page that shows a plan: every proposal, the map of the memories, and how the store fared over time.

Pure: a plan, memories and runs in, one string out. The page asks nothing of any network, and runs
nothing that a memory says.
"""

from __future__ import annotations

from .cards import card_key
from .data import Material, page_data
from .history import RunPoint, run_point
from .page import render

__all__ = ["Material", "RunPoint", "card_key", "page_data", "render", "run_point"]
