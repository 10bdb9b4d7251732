"""Define the Gaussian state-space distribution: states of a linear system with normal noise."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import float_type
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..multivariate.normal.multivariate import MultivariateNormal
from ..parameters import exactly_one
from .gaussian_random_walk import check_num_steps


class GaussianStateSpace(AbstractDistribution):
    """Gaussian state-space path: at every step a vector is mapped linearly, then moved by a normal step.

    Give exactly one of the three matrices, shape `(..., n, n)`; prefer `scale_tril` if you have it. Density and draws
    cost one pass over the path: the covariance between its steps is never built. The initial state is known and not
    part of the path. For a random initial state, add a site and pass it as `initial_value`.

    **Fields**
    - `num_steps`: length of the path, a whole number of at least 1, known while tracing.
    - `transition_matrix`: A, shape `(..., n, n)`, any real matrix.
    - `covariance_matrix`: Q, of the step, symmetric, positive definite.
    - `precision_matrix`: its inverse.
    - `scale_tril`: its lower Cholesky factor.
    - `initial_value`: the state before the first step, shape `(..., n)`; zero where it is not given.

    **Density**: `prod_t Normal(x_t | A x_(t-1), Q)`, t from 1 to num_steps, x_0 = initial_value.

    **Source**: Durbin & Koopman (2012), Time Series Analysis by State Space Methods, section 3.1 (the state equation).
    """

    num_steps: int = eqx.field(static=True)
    transition_matrix: Any
    covariance_matrix: Any = None
    precision_matrix: Any = eqx.field(default=None, kw_only=True)
    scale_tril: Any = eqx.field(default=None, kw_only=True)
    initial_value: Any = eqx.field(default=None, kw_only=True)
    parameters: ClassVar[dict[str, Constraint]] = {
        "transition_matrix": constraints.real_matrix,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
        "initial_value": constraints.real_vector,
    }

    def __check_init__(self) -> None:
        check_num_steps(self, self.num_steps)
        exactly_one(self, "covariance_matrix", "precision_matrix", "scale_tril")
        shape, noise_shape = np.shape(self.transition_matrix), self._innovation().event_shape
        start = noise_shape if self.initial_value is None else np.shape(self.initial_value)[-1:]
        if not shape[-2:] == (*noise_shape, *noise_shape) == (*start, *start):
            raise self.refuse(
                f"transition_matrix has shape {shape}, the noise acts on vectors of shape {noise_shape} and the "
                f"initial value has shape {start}",
                "Give matrices of shape (..., n, n) and an initial value of shape (..., n).",
            )

    @property
    def event_shape(self) -> Shape:
        return (self.num_steps, *np.shape(self.transition_matrix)[-1:])

    @property
    def support(self) -> Constraint:
        return constraints.real_matrix

    @property
    def mean(self) -> jax.Array:
        transition = self._transition()
        start = jnp.broadcast_to(self._start(), (*self.batch_shape, *self.event_shape[-1:]))

        def advance(state: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
            state = _move(transition, state)
            return state, state

        states = jax.lax.scan(advance, start, length=self.num_steps)[1]
        return jnp.moveaxis(states, 0, -2)

    @property
    def mode(self) -> jax.Array:
        return self.mean

    @property
    def variance(self) -> jax.Array:
        transition, noise = self._transition(), self._noise_covariance()
        noise = jnp.broadcast_to(noise, (*self.batch_shape, *noise.shape[-2:]))

        def advance(covariance: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
            later = transition @ covariance @ transition.mT + noise
            return later, jnp.diagonal(covariance, axis1=-2, axis2=-1)

        variances = jax.lax.scan(advance, noise, length=self.num_steps)[1]
        return jnp.moveaxis(variances, 0, -2)

    def log_prob(self, value: Any) -> jax.Array:
        x = jnp.asarray(value, float_type(value, *(getattr(self, name) for name in self.parameters)))
        x = jnp.broadcast_to(x, np.broadcast_shapes(x.shape, self._shape()))
        transition, start = self._transition(x.dtype), self._start(x.dtype)
        first = jnp.broadcast_to(start, (*x.shape[:-2], x.shape[-1]))
        before = jnp.concatenate([first[..., None, :], x[..., :-1, :]], axis=-2)
        steps = x - jnp.matmul(before, transition.mT)
        # Time goes first, as a sample axis of the noise, which factors its matrix once for all steps.
        return self._innovation(x.dtype).log_prob(jnp.moveaxis(steps, -2, 0)).sum(axis=0)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        transition = self._transition()
        noise = self._innovation().expand(self.batch_shape).sample(key, (self.num_steps, *sample_shape))
        start = jnp.broadcast_to(self._start(), noise.shape[1:])

        def advance(state: jax.Array, step: jax.Array) -> tuple[jax.Array, jax.Array]:
            state = _move(transition, state) + step
            return state, state

        return jnp.moveaxis(jax.lax.scan(advance, start, noise)[1], 0, -2)

    def entropy(self) -> jax.Array:
        return self._batched(self.num_steps * self._innovation().entropy())

    def _transition(self, dtype: Any = None) -> jax.Array:
        """Return the transition matrix in this dtype (by default the distribution's)."""
        return jnp.asarray(self.transition_matrix, dtype or self.dtype)

    def _start(self, dtype: Any = None) -> jax.Array:
        """Return the state before the first step."""
        if self.initial_value is None:
            return jnp.zeros(self.event_shape[-1:], dtype or self.dtype)
        return jnp.asarray(self.initial_value, dtype or self.dtype)

    def _noise_covariance(self) -> jax.Array:
        """Return the covariance of one step."""
        if self.covariance_matrix is not None:
            return jnp.asarray(self.covariance_matrix, self.dtype)
        if self.scale_tril is not None:
            factor = jnp.asarray(self.scale_tril, self.dtype)
            return factor @ factor.mT
        return jnp.linalg.inv(jnp.asarray(self.precision_matrix, self.dtype))

    def _innovation(self, dtype: Any = None) -> MultivariateNormal:
        """Return the distribution of one step."""
        return MultivariateNormal(
            np.zeros((), dtype or self.dtype),
            covariance_matrix=self.covariance_matrix,
            precision_matrix=self.precision_matrix,
            scale_tril=self.scale_tril,
        )


def _move(transition: jax.Array, state: jax.Array) -> jax.Array:
    """Map states, shape `(..., n)`, by matrices whose batch axes broadcast with theirs."""
    return jnp.matmul(transition, state[..., None])[..., 0]
