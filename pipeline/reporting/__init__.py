"""What is shown of a plan, a run and a store."""
