"""Distribute vectors and matrices."""
