"""A plan reviewed in the browser: one page, one person, one store, on this machine alone."""
