"""What the engine asks of a knowledge graph: who is judged, what a merge says, which relations follow."""
