"""Refuse to download the data of NumPyro's examples."""

from ..names.refusal import refusal as _refusal

__getattr__ = _refusal("numpyro.examples.datasets")
