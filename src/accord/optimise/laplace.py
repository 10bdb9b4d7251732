"""Draw from Laplace's approximation: a normal that matches a posterior at its peak."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from ..core import keys
from ..core.errors import OptionError, SamplingError, suggest
from ..core.notice import Notice
from ..core.options import positive_count
from ..core.precision import scope
from ..core.tracebacks import entry_points
from ..core.tree import kept
from ..density import LogDensity
from ..executors.pools import one_blas_thread
from .information import Information
from .peak import peak_from
from .surface import in_batches
from .view import View

_FEW = 0.1  # effective draws by draw: with less, the normal is another distribution


@entry_points
@dataclass(frozen=True, eq=False)
class Laplace:
    """Draws from a normal approximation in unconstrained space; `laplace["mu"]` has the draws of a site.

    **Fields**
    - `model`: its name.
    - `values`: by latent and deterministic site, in the model's space, shape `(draw, *site)`.
    - `positions`: shape `(draw, dim)`, unconstrained. `mean`, shape `(dim,)`, and `covariance`, shape `(dim, dim)`: of
      the normal that they are from.
    - `log_weights`: shape `(draw,)`: log joint density, Jacobian included, less that of the normal. The mean of their
      exponentials estimates the evidence too.
    - `log_evidence`: by Laplace's formula, without the draws: exact for a normal.
    - `notices`: whether the normal is far from the posterior.

    **Example**

    >>> found = infer.find_mode(coin(4, heads)).laplace(draws=500)
    >>> found["p"].shape
    (500,)
    """

    model: str
    values: Mapping[str, np.ndarray]
    positions: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    log_weights: np.ndarray
    log_evidence: float
    notices: tuple[Notice, ...]

    @property
    def effective_draws(self) -> float:
        """Effective number of posterior draws after weighting: between 1 and the number of draws."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return float(weights.sum() ** 2 / np.sum(weights**2))

    def __getitem__(self, name: str) -> np.ndarray:
        """The draws of a site, shape `(draw, *site)`. Raises `OptionError` for an unknown name."""
        if name not in self.values:
            raise OptionError(f"there is no site {name!r} among the draws.{suggest(name, self.values)}")
        return self.values[name]

    def __len__(self) -> int:
        return len(self.positions)

    def __str__(self) -> str:
        title = (
            f"Laplace's approximation of {self.model}: log evidence {self.log_evidence:.6g}, {len(self)} draws, worth "
            f"{self.effective_draws:.0f} of the posterior when weighted"
        )
        return "\n".join([title, *map(str, self.notices)])

    __repr__ = __str__


def approximate(density: LogDensity, position: np.ndarray, draws: int, seed: int) -> Laplace:
    """Approximate a posterior near a position; see `Mode.laplace`."""
    count = positive_count("draws", draws)
    generator = keys.generator(keys.chain_key(seed, 0), keys.USE_LAPLACE, 0)
    with scope(density.program.precision), one_blas_thread():
        view, information = _peak(density, position)
        noise = generator.standard_normal((count, density.dim))
        positions = view.position + noise @ information.told.T
        sites, log_densities = in_batches(density, _sites_and_density)(positions)
    log_scale = np.linalg.slogdet(information.told)[1] + density.dim * np.log(2 * np.pi) / 2
    log_weights = log_densities + log_scale + np.sum(noise**2, axis=1) / 2
    # A place that is impossible weighs nothing.
    log_weights = np.where(np.isnan(log_weights), -np.inf, log_weights)
    found = Laplace(
        density.program.name,
        {name: kept(value) for name, value in sites.items()},
        kept(positions),
        kept(view.position),
        kept(information.told @ information.told.T),
        kept(log_weights),
        float(view.value + log_scale),
        (),
    )
    return replace(found, notices=_notices(found))


def _peak(density: LogDensity, position: np.ndarray) -> tuple[View, Information]:
    """The maximum of the density of unconstrained numbers, which is another one than that of the values."""
    peak = peak_from(density, [position[None, None]])
    if peak is None or peak.information is None:
        raise SamplingError(
            f"laplace: in unconstrained numbers, the density of {density.program.name!r} has no peak near the mode "
            "that looks like a normal: along some direction it does not fall, or its second derivatives are not "
            "finite or too many. Draw with infer.sample."
        )
    if not peak.is_reached:
        raise SamplingError(
            f"laplace: the search for the peak of {density.program.name!r} in unconstrained numbers did not come to an "
            "end. Draw with infer.sample."
        )
    return peak.view, peak.information


def _sites_and_density(density: LogDensity, positions: Any) -> Any:
    return jax.lax.map(lambda position: (density.constrain(position), density(position)), positions)


def _notices(found: Laplace) -> tuple[Notice, ...]:
    share = found.effective_draws / len(found)
    if share >= _FEW:
        return ()
    return (
        Notice(
            "warning",
            "far_from_normal",
            f"Weighted, {len(found)} draws are worth {found.effective_draws:.0f} of the posterior: it is far from a "
            "normal in unconstrained numbers.",
            "Draw with infer.sample, or write the model so that its unknowns are less dependent.",
        ),
    )
