"""The encoder, the pair scorers and the merge writer."""
