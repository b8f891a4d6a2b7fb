"""Stores behind an HTTP interface: mem0's hosted platform and its self-hosted server."""
