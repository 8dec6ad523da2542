"""Reports for people. Nothing here is imported by the core; `terminal` needs the extra `jettison[cli]`."""
