"""Distribute counts and categories."""
