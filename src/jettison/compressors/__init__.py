"""Shorter texts: deterministic, every gap marked, nothing reworded."""
