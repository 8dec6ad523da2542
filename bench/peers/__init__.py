"""Other libraries under the same measure: each in a process and an environment of its own (`make bench-peers`)."""
