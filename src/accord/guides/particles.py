"""Approximate a posterior by points of equal weight that move together."""

from typing import Any, ClassVar, NoReturn

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from ..core import keys
from ..core.errors import OptionError
from ..core.options import checks_fields, positive_count
from .base import AbstractGuide, Params

_MOST = 4096  # particles, of which steps compare all pairs


@checks_fields
class Particles(AbstractGuide):
    """Points of equal weight, which bend as the posterior does: Stein variational gradient descent.

    Each step moves all particles along a smooth field that draws them to where the density is high, and pushes them
    apart. They have no density: nothing bounds the evidence, and no weights exist, so that `fit.bounds` and
    `fit.pareto_k` are NaN. Instead `fit.discrepancy` and `fit.spread` compare the particles with the posterior by the
    gradients of its log density. They begin around one mode, and find no other that is far.

    Take them for up to some tens of unknowns whose posterior bends. With as many unknowns as particles, they spread
    too little; the notice `narrow_particles` says where.

    **Fields**: `num_particles`, from 2 to 4096. The time of a step grows with its square.

    **Raises** `OptionError` for other values; (when it is fitted) for an objective that is not one of
    `infer.SteinDiscrepancy()` and `infer.SteinMoments()`.

    **Source**: Liu & Wang (2016), "Stein variational gradient descent: a general purpose Bayesian inference
    algorithm", NeurIPS.

    **Example**

    >>> fit = infer.fit(coin(4, heads), infer.guides.Particles(num_particles=50), quiet=True)
    >>> fit.draw(50)["p"].shape, fit.discrepancy < 0.5
    ((1, 50), True)
    """

    has_density: ClassVar[bool] = False
    rate: ClassVar[float] = 3e-2

    num_particles: int = eqx.field(static=True, default=100, kw_only=True)

    def __check_init__(self) -> None:
        positive_count("Particles: num_particles", self.num_particles, 2, maximum=_MOST)

    @property
    def num_points(self) -> int:
        """See `AbstractGuide.num_points`."""
        return self.num_particles

    def num_noise(self, dim: int) -> int:
        """See `AbstractGuide.num_noise`: the place of a particle."""
        del dim
        return 1

    def noise_of_draws(self, generator: np.random.Generator, count: int, dim: int) -> np.ndarray:
        """See `AbstractGuide.noise_of_draws`: each particle once, in a random order, and so again."""
        del dim
        rounds = -(-count // self.num_particles)
        places = [generator.permutation(self.num_particles) for _ in range(rounds)]
        return np.concatenate(places)[:count, None].astype(float)

    def start(self, key: UInt32[np.ndarray, " 2"], dim: int, dtype: np.dtype) -> Params:
        """See `AbstractGuide.start`: each coordinate has quantiles of the normal, in an order of its own."""
        from scipy.special import ndtri  # a quarter of a second, not for all who name guides

        generator = keys.generator_of(key)
        ranks = np.stack([generator.permutation(self.num_particles) for _ in range(dim)], axis=1)
        drawn = ndtri((ranks + 0.5) / self.num_particles)
        return {"positions": drawn.astype(dtype)}

    def draw(
        self, params: Params, noise: Float[Array, " 1"]
    ) -> tuple[Float[Array, " dim"], Float[Array, ""]]:
        """See `AbstractGuide.draw`: the particle at a place; its log density is not known."""
        position = jnp.asarray(params["positions"])[noise[0].astype(jnp.int32)]
        return position, jnp.full((), jnp.nan, position.dtype)

    def centre(self, params: Params, dim: int, dtype: np.dtype) -> Float[Array, " dim"]:
        """See `AbstractGuide.centre`."""
        del dim, dtype
        return jnp.mean(params["positions"], axis=0)

    def log_prob(self, params: Params, position: Any) -> NoReturn:
        """See `AbstractGuide.log_prob`: it has none."""
        del params, position
        raise OptionError("Particles: they are points, and have no density at a position.")
