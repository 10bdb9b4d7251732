"""Define the linear Gaussian state-space distribution of observations."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import float_type
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..special.basic.linear import product
from .gaussian_random_walk import check_num_steps
from .kalman import Step, System, filter_states, smooth_states


class Moments(NamedTuple):
    """Means, shape `(..., num_steps, n)`, and covariances, `(..., num_steps, n, n)`, of states."""

    mean: jax.Array
    covariance: jax.Array


class LinearGaussianStateSpace(AbstractDistribution):
    """Linear Gaussian state-space distribution of observations; the states are integrated out exactly.

    The state begins as `m + B e`, moves as `x_t = A x_(t-1) + G e`, and is observed as `y_t = H x_t + R e`, each `e` a
    vector of independent standard normal numbers. A row of zeros in B or G is a state without noise. A value has shape
    `(..., num_steps, k)`; log density and smoothing cost one pass over it, by the Kalman filter. Unobserved steps have
    no influence; `smooth` and `sample_states` predict them.

    **Fields**
    - `num_steps`: length of the series, a whole number of at least 1, known while tracing.
    - `transition_matrix`: A, shape `(..., n, n)`, any real matrix.
    - `observation_matrix`: H, shape `(..., k, n)`, any real matrix.
    - `transition_scale`: G, shape `(..., n, n)`; a diagonal one holds standard deviations.
    - `observation_scale`: R, shape `(..., k, k)`; R R' + H P H' must be invertible, P the covariance of the state.
    - `initial_mean`: m, of the state at the first step, shape `(..., n)`.
    - `initial_scale`: B, shape `(..., n, n)`.
    - `observed`: bool, shape `(num_steps,)` or `(num_steps, k)`: what counts; values elsewhere may be NaN. None is all.

    **Density**: `prod_t Normal(y_t | H a_t, H P_t H' + R R')`, a_t and P_t the mean and covariance of the state at t,
    given y_1, ..., y_(t-1).

    **Source**: Kalman (1960), J. Basic Engineering 82, 35-45; Durbin & Koopman (2012), Time Series Analysis by State
    Space Methods, chapter 4.
    """

    num_steps: int = eqx.field(static=True)
    transition_matrix: Any
    observation_matrix: Any
    transition_scale: Any = eqx.field(kw_only=True)
    observation_scale: Any = eqx.field(kw_only=True)
    initial_mean: Any = eqx.field(kw_only=True)
    initial_scale: Any = eqx.field(kw_only=True)
    observed: Any = eqx.field(default=None, kw_only=True)
    parameters: ClassVar[dict[str, Constraint]] = {
        "transition_matrix": constraints.real_matrix,
        "observation_matrix": constraints.real_matrix,
        "transition_scale": constraints.real_matrix,
        "observation_scale": constraints.real_matrix,
        "initial_mean": constraints.real_vector,
        "initial_scale": constraints.real_matrix,
    }

    def __check_init__(self) -> None:
        check_num_steps(self, self.num_steps)
        k, n = np.shape(self.observation_matrix)[-2:]
        wanted = {
            "transition_matrix": (n, n),
            "transition_scale": (n, n),
            "observation_scale": (k, k),
            "initial_mean": (n,),
            "initial_scale": (n, n),
        }
        for name, shape in wanted.items():
            found = np.shape(getattr(self, name))
            if found[len(found) - len(shape) :] != shape:
                raise self.refuse(
                    f"{name} has shape {found}, and observation_matrix {np.shape(self.observation_matrix)} is of "
                    f"{n} states and {k} observations",
                    f"Give a {name} of shape (..., {', '.join(map(str, shape))}).",
                )
        if self.observed is not None and np.shape(self.observed) not in (
            (self.num_steps,),
            (self.num_steps, k),
        ):
            raise self.refuse(
                f"observed has shape {np.shape(self.observed)}",
                f"Give one for each step, ({self.num_steps},), or for each observation, ({self.num_steps}, {k}).",
            )

    @property
    def event_shape(self) -> Shape:
        return (self.num_steps, np.shape(self.observation_matrix)[-2])

    @property
    def support(self) -> Constraint:
        return constraints.real_matrix

    @property
    def mean(self) -> jax.Array:
        return self._moments()[0]

    @property
    def mode(self) -> jax.Array:
        return self.mean

    @property
    def variance(self) -> jax.Array:
        return self._moments()[1]

    def log_prob(self, value: Any) -> jax.Array:
        return self._over(lambda a, y: self._steps(a, y).log_density.sum(), value)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return self._draw(key, sample_shape)[1]

    def smooth(self, value: Any) -> Moments:
        """Compute means and covariances of the states, given all observations in `value`."""
        return Moments(*self._over(lambda a, y: smooth_states(self._steps(a, y)), value))

    def sample_states(self, key: jax.Array, value: Any, sample_shape: Shape = ()) -> jax.Array:
        """Draw all states independently, given all observations in `value`.

        **Arguments**: `value`, shape `batch_shape + event_shape`. **Returns** shape
        `sample_shape + batch_shape + (num_steps, n)`.

        **Source**: Durbin & Koopman (2002), Biometrika 89(3), 603-616: draws of states and observations, moved by what
        smoothing says of the difference between these observations and those.
        """
        states, observations = self._draw(key, sample_shape)

        def moved(arrays: Arrays, apart: jax.Array) -> jax.Array:
            about_zero = arrays._replace(initial_mean=jnp.zeros_like(arrays.initial_mean))
            return smooth_states(self._steps(about_zero, apart))[0]

        apart = jnp.broadcast_to(jnp.asarray(value, observations.dtype), observations.shape) - observations
        return states + self._over(moved, apart)

    def _steps(self, arrays: "Arrays", y: jax.Array) -> Step:
        there = np.ones(y.shape, bool) if self.observed is None else self.observed
        there = jnp.asarray(there, bool)
        return filter_states(
            _system(arrays), y, jnp.broadcast_to(there if there.ndim == 2 else there[:, None], y.shape)
        )

    def _moments(self) -> tuple[jax.Array, jax.Array]:
        """Return means and variances of the observations, shape `batch_shape + event_shape`."""

        def moments(arrays: Arrays, y: jax.Array) -> tuple[jax.Array, jax.Array]:
            steps, seen_by = (
                filter_states(_system(arrays), y, jnp.zeros(y.shape, bool)),
                arrays.observation_matrix,
            )
            shown = jnp.einsum("ki,tij,kj->tk", seen_by, steps.covariance, seen_by)
            noise = (arrays.observation_scale**2).sum(axis=-1)
            return product(steps.mean, seen_by.T), shown + noise[None]

        return self._over(moments, jnp.zeros(self._shape(), self.dtype))

    def _draw(self, key: jax.Array, sample_shape: Shape) -> tuple[jax.Array, jax.Array]:
        """Draw states and observations."""
        key_state, key_noise = jax.random.split(key)
        shape, n = self._shape(sample_shape), np.shape(self.transition_matrix)[-1]
        shocks = jax.random.normal(key_state, (*shape[:-1], n), self.dtype)
        errors = jax.random.normal(key_noise, shape, self.dtype)

        def path(arrays: Arrays, shocks: jax.Array, errors: jax.Array) -> tuple[jax.Array, jax.Array]:
            start = arrays.initial_mean + arrays.initial_scale @ shocks[0]

            def advance(state: jax.Array, shock: jax.Array) -> tuple[jax.Array, jax.Array]:
                state = arrays.transition_matrix @ state + shock
                return state, state

            moves = product(shocks[1:], arrays.transition_scale.T)
            states = jnp.concatenate([start[None], jax.lax.scan(advance, start, moves)[1]])
            shown = product(states, arrays.observation_matrix.T)
            return states, shown + product(errors, arrays.observation_scale.T)

        return self._over(path, shocks, errors)

    def _over(self, function: Callable[..., Any], *series: Any) -> Any:
        """Map a function of one system and one series of each kind over all systems and series."""
        given = [getattr(self, name) for name in self.parameters]
        dtype, batch = float_type(*series, *given), self.batch_shape
        own = [
            jnp.broadcast_to(
                jnp.asarray(each, dtype), (*batch, *np.shape(each)[np.ndim(each) - c.event_dim :])
            )
            for each, c in zip(given, self.parameters.values(), strict=True)
        ]
        arrays = Arrays(*(each.reshape(-1, *each.shape[len(batch) :]) for each in own))
        lead = np.broadcast_shapes(np.shape(series[0])[:-2], batch)
        # Systems come second, so that values that do not depend on a series are computed once for the first axis.
        spread = [jnp.broadcast_to(jnp.asarray(y, dtype), (*lead, *np.shape(y)[-2:])) for y in series]
        num = int(np.prod(batch, dtype=int))
        spread = [y.reshape(-1, num, *y.shape[-2:]) for y in spread]
        inner = jax.vmap(function, in_axes=(None, *(0 for _ in series)))
        found = jax.vmap(inner, in_axes=(0, *(1 for _ in series)), out_axes=1)(arrays, *spread)
        return jax.tree.map(lambda a: a.reshape(*lead, *a.shape[2:]), found)


class Arrays(NamedTuple):
    """Parameters of one system, as `LinearGaussianStateSpace` names them."""

    transition_matrix: jax.Array
    observation_matrix: jax.Array
    transition_scale: jax.Array
    observation_scale: jax.Array
    initial_mean: jax.Array
    initial_scale: jax.Array


def _system(arrays: Arrays) -> System:
    def square(scale: jax.Array) -> jax.Array:
        return product(scale, scale.T)

    return System(
        arrays.transition_matrix,
        arrays.observation_matrix,
        square(arrays.transition_scale),
        square(arrays.observation_scale),
        arrays.initial_mean,
        square(arrays.initial_scale),
    )
