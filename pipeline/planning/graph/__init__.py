"""From what a pass over a graph found to the plan, relations included."""
