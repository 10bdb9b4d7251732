"""Define what inference does with a site, and what makes a site differ from what `ac.sample` writes.

Handlers set both. A site has one treatment: what is integrated out has no unconstrained numbers, and what is computed
from another site is not sampled. Its role is a fact about the model, and stays whatever the treatment.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..bijectors import AbstractBijector
from .integrals import Integral

if TYPE_CHECKING:
    from .reparam.base import AbstractReparam


@dataclass(frozen=True)
class Free:
    """Sample the site, where it is latent, by unconstrained numbers.

    **Fields**: `bijector`, the map from them that `infer_config` has set in place of that of the support, or None.
    """

    bijector: AbstractBijector | None = None


@dataclass(frozen=True)
class Reparameterised:
    """Sample the site, where it is latent, by way of another one, its auxiliary.

    **Fields**: `reparam`, how; `bijector`, as of `Free`, for a site that `reparam` leaves as it is.
    """

    reparam: "AbstractReparam"
    bijector: AbstractBijector | None = None


@dataclass(frozen=True)
class Computed:
    """Compute the value from other sites that are sampled, though the site has a distribution.

    **Fields**: `auxiliary`, the name outside of the site that it follows from; empty if it follows from all together.
    """

    auxiliary: str = ""


@dataclass(frozen=True)
class Eliminated:
    """Integrate the site out of a log density, unless it is given a value.

    `upto`: of a discrete site, the largest value of the sum; None for all that it has. `by`: of a continuous site, an
    approximation of the integral; None where it is exact.
    """

    upto: int | None = None
    by: Integral | None = None


@dataclass(frozen=True)
class Whole:
    """Sample the site, where it is latent, by its whole numbers: its distribution is discrete."""


Treatment = Free | Reparameterised | Computed | Eliminated | Whole


@dataclass(frozen=True)
class Parameter:
    """A parameter of `ac.param`, without a prior. **Fields**: `init`, its value where the model is drawn."""

    init: Any


@dataclass(frozen=True)
class Lifted:
    """A parameter of `ac.param` that has been given a prior."""


@dataclass(frozen=True)
class Auxiliary:
    """A site by way of which others are sampled.

    **Fields**: `volume`, the map from it to these, where its Jacobian is all that this site adds to the log density.
    """

    volume: AbstractBijector | None = None


Role = Parameter | Lifted | Auxiliary
