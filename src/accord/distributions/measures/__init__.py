"""Distribute random measures, and the partitions that they give."""
