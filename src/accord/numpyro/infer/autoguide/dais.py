"""Give all unknowns together the ends of short Hamiltonian paths towards the posterior."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import jax
import jax.numpy as jnp

from .... import distributions as dist
from ....core.errors import ModelError, OptionError
from ....distributions import AbstractDistribution, constraints
from ...handlers import block, seed, substitute
from ...primitives import factor, param, sample
from ..initialization import init_to_uniform
from .continuous import AutoContinuous, check_scale


class AutoDAIS(AutoContinuous):
    """Ends of annealed Hamiltonian paths from a normal towards the posterior, with a bound that has gradients.

    **Arguments**: as of `AutoGuide`; `K`, steps of a path; `base_dist`, `"diagonal"` or `"cholesky"`; `eta_init`,
    `eta_max`, first and largest step size; `gamma_init`, how much of the momentum stays; `init_scale`, the first
    standard deviation of the normal.

    **Source**: Geffner & Domke (2021), arXiv:2107.00069; Zhang et al. (2021), arXiv:2107.10211.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        K: int = 4,
        base_dist: Literal["diagonal", "cholesky"] = "diagonal",
        eta_init: float = 0.01,
        eta_max: float = 0.1,
        gamma_init: float = 0.9,
        prefix: str = "auto",
        init_loc_fn: Callable[..., Any] = init_to_uniform,
        init_scale: float = 0.1,
        forward_mode_differentiation: bool = False,
    ) -> None:
        if K < 1 or base_dist not in ("diagonal", "cholesky"):
            raise OptionError('AutoDAIS: K must be at least 1, and base_dist "diagonal" or "cholesky".')
        if not (0 < eta_init < eta_max and 0 < gamma_init < 1):
            raise OptionError("AutoDAIS: eta_init must be in (0, eta_max), and gamma_init in (0, 1).")
        super().__init__(
            model,
            prefix=prefix,
            init_loc_fn=init_loc_fn,
            forward_mode_differentiation=forward_mode_differentiation,
        )
        self.init_scale = check_scale("AutoDAIS", init_scale)
        self.steps, self.base_dist = K, base_dist
        self.eta_init, self.eta_max, self.gamma_init = eta_init, eta_max, gamma_init

    def found(self) -> None:
        """See `AutoGuide.found`."""
        super().found()
        for name, site in (self.prototype_trace or {}).items():
            if site["type"] == "plate" and site["value"].shape[0] != site["args"][0]:
                raise ModelError(
                    f"AutoDAIS: the plate {name!r} takes a part of its entries. Use `AutoNormal`."
                )

    def posterior(self) -> AbstractDistribution:
        """Refuse: the ends of paths have no density in closed form."""
        raise NotImplementedError("AutoDAIS has no density in closed form.")

    def sample_latent(self, sample_shape: tuple[int, ...] = ()) -> Any:
        """Draw the start and the momenta, as sites, and follow the path; its weight is a factor."""
        del sample_shape
        prefix, dim = self.prefix, self.latent_dim
        first = param(f"{prefix}_eta0", self.eta_init, constraint=constraints.interval(0.0, self.eta_max))
        slope = param(f"{prefix}_eta_coeff", 0.0)
        gamma = param(f"{prefix}_gamma", self.gamma_init, constraint=constraints.interval(0.0, 1.0))
        increments = param(f"{prefix}_beta_increments", jnp.ones(self.steps), constraint=constraints.positive)
        betas = jnp.cumsum(increments)
        betas = betas / betas[-1]
        mass = param(f"{prefix}_mass_matrix", jnp.ones(dim), constraint=constraints.positive)
        base = self._base()
        start = sample(f"{prefix}_z_0", base, infer={"is_auxiliary": True})
        momentum = dist.Normal(0.0, mass).to_event(1)
        noise = sample(
            f"{prefix}_momentum",
            momentum.expand((self.steps,)).to_event(1).mask(False),
            infer={"is_auxiliary": True},
        )

        def log_density(z: Any) -> Any:
            with block():
                return -self.potential_fn(self.unpacked(z))

        def step(state: Any, at: Any) -> tuple[Any, None]:
            (z, v, log_weight), (noise, beta) = state, at
            eta = jnp.clip(first + slope * beta, 0.0, self.eta_max)
            half = z + v * eta * 0.5 / mass
            push = (1.0 - beta) * jax.grad(base.log_prob)(half) + beta * jax.grad(log_density)(half)
            kicked = v + eta * push
            end = half + kicked * eta * 0.5 / mass
            log_weight = log_weight + momentum.log_prob(v) - momentum.log_prob(kicked)
            return (end, gamma * kicked + jnp.sqrt(1 - gamma**2) * noise, log_weight), None

        begin = (start, noise[-1], jnp.zeros((), start.dtype))
        (end, _, log_weight), _ = jax.lax.scan(step, begin, (noise, betas))
        factor(f"{prefix}_factor", log_weight)
        return end

    def sample_posterior(
        self,
        rng_key: Any,
        params: Mapping[str, Any],
        *args: Any,
        sample_shape: tuple[int, ...] = (),
        **kwargs: Any,
    ) -> dict[str, Any]:
        """See `AutoGuide.sample_posterior`."""

        def one(key: Any) -> Any:
            return substitute(seed(self.sample_latent, key), data=params)()

        if not sample_shape:
            return self.constrained(self.unpacked(one(rng_key)))
        count = int(jnp.prod(jnp.array(sample_shape)))
        ends = jax.lax.map(one, jax.random.split(rng_key, count))
        return self.constrained(self.unpacked(ends.reshape((*sample_shape, self.latent_dim))))

    def _base(self) -> AbstractDistribution:
        loc = param(f"{self.prefix}_z_0_loc", self.init_latent)
        if self.base_dist == "diagonal":
            scale = jnp.full(self.latent_dim, self.init_scale)
            scale = param(f"{self.prefix}_z_0_scale", scale, constraint=constraints.positive)
            return dist.Normal(loc, scale).to_event(1)
        tril = param(
            f"{self.prefix}_z_0_scale_tril",
            jnp.identity(self.latent_dim) * self.init_scale,
            constraint=constraints.scaled_unit_lower_cholesky,
        )
        return dist.MultivariateNormal(loc, scale_tril=tril)
