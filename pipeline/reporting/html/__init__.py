"""One page that shows a plan: every proposal, what was applied, and how the store changed over time.

Pure: a plan, memories and runs in, one string out. The page loads nothing from any network, and no
text of a memory can run as code.
"""

from __future__ import annotations

from .data import Material, RunPoint, applied_data, done_data, page_data, run_point
from .page import render

__all__ = ["Material", "RunPoint", "applied_data", "done_data", "page_data", "render", "run_point"]
