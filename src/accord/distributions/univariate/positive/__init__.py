"""Distributions of positive numbers."""
