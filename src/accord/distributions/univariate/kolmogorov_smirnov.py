"""Distribute the largest distance between an empirical and the true distribution function, of a given number of draws."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import align
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..noise import keep_inside
from ..special.tail_quantile import solve_tails
from .empirical_band import both_log_density, both_log_tails
from .empirical_excess import excess_log_density, excess_log_tails

_MOST_DRAWS = 1000
_GOLDEN = 0.5 * (np.sqrt(5) - 1)
_NARROWINGS = 60


class _AbstractDistance(AbstractDistribution):
    """A distance between an empirical distribution function and the true one, which is continuous."""

    size: eqx.AbstractVar[int]

    def __check_init__(self) -> None:
        if type(self.size) is not int or not 1 <= self.size <= _MOST_DRAWS:
            raise self.refuse(
                f"size is {self.size!r}",
                f"Give a Python integer from 1 to {_MOST_DRAWS}; for more draws, take `Kolmogorov` for the limit law "
                "of sqrt(size) times the distance.",
            )
