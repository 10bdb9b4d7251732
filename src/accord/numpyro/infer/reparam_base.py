"""Define what a reparameterisation is: it visits another site in the place of one."""

import abc
from typing import Any

from ...distributions import AbstractDistribution

Way = tuple[AbstractDistribution | None, Any]


class Reparam(abc.ABC):
    """Base class of reparameterisations: called with a site, each returns a distribution, or None, and a value."""

    @abc.abstractmethod
    def __call__(self, name: str, fn: AbstractDistribution, obs: Any) -> Way:
        """Visit the auxiliary site, and return what takes the place of the site."""
