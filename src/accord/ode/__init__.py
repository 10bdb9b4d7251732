"""Solve differential equations inside a model."""

from .solve import solve as solve
