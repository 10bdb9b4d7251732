"""Offer the distributions of NumPyro: accord's own, by NumPyro's names and arguments."""

from typing import Any as _Any

from ... import distributions as _dist
from ...core.tracebacks import entry_point as _entry_point
from ...distributions import biject_to as biject_to
from ...distributions import constraints as constraints
from ...distributions import kl_divergence as kl_divergence
from ..names.refusal import refusal as _refusal
from ..names.tables.distributions import DISTRIBUTIONS as _NAMES
from . import transforms as transforms
from . import util as util
from .laws import law as _law
from .own import Distribution as Distribution

__all__ = sorted([*_NAMES, "Distribution", "biject_to", "constraints", "kl_divergence", "transforms", "util"])  # pyright: ignore

_refuse = _refusal("numpyro.distributions")


@_entry_point
def __getattr__(name: str) -> _Any:
    if name in _NAMES and hasattr(_dist, name):
        globals()[name] = made = _law(name)
        return made
    return _refuse(name)
