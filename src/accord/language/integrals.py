"""Say how unknowns are integrated out where no closed form does it: by Laplace's approximation, or by nodes."""

from dataclasses import dataclass

import numpy as np

from ..core.errors import OptionError
from ..core.options import checks_options, shown

FEWEST, MOST = 5, 100
"""Nodes of a quadrature: of one node Laplace's approximation is made, and of three a worse one."""


@dataclass(frozen=True, init=False)
class Laplace:
    """Integrate sites out as if they were normal given all else: around their mode, by the second derivatives there.

    It is exact where they are normal given all else, and close where each value has much data. Binary data and small
    counts bias variances: for effects of groups, one to three for each, `Quadrature` is far closer, and takes some four
    times as long, or more for several together. The notice `laplace_poor` of a run says if draws come from too
    different a distribution.

    The mode is found by Newton's method from the mean of the prior, anew for each position. Where entries along a plate
    depend on each other only within an entry of the plate, it is found for each of these by itself; else a matrix of as
    many rows as there are entries is factored, at most 2000. Where no mode is found, the log density is -inf. A density
    with a kink, such as that of `dist.Laplace`, often has its mode there, without second derivatives: it is refused.

    **Source**: Tierney & Kadane (1986), JASA 81(393), 82-86; for latent normal variables, Rasmussen & Williams (2006),
    section 3.4, and for gradients, Margossian et al. (2020), NeurIPS.

    **Example**

    >>> model = handlers.collapse(eight_schools(sigma, y), ["z"], by=handlers.Laplace())
    >>> model.log_density().layout.collapsed
    ('z',)
    """

    @checks_options
    def __init__(self) -> None:
        """Take no options."""

    def __str__(self) -> str:
        return "Laplace's approximation"


@dataclass(frozen=True, init=False)
class Quadrature:
    """Integrate entries of sites out by adaptive Gauss-Hermite quadrature, around their mode.

    Effects of groups are independent given all other unknowns: each is integrated out by itself. Two or three that
    depend on each other, as the level and the slope of a group do, are integrated out together, group by group, over
    all combinations of the nodes along each. Which entries do is seen from the traced program; groups of more are
    refused. So is a density with a kink, such as that of `dist.Laplace`, as by `Laplace()`.

    With 25 nodes, effects in a model of counts or binary data with a standard deviation of 1 are integrated out with
    errors below 1e-8; of 3, with errors of 1e-4 where all counts of a group are zero, since half of the density is cut
    off then. With 15, errors are some 1e-6, and two effects together take 225 nodes in the place of 625. The notice
    `few_nodes` of a run says what half of the nodes would change. Each evaluation takes two of the model for each node:
    the notice `integrated_out` of a run says how many these are.

    **Fields**: `nodes`, how many along each number, from 5 to 100. For two numbers together 50 are the most, for three
    13.

    **Raises** `OptionError` for another number.

    **Source**: Liu & Pierce (1994), Biometrika 81(3), 624-629; for several numbers, Pinheiro & Bates (1995), Journal of
    Computational and Graphical Statistics 4(1), 12-35.

    **Example**

    >>> handlers.Quadrature(nodes=15)
    Quadrature(nodes=15)
    """

    nodes: int

    @checks_options
    def __init__(self, nodes: int = 25) -> None:
        """Check the number of nodes."""
        is_count = isinstance(nodes, (int, np.integer)) and not isinstance(nodes, bool)
        if not is_count or not FEWEST <= nodes <= MOST:
            raise OptionError(
                f"handlers.Quadrature: nodes must be a whole number from {FEWEST} to {MOST}; got {shown(nodes)}. "
                "25 are right for most densities; `handlers.Laplace()` takes one."
            )
        object.__setattr__(self, "nodes", int(nodes))

    def __str__(self) -> str:
        return f"quadrature with {self.nodes} nodes"


Integral = Laplace | Quadrature
