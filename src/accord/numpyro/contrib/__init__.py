"""Offer what scripts use of `numpyro.contrib`."""
