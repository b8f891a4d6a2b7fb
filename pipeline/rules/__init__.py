"""What differs between kinds of stores, as pure functions."""
