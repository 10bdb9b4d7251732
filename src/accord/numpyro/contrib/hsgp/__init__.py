"""Offer Gaussian processes by sines on a box, by the names of NumPyro."""
