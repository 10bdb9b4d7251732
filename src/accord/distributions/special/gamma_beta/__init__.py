"""Incomplete gamma and beta functions, and their ratios."""
