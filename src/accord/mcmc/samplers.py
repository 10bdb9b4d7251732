"""Check the sampler of a run before anything is compiled, and build the sampler of a stored run."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import kernels
from ..core.errors import OptionError, StorageError
from ..kernels import AbstractKernel
from ..kernels.stored import KERNELS
from ..runs.requests import check_kind
from ..runs.stored.checked import built_from
from .tuning import columns_of


def check_sampler(sampler: Any) -> None:
    """Raise `OptionError` for what is no sampler, or names sites that are no names."""
    check_kind("sampler", sampler, AbstractKernel, "infer.NUTS()")
    whole = sampler.whole
    if not isinstance(whole, tuple | list) or not all(isinstance(name, str) for name in whole):
        raise OptionError(
            f'{type(sampler).__name__}: whole must be a tuple of the names of sites, like ("z",); got {whole!r}.'
        )


def check_adaptation(sampler: AbstractKernel, dim: int) -> None:
    """Raise `OptionError` for an adaptation that is not of the sampler's kind, or not for so many dimensions."""
    wanted = sampler.adaptation_kind
    if not isinstance(sampler.adaptation, wanted):
        raise OptionError(
            f"{type(sampler).__name__}: its adaptation must be an {wanted.__name__}, got {sampler.adaptation!r}."
        )
    sampler.adaptation.check(dim)
    columns_of(sampler.adaptation, dim, np.dtype(np.float64))


def sampler_from(stored: Mapping[str, Any]) -> AbstractKernel:
    """Build the sampler that a manifest describes; nothing else is ever built from a file.

    **Raises** `StorageError` for one that is not accord's, or has a function, of which a manifest has the name alone.
    """
    options = dict(stored)
    name = options.pop("name")
    if name not in KERNELS:
        raise StorageError(
            f"the run used the sampler {name!r}, which this version of accord cannot make of what is stored: it is not "
            "accord's, or has a function of yours. Give it: infer.resume(path, model, sampler=...)."
        )
    with built_from(f"the sampler {name} of the run, in manifest.json,"):
        return getattr(kernels, name).from_described(options, sampler_from)
