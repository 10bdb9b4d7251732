"""Offer the samplers, fits and tools of inference of NumPyro, by its names and arguments."""

import importlib as _importlib
from typing import Any as _Any

from ...core.tracebacks import entry_point as _entry_point
from ..names.refusal import refusal as _refusal
from .initialization import init_to_feasible as init_to_feasible
from .initialization import init_to_mean as init_to_mean
from .initialization import init_to_median as init_to_median
from .initialization import init_to_sample as init_to_sample
from .initialization import init_to_uniform as init_to_uniform
from .initialization import init_to_value as init_to_value
from .initialize import initialize_model as initialize_model
from .kernels import AIES as AIES
from .kernels import ESS as ESS
from .kernels import HMC as HMC
from .kernels import NUTS as NUTS
from .kernels import SA as SA
from .kernels import BarkerMH as BarkerMH
from .mcmc import MCMC as MCMC
from .predictive import Predictive as Predictive
from .predictive import log_likelihood as log_likelihood

_LATER = {
    "CustomGibbs": "gibbs",
    "DiscreteGibbs": "gibbs",
    "DiscreteHMCGibbs": "hmc_gibbs",
    "ELBO": "elbo",
    "Gibbs": "gibbs",
    "HMCECS": "hmc_gibbs",
    "HMCGibbs": "hmc_gibbs",
    "MixedHMC": "mixed_hmc",
    "RenyiELBO": "elbo",
    "SVI": "svi",
    "TraceEnum_ELBO": "elbo",
    "TraceGraph_ELBO": "elbo",
    "TraceMeanField_ELBO": "elbo",
    "Trace_ELBO": "elbo",
}
"""Names that are loaded when they are first used, and their files."""

_MODULES = ("autoguide", "elbo", "initialization", "mcmc", "reparam", "svi", "util")

_refuse = _refusal("numpyro.infer")


@_entry_point
def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _importlib.import_module(f".{name}", __name__)
    if name in _LATER:
        found = getattr(_importlib.import_module(f".{_LATER[name]}", __name__), name)
        globals()[name] = found
        return found
    return _refuse(name)
