"""What changes a store and remembers it: writer, journal, state, reads."""
