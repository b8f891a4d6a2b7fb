"""The one foundation of text: words and their stems, sentences and statements, and the tables of words."""
