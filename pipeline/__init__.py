"""The stages in order: read, embed, candidates, judge, plan, report, write, journal."""
