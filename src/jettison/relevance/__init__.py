"""Relevance 0..1 of an item to the current task."""
