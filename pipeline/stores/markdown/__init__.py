"""Directories of Markdown memories as a store, and what lies around them: history, code, logs."""
