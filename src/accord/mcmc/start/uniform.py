"""Start at uniform points in a box around zero, in unconstrained space."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core import keys
from ...core.errors import OptionError
from ...core.options import checks_options
from ...density import LogDensity
from .base import MAX_TRIES, AbstractPoints, AbstractStart, num_tries_ahead
from .placing import compiled
from .table import TablePoints

RADIUS = 2.0  # Stan's choice


@dataclass(frozen=True)
class UniformPoints(AbstractPoints):
    """Uniform candidates within `radius` of zero in every coordinate."""

    radius: float = RADIUS

    @property
    def origin(self) -> str:
        return f"uniform within {self.radius:g} of zero in unconstrained space"

    def num_tries(self, chain: int) -> int:
        """Return the number of tries, which is equal for all chains."""
        del chain
        return MAX_TRIES

    def is_given(self, chain: int) -> bool:
        """They are all drawn."""
        del chain
        return False

    def position(self, seed: int, chain: int, attempt: int, dim: int) -> np.ndarray:
        """Drawn where it is needed."""
        generator = keys.generator(keys.chain_key(seed, chain), keys.USE_START, attempt)
        return generator.uniform(-self.radius, self.radius, dim)

    def positions(self, seed: int, chain: int, count: int, dim: int) -> np.ndarray:
        """The first places of a chain, shape `(count, dim)`: the same, in less time."""
        words = keys.words(keys.chain_key(seed, chain), keys.USE_START, count)
        return np.stack([
            keys.generator_of(each).uniform(-self.radius, self.radius, dim) for each in words
        ])  # fmt: skip


def tries(
    density: LogDensity, seed: int, chain: int, radius: float = RADIUS
) -> tuple[np.ndarray, np.ndarray]:
    """Return the candidates of a chain that are drawn before the run, `(try, dim)`, and words of keys, `(try, 2)`."""
    count = num_tries_ahead(density.dim + density.layout.num_whole)
    elsewhere = UniformPoints(radius).positions(seed, chain, count, density.dim)
    return elsewhere, keys.words(keys.chain_key(seed, chain), keys.USE_START_WHOLE, count)


@dataclass(frozen=True)
class FromUniform(AbstractStart):
    """See `from_uniform`."""

    radius: float

    def points(self, density: LogDensity, seed: int, chains: Sequence[int]) -> AbstractPoints:
        """Return the points; they need nothing of a model without whole numbers, which are drawn from their prior."""
        points = UniformPoints(self.radius)
        if not density.layout.whole:
            return points
        place = compiled(density, ())
        places = {
            chain: place({}, *tries(density, seed, chain, self.radius), points.origin) for chain in chains
        }
        return TablePoints.of(f"{points.origin}, and whole numbers drawn from their prior", places)

    def described(self) -> dict[str, Any]:
        """Its radius."""
        return {"kind": "from_uniform", "radius": self.radius}


@checks_options
def from_uniform(radius: float = RADIUS) -> FromUniform:
    """Start each chain at a uniform point in a box around zero in unconstrained space; the default.

    A chain takes the best of the first ten points with a finite log density and gradient; there are 100 tries. It also
    climbs from them: if one mode has far more mass than another, the chain starts there, and at the highest one if its
    best point is far below and has a wrong gradient. (It climbs in up to 64 dimensions, and not with `ChEES`.)

    **Arguments**: `radius`, half the width of the box, in unconstrained units, >= 0. At 0 all chains start at zero,
    the centre of each site's support: R-hat then cannot detect chains that have not moved.

    **Raises** `OptionError` for a radius that is negative or not a number.

    **Example**

    >>> infer.sample(eight_schools(sigma, y), init=infer.from_uniform(0.5), draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """
    is_number = isinstance(radius, (int, float, np.integer, np.floating)) and not isinstance(radius, bool)
    if not (is_number and np.isfinite(radius) and radius >= 0):
        raise OptionError(
            f"from_uniform: radius must be a finite number of at least 0, got {radius!r}. It is half the width of the "
            "box in unconstrained space; 2 is usual."
        )
    return FromUniform(float(radius))
