"""What is particular to a knowledge graph: usage, forgetting, promotion, relations."""
