"""One page that shows a plan: every proposal, the map of the memories, and how the store changed over time.

Pure: a plan, memories and runs in, one string out. The page loads nothing from any network, and no
text of a memory can run as code.
"""

from __future__ import annotations

from .cards import card_key
from .data import Material, page_data
from .history import RunPoint, run_point
from .page import render

__all__ = ["Material", "RunPoint", "card_key", "page_data", "render", "run_point"]
