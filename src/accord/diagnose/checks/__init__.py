"""Check a model before sampling: one file for each check, on one context."""
