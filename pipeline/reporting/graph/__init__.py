"""What is shown of a graph: the report of a pass, its health, a look back."""
