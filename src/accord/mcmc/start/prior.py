"""Start at draws from the prior, or at their medians."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from ...core import keys
from ...core.options import checks_options, positive_count
from ...core.position import Position
from ...core.tree import to_numpy
from ...density import LogDensity
from ...density.simulate import prior_position
from ...density.unknowns import free_of
from ...programs.standalone import compile_alone
from .base import AT_ONCE, AbstractStart, num_tries_ahead
from .table import TablePoints

_NUM_MEDIANS = 10


@dataclass(frozen=True)
class FromPrior(AbstractStart):
    """See `from_prior`."""

    def points(self, density: LogDensity, seed: int, chains: Sequence[int]) -> TablePoints:
        """Draw one candidate for each try, before the run: a worker would need the program too."""
        draw = _drawing(density, num_tries_ahead(density.dim))
        return TablePoints.of("drawn from the prior", {chain: draw(seed, chain) for chain in chains})

    def described(self) -> dict[str, Any]:
        """It has no options."""
        return {"kind": "from_prior"}


@dataclass(frozen=True)
class FromMedian(AbstractStart):
    """See `from_median`."""

    num_samples: int

    def points(self, density: LogDensity, seed: int, chains: Sequence[int]) -> TablePoints:
        """A median for each try."""
        draw = _drawing(density, _NUM_MEDIANS * self.num_samples)

        def medians(chain: int) -> Any:
            found = draw(seed, chain)
            draws = free_of(found).reshape(_NUM_MEDIANS, self.num_samples, density.dim)
            with np.errstate(invalid="ignore"):  # of two infinities
                centre = np.median(draws, axis=1)
            # The median of whole numbers need not be among those that go together: they are those of one draw.
            whole: Any = found.whole if isinstance(found, Position) else None
            return centre if whole is None else replace(found, free=centre, whole=whole[:: self.num_samples])

        return TablePoints.of("at medians of the prior", {chain: medians(chain) for chain in chains})

    def described(self) -> dict[str, Any]:
        """Describe the start for the manifest: the number of draws in a median."""
        return {"kind": "from_median", "num_samples": self.num_samples}


@checks_options
def from_prior() -> FromPrior:
    """Start each chain at a draw from the prior; observations have no effect on it.

    A chain takes the best of the first ten points with a finite log density and gradient, or climbs, as with
    `from_uniform`. There are 100 tries; fewer for large models, but at least ten. It compiles one more program.

    **Raises** (when the run starts) `SiteError` for a prior that is improper or cannot be sampled.

    **Example**

    >>> infer.sample(eight_schools(sigma, y), init=infer.from_prior(), draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """
    return FromPrior()


@checks_options
def from_median(num_samples: int = 15) -> FromMedian:
    """Start each chain at the median of some draws from the prior: near its centre, and a little apart.

    The median is taken per unconstrained coordinate; for a scalar site it is the median of the site. A chain takes the
    best of ten such points with a finite log density and gradient, or climbs, as with `from_uniform`.

    **Arguments**: `num_samples`, number of draws for each median; >= 1.

    **Raises** `OptionError` for another count; (when the run starts) `SiteError` as `from_prior`.

    **Example**

    >>> infer.sample(eight_schools(sigma, y), init=infer.from_median(), draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """
    return FromMedian(positive_count("num_samples", num_samples))


def _drawing(density: LogDensity, count: int) -> Callable[[int, int], Any]:
    """Compile `(seed, chain) -> positions`, so many; the count is one of tens."""

    def positions(density: LogDensity, words: Any) -> Any:
        def position(words: Any) -> Any:
            return prior_position(density, jax.random.wrap_key_data(words, impl="threefry2x32"))

        return jax.vmap(position)(words)

    program = compile_alone(density, positions, np.zeros((AT_ONCE, 2), np.uint32))

    def draw(seed: int, chain: int) -> Any:
        words = keys.words(keys.chain_key(seed, chain), keys.USE_START, count)
        tens = words.reshape(-1, AT_ONCE, 2)
        return jax.tree.map(lambda *rows: np.concatenate(rows), *(to_numpy(program(each)) for each in tens))

    return draw
