"""Replays recorded trajectories through eviction policies: what was kept of what was needed, at which price."""
