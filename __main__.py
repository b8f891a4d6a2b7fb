"""`python -m mem0_dream` is the command line."""

from .pipeline.cli import main

main(prog_name="mem0-dream")
