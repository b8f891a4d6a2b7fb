"""`python -m mem0_dream` is the command line."""

from .pipeline.cli.main import main

main(prog_name="mem0-dream")
