"""Solve differential equations inside of a model."""

from .solve import solve as solve
