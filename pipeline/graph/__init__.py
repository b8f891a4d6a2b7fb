"""What is particular to a knowledge graph: usage, health, forgetting, promotion, relations, reflection."""
