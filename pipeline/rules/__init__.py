"""What differs between kinds of stores and classes of memories, as pure rules."""
