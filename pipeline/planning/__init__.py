"""From verdicts to a plan that a person can read, answer and keep as a file."""
