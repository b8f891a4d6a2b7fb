"""From verdicts to a plan, and what holds a plan back."""
