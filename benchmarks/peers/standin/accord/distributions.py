"""Offer NumPyro's distributions, and under accord's names those that NumPyro has in another way."""

from typing import Any

import jax.numpy as jnp
import numpyro.distributions as _numpyro
from numpyro.distributions import *  # noqa: F403
from numpyro.distributions import constraints as constraints


class ImproperUniform(_numpyro.ImproperUniform):
    """NumPyro's, with bounds that may depend on other sites.

    NumPyro looks for such bounds in the support itself, to compute draws from all sites anew, and its own class hides
    the support within another one even where that adds no axis.
    """

    def __init__(
        self, support: Any, batch_shape: tuple[int, ...], event_shape: tuple[int, ...], **options: Any
    ):
        super().__init__(support, batch_shape, event_shape, **options)
        if len(event_shape) == support.event_dim:
            self.support = support


def Flat() -> ImproperUniform:  # noqa: N802 - accord's name
    """Make the flat prior on the real line."""
    return ImproperUniform(constraints.real, (), ())


def FlatPos(lower: Any) -> ImproperUniform:  # noqa: N802 - accord's name
    """Make the flat prior above a bound."""
    return ImproperUniform(constraints.greater_than(lower), (), ())


def HalfStudentT(df: Any, scale: Any = 1.0) -> Any:  # noqa: N802 - accord's name
    """Make the distribution of the size of a Student t variable."""
    return _numpyro.FoldedDistribution(_numpyro.StudentT(df, 0.0, scale))


def LogPoisson(log_rate: Any) -> Any:  # noqa: N802 - accord's name
    """Make the Poisson distribution of a logarithmic rate."""
    return _numpyro.Poisson(jnp.exp(log_rate))
