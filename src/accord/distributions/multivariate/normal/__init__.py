"""Vectors that are normal, or are maps of normal vectors."""
