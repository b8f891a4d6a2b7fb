"""mem0's open-source memory as a store, over each of its vector stores."""
