"""Compute special functions in NumPy and SciPy, which round their last digits in another way than XLA."""

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np


def _special(name: str) -> Callable[..., Any]:
    """Find a function of SciPy when it is called: few models need any, and the import takes a tenth of a second."""
    return lambda *arrays: getattr(importlib.import_module("scipy.special"), name)(*arrays)


def _polygamma(order: np.ndarray, x: np.ndarray) -> np.ndarray:
    return _special("polygamma")(order.astype(int), x)


FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "pow": np.power,
        "cbrt": np.cbrt, "rsqrt": lambda x: 1 / np.sqrt(x), "logistic": _special("expit"),
        "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
        "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh,
        "acosh": np.arccosh, "atanh": np.arctanh,
        "erf": _special("erf"), "erfc": _special("erfc"), "erf_inv": _special("erfinv"),
        "lgamma": _special("gammaln"), "digamma": _special("digamma"), "polygamma": _polygamma,
        "igamma": _special("gammainc"), "igammac": _special("gammaincc"), "zeta": _special("zeta"),
        "regularized_incomplete_beta": _special("betainc"), "bessel_i0e": _special("i0e"),
        "bessel_i1e": _special("i1e"),
    }
)  # fmt: skip
"""Functions by JAX's name of the operation, entry by entry."""
