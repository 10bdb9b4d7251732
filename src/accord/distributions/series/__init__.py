"""Distribute paths in time."""
