"""Evaluate a traced program with each distinct number computed once."""
