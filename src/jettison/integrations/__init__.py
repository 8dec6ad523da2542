"""Jettison with other packages and services, one file each."""
