"""What is shown of a pass over Markdown memories, in the words of the original."""
