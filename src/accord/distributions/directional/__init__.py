"""Distribute angles and directions."""
