"""Carry out runs: tasks for workers, records, and what continues or ends a run."""
