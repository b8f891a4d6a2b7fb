"""From memories to verdicts: candidates, judge, caches, and thresholds fitted to a person's own pairs."""
