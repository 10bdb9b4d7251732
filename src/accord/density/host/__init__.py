"""Compute in NumPy what a traced function makes of data, before anything is compiled."""

from .evaluate import CONTROL, is_computable, results_of, run
from .partial import HostArray, computed, on_host
from .rules import ELEMENTWISE
from .unevaluable import UnevaluableError

__all__ = [
    "CONTROL",
    "ELEMENTWISE",
    "HostArray",
    "UnevaluableError",
    "computed",
    "is_computable",
    "on_host",
    "results_of",
    "run",
]
