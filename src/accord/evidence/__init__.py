"""Estimate how probable the data are under a model: the evidence, or marginal likelihood."""
