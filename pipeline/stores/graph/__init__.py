"""A memory server's knowledge graph as a store: its file or its running server."""
