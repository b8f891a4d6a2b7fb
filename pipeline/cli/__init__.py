"""The command line: parse, make one call, show what came of it."""
