"""Distribute real numbers, one at a time."""
