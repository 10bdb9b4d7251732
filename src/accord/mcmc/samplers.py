"""Check the sampler of a run before anything is compiled."""

from typing import Any

import numpy as np

from ..core.errors import OptionError
from ..kernels import AbstractKernel
from ..runs.requests import check_kind
from .tuning import columns_of


def check_sampler(sampler: Any) -> None:
    """Raise `OptionError` for what is no sampler."""
    check_kind("sampler", sampler, AbstractKernel, "infer.NUTS()")


def check_adaptation(sampler: AbstractKernel, dim: int) -> None:
    """Raise `OptionError` for an adaptation that is not of the sampler's kind, or not for so many dimensions."""
    wanted = sampler.adaptation_kind
    if not isinstance(sampler.adaptation, wanted):
        raise OptionError(
            f"{type(sampler).__name__}: its adaptation must be an {wanted.__name__}, got {sampler.adaptation!r}."
        )
    sampler.adaptation.check(dim)
    columns_of(sampler.adaptation, dim, np.dtype(np.float64))
