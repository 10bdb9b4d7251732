"""Distributions of statistics of samples."""
