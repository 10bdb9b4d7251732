"""Climb to the peak of a log density, and describe it: modes, Laplace's approximation."""
