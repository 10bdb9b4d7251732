"""Distributions on the real line."""
