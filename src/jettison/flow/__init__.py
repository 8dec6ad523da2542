"""What each item says (segments, values), which later call used it (dependencies), what the task is (task state)."""
