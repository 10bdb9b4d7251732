"""Offer what `numpyro.ops` does."""

from . import indexing as indexing
