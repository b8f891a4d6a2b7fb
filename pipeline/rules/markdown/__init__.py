"""What is particular to Markdown memories: drift, references, dates, logs, the index."""
