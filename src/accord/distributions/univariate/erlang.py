"""Define the Erlang distribution, a gamma distribution with a whole concentration."""

from typing import Any

import numpy as np

from ...bijectors import is_concrete
from ...core.errors import DistributionError
from ...core.options import checks_options
from .gamma import Gamma


@checks_options
def Erlang(concentration: Any, rate: Any = 1.0) -> Gamma:  # noqa: N802 - the name of a distribution
    """Erlang distribution: the waiting time for a whole number of events of a Poisson process.

    **Raises** `DistributionError` when the concentration is known now and is not a whole number.
    """
    if is_concrete(concentration) and (np.asarray(concentration) % 1 != 0).any():
        raise DistributionError(
            f"Erlang: concentration must be a whole number, got {concentration}. Use Gamma for other values."
        )
    return Gamma(concentration, rate)
