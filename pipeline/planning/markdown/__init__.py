"""From what a pass over Markdown memories found to the plan, index included."""
