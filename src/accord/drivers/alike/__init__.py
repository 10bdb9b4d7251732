"""Compute what a traced program does again and again in one operation."""

from .merge import merged as merged
