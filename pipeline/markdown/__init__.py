"""What is particular to directories of Markdown memories: parsing, drift, index, signal, report."""
