"""Offer the bounds of NumPyro, for `SVI`."""

from ...names.refusal import refusal as _refusal
from .base import ELBO as ELBO
from .enum import TraceEnum_ELBO as TraceEnum_ELBO
from .graph import TraceGraph_ELBO as TraceGraph_ELBO
from .mean_field import TraceMeanField_ELBO as TraceMeanField_ELBO
from .renyi import RenyiELBO as RenyiELBO
from .trace import Trace_ELBO as Trace_ELBO

__all__ = ["ELBO", "RenyiELBO", "TraceEnum_ELBO", "TraceGraph_ELBO", "TraceMeanField_ELBO", "Trace_ELBO"]

__getattr__ = _refusal("numpyro.infer")
