"""Compile functions by XLA, and keep what was compiled."""
