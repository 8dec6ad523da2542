"""What a replay measures: needed values, what a policy kept of them, its price, and the bounds to hold it against.

The definitions are those of docs/replay.md. `python -m bench quality` and `jettison replay` both use this package.
"""
