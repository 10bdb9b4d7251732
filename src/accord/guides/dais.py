"""Approximate a posterior by paths that follow its gradient from a normal distribution."""

import math
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from ..core.errors import OptionError
from ..core.options import checks_fields, positive_count
from .base import AbstractGuide, Params, standard_normal

_LONGEST = 1.0  # step, in units of the normal where paths begin
_STEEPEST = 3.0  # force by each coordinate; where the posterior is that normal, one is usual
_FIRST, _PERSISTENCE = 0.05, 0.9  # step, and share of the momentum that stays, at the start


@checks_fields
class DAIS(AbstractGuide):
    """Ends of short Hamiltonian paths, from an independent normal towards the posterior.

    Each draw begins at a normal and takes leapfrog steps in densities between the normal and the posterior, with
    momenta that are partly refreshed. The normal, step sizes, refreshment and the densities between are fitted. It
    bends as the posterior does, without networks, at the price of a gradient for each step of each draw.

    The density of such an end is not known. So the bound, Pareto k and effective draws are those of the whole path,
    positions with momenta: the bound is one of the evidence, and weights are valid. But k may be high where ends alone
    are good draws.

    **Fields**: `steps` of a path, >= 1.

    **Raises** `OptionError` for other values; (when the fit begins) for objectives but `ELBO`, and for minibatches.

    **Source**: Geffner & Domke (2021), "MCMC variational inference via uncorrected Hamiltonian annealing", NeurIPS;
    Zhang, Hsu, Li, Finn & Grosse (2021), "Differentiable annealed importance sampling and the perils of gradient
    noise", NeurIPS. Here forces are bounded in far tails.

    **Example**

    >>> fit = infer.fit(coin(4, heads), infer.guides.DAIS(steps=2), steps=500, until=None, quiet=True)
    >>> fit.guide
    DAIS(steps=2)
    """

    has_density: ClassVar[bool] = False

    steps: int = eqx.field(static=True, default=4, kw_only=True)

    def __check_init__(self) -> None:
        positive_count("DAIS: steps", self.steps)

    def num_noise(self, dim: int) -> int:
        """See `AbstractGuide.num_noise`: the first position, and a momentum for each step."""
        return (1 + self.steps) * dim

    def start(self, key: UInt32[np.ndarray, " 2"], dim: int, dtype: np.dtype) -> Params:
        """See `AbstractGuide.start`; `step`, `slope` and `persistence` are on the scale of log odds."""
        del key
        return {
            "loc": np.zeros(dim, dtype),
            "log_scale": np.zeros(dim, dtype),
            "step": np.asarray(_log_odds(_FIRST / _LONGEST), dtype),
            "slope": np.zeros((), dtype),
            "persistence": np.asarray(_log_odds(_PERSISTENCE), dtype),
            "log_rises": np.zeros(self.steps, dtype),
        }

    def towards(self, log_density: Callable[[Array], Array]) -> AbstractGuide:
        """See `AbstractGuide.towards`."""
        return _Path(self, log_density)

    def draw(self, params: Params, noise: Float[Array, " noise"]) -> NoReturn:
        """See `AbstractGuide.draw`: it is that of `towards`."""
        del params, noise
        raise OptionError("DAIS: its draws follow a posterior. Call `guide.towards(log_density)` first.")

    def log_prob(self, params: Params, position: Float[Array, " dim"]) -> NoReturn:
        """See `AbstractGuide.log_prob`: it has none."""
        del params, position
        raise OptionError("DAIS: the density at a position is not known.")


class _Path(AbstractGuide):
    """A guide whose paths lead towards a density. **Fields**: `guide`; `log_density`."""

    has_density: ClassVar[bool] = False

    guide: DAIS = eqx.field(static=True)
    log_density: Callable[[Array], Array] = eqx.field(static=True)

    def num_noise(self, dim: int) -> int:
        """See `AbstractGuide.num_noise`."""
        return self.guide.num_noise(dim)

    def start(self, key: UInt32[np.ndarray, " 2"], dim: int, dtype: np.dtype) -> Params:
        """See `AbstractGuide.start`."""
        return self.guide.start(key, dim, dtype)

    def draw(
        self, params: Params, noise: Float[Array, " noise"]
    ) -> tuple[Float[Array, " dim"], Float[Array, ""]]:
        """Return the end of a path, and the log density by which its weight is that of the whole path.

        In units of the normal, where it is the standard one. The path and its reversal have the ratio of densities
        `p(z_K) / q(z_0)` times `N(w_k) / N(v_k)` for each step, which turns the momentum `v_k` into `w_k`: refreshing
        leaves the normal distribution of momenta as it is, and the leapfrog keeps volumes.
        """
        # z: position, v: momentum; b: share of the posterior in the density between
        z, *refreshed = noise.reshape(self.guide.steps + 1, -1)
        rises = jnp.exp(params["log_rises"])
        shares = jnp.cumsum(rises) / jnp.sum(rises)
        steps = _LONGEST * jax.nn.sigmoid(params["step"] + params["slope"] * shares)
        stays = jnp.full_like(shares, jax.nn.sigmoid(params["persistence"])).at[0].set(0)
        scale = jnp.exp(params["log_scale"])
        slope = jax.grad(lambda z: self.log_density(params["loc"] + scale * z))

        def force(z: Array) -> Array:
            # In far tails a step along the gradient would overshoot. Volumes are kept whatever the force.
            found, most = slope(z), _STEEPEST * math.sqrt(z.size)
            return found * most / jnp.sqrt(jnp.maximum(jnp.sum(found**2), most**2))

        def step(carry: Any, of_step: Any) -> Any:
            z, v, log_prob = carry
            b, size, stay, new = of_step
            v = stay * v + jnp.sqrt(1 - stay**2) * new
            middle = z + 0.5 * size * v
            w = v + size * ((1 - b) * -middle + b * force(middle))
            log_prob = log_prob + standard_normal(v) - standard_normal(w)
            return (middle + 0.5 * size * w, w, log_prob), None

        begin = (z, jnp.zeros_like(z), standard_normal(z) - jnp.sum(params["log_scale"]))
        (z, _, log_prob), _ = jax.lax.scan(step, begin, (shares, steps, stays, jnp.stack(refreshed)))
        return params["loc"] + scale * z, log_prob

    def log_prob(self, params: Params, position: Float[Array, " dim"]) -> NoReturn:
        """See `AbstractGuide.log_prob`: it has none."""
        return self.guide.log_prob(params, position)


def _log_odds(share: float) -> float:
    return math.log(share / (1 - share))
