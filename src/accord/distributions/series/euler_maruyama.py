"""Define the distribution of a stochastic differential equation's path by Euler-Maruyama steps."""

from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import float_type
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..univariate.real.real_line import Normal


class EulerMaruyama(AbstractDistribution):
    """Path of a stochastic differential equation at given times, by the Euler-Maruyama scheme.

    A value has shape `(..., n) + event`, n the number of times and `event` the event shape of `init_dist`. The scheme
    is exact only as the time steps go to 0: put latent times between the observed ones.

    **Fields**
    - `t`: times, increasing, shape `(..., n)`.
    - `sde_fn`: maps a state of shape `event` and a scalar time to drift and diffusion (> 0), of shapes that
      broadcast to `event`; each element has its own noise.
    - `init_dist`: the distribution of the state at the first time.

    **Density**: `init_dist(x[0]) * prod(Normal(x[i] + drift * dt, diffusion * sqrt(dt))(x[i + 1]))`, drift and
    diffusion at `x[i]` and `t[i]`, dt = t[i + 1] - t[i].

    **Source**: Kloeden & Platen (1992), Numerical Solution of Stochastic Differential Equations, section 9.1.
    """

    t: Any
    sde_fn: Callable[[Any, Any], tuple[Any, Any]] = eqx.field(static=True)
    init_dist: AbstractDistribution
    parameters: ClassVar[dict[str, Constraint]] = {"t": constraints.ordered_vector}

    @property
    def batch_shape(self) -> Shape:
        return np.broadcast_shapes(np.shape(self.t)[:-1], self.init_dist.batch_shape)

    @property
    def event_shape(self) -> Shape:
        return (*np.shape(self.t)[-1:], *self.init_dist.event_shape)

    @property
    def dtype(self) -> np.dtype:
        return float_type(self.t, self.init_dist.dtype.type(0))

    @property
    def support(self) -> Constraint:
        return constraints.independent(constraints.real, self.event_dim)

    def log_prob(self, value: Any) -> jax.Array:
        dtype = float_type(value, self.dtype.type(0))
        value = jnp.asarray(value, dtype)
        event = self.init_dist.event_shape
        lead = np.broadcast_shapes(value.shape[: value.ndim - self.event_dim], self.batch_shape)
        n = self.event_shape[0]
        paths = jnp.broadcast_to(value, (*lead, n, *event))
        times = jnp.broadcast_to(jnp.asarray(self.t, dtype), (*lead, n))
        start = self.init_dist.log_prob(paths[(..., 0, *(slice(None),) * len(event))])
        x, t = paths.reshape((-1, n, *event)), times.reshape((-1, n))
        drift, diffusion = jax.vmap(jax.vmap(self._rates))(x[:, :-1], t[:, :-1])
        dt = jnp.diff(t, axis=-1).reshape((t.shape[0], n - 1) + (1,) * len(event))
        steps = Normal(x[:, :-1] + drift * dt, diffusion * jnp.sqrt(dt)).log_prob(x[:, 1:])
        return start + steps.sum(axis=tuple(range(1, steps.ndim))).reshape(lead)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_start, key_noise = jax.random.split(key)
        event, n = self.init_dist.event_shape, self.event_shape[0]
        init = self.init_dist
        if init.batch_shape != self.batch_shape:
            init = init.expand(self.batch_shape)
        lead = (*sample_shape, *self.batch_shape)
        first = init.sample(key_start, sample_shape).astype(self.dtype).reshape((-1, *event))
        t = jnp.broadcast_to(jnp.asarray(self.t, self.dtype), (*lead, n)).reshape((-1, n))
        noise = jax.random.normal(key_noise, (n - 1, *first.shape), self.dtype)

        def step(x: jax.Array, inputs: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
            now, dt, shock = inputs
            drift, diffusion = jax.vmap(self._rates)(x, now)
            dt = dt.reshape((-1,) + (1,) * len(event))
            x = x + drift * dt + diffusion * jnp.sqrt(dt) * shock
            return x, x

        _, later = jax.lax.scan(step, first, (t[:, :-1].T, jnp.diff(t, axis=-1).T, noise))
        path = jnp.concatenate([first[None], later])
        return jnp.moveaxis(path, 0, 1).reshape((*lead, n, *event))

    def _rates(self, x: jax.Array, t: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return drift and diffusion at one state and time, of the shape of the state."""
        drift, diffusion = self.sde_fn(x, t)
        return (
            jnp.broadcast_to(jnp.asarray(drift, x.dtype), x.shape),
            jnp.broadcast_to(jnp.asarray(diffusion, x.dtype), x.shape),
        )
