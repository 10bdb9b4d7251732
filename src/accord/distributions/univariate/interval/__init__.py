"""Distributions on an interval."""
