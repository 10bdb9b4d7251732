"""Define random discrete measures: the Dirichlet and Pitman-Yor processes.

A process is not itself a distribution over arrays. It is given to one of three that are: the table at which the next
customer sits, the next stick broken off, or the next weight in size-biased order.
"""

from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ...bijectors import align, float_type, is_concrete, value_hash
from ...core.errors import DistributionError
from .. import constraints
from ..constraint import Constraint
from ..parameters import check_parameter
from ..univariate.interval.interval import Beta


class AbstractRandomMeasure(eqx.Module):
    """Abstract base class of random probability measures: atoms with weights that sum to one.

    **Class variables**
    - `parameters`: the constraint of each parameter by name.
    """

    parameters: ClassVar[dict[str, Constraint]] = {}

    def __check_init__(self) -> None:
        for name, constraint in self.parameters.items():
            check_parameter(type(self).__name__, name, constraint, getattr(self, name))

    def __hash__(self) -> int:
        return value_hash(self)

    @property
    @abstractmethod
    def discount(self) -> Any:
        """Weight that a taken table loses to new tables, in [0, 1)."""

    @property
    @abstractmethod
    def strength(self) -> Any:
        """Weight of a new table while there is none."""

    @abstractmethod
    def stick(self) -> Beta:
        """Return the distribution of the share that the next atom takes of the remaining weight."""


class DirichletProcess(AbstractRandomMeasure):
    """Dirichlet process: after n customers about alpha * log(1 + n / alpha) tables are taken.

    **Fields**
    - `alpha`: concentration, > 0; the larger, the more tables.

    **Source**: Ferguson (1973), Ann. Statist. 1(2), 209-230; its sticks: Sethuraman (1994), Statist. Sinica 4, 639-650.
    """

    alpha: Any
    parameters: ClassVar[dict[str, Constraint]] = {"alpha": constraints.positive}

    @property
    def discount(self) -> Any:
        return 0.0

    @property
    def strength(self) -> Any:
        return self.alpha

    def stick(self) -> Beta:
        return Beta(1.0, self.alpha)


class PitmanYorProcess(AbstractRandomMeasure):
    """Pitman-Yor process: the number of tables grows like a power of the number of customers.

    **Fields**
    - `d`: discount, in [0, 1); 0 is the Dirichlet process.
    - `theta`: strength, above -d.
    - `t`: number of sticks broken off before the next one, >= 0. Only sticks use it; tables are counted.

    **Source**: Pitman & Yor (1997), Ann. Probab. 25(2), 855-900.
    """

    d: Any
    theta: Any
    t: Any = 0
    parameters: ClassVar[dict[str, Constraint]] = {
        "d": constraints.unit_interval,
        "theta": constraints.real,
        "t": constraints.nonnegative,
    }

    def __check_init__(self) -> None:
        if is_concrete(self.d) and (np.asarray(self.d) >= 1).any():
            raise DistributionError(f"PitmanYorProcess: d must be below 1, got {self.d}.")
        if (
            is_concrete(self.d)
            and is_concrete(self.theta)
            and (np.asarray(self.theta) <= -np.asarray(self.d)).any()
        ):
            raise DistributionError(
                f"PitmanYorProcess: theta must be above -d, got theta={self.theta} and d={self.d}. Increase theta."
            )

    @property
    def discount(self) -> Any:
        return self.d

    @property
    def strength(self) -> Any:
        return self.theta

    def stick(self) -> Beta:
        d, theta, t = align(jnp.asarray(self.d, float_type(self.d, self.theta)), self.theta, self.t)
        return Beta(1.0 - d, theta + (t + 1.0) * d)
