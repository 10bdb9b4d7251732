"""Fit guides to posteriors: variational inference as a run like any other."""
