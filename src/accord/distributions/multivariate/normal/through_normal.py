"""Define the base class of distributions of functions of a multivariate normal vector."""

from typing import Any, ClassVar

from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...parameters import exactly_one
from ...special.basic.linear import first_given
from .multivariate import MultivariateNormal, check_location


class AbstractThroughNormal(AbstractDistribution):
    """Abstract base class of distributions of a function of a multivariate normal vector z."""

    loc: Any = 0.0
    covariance_matrix: Any = None
    precision_matrix: Any = None
    scale_tril: Any = None
    parameters: ClassVar[dict[str, Constraint]] = MultivariateNormal.parameters

    def __check_init__(self) -> None:
        exactly_one(self, "covariance_matrix", "precision_matrix", "scale_tril")
        check_location(
            self, self.loc, first_given(self.covariance_matrix, self.precision_matrix, self.scale_tril)
        )

    @property
    def batch_shape(self) -> Shape:
        return self._of_z.batch_shape

    @property
    def _of_z(self) -> MultivariateNormal:
        """Return the distribution of z."""
        return MultivariateNormal(self.loc, self.covariance_matrix, self.precision_matrix, self.scale_tril)
