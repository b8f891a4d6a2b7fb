"""The command line of knowledge graphs."""
