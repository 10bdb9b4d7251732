"""State what one line of a table of distributions holds."""

from collections.abc import Callable
from typing import Any, NamedTuple

import accord.distributions as dist


class Case(NamedTuple):
    """How to build a distribution, SciPy's where it has it, and one with a batch of extreme parameters."""

    make: Callable[[], dist.AbstractDistribution]
    scipy: Callable[[], Any] | None = None
    extremes: Callable[[], dist.AbstractDistribution] | None = None
