"""Define the sine bivariate von Mises distribution: pairs of dependent angles on the torus."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ...bijectors import align, float_type
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint, Independent, Interval
from ..parameters import exactly_one
from .arc_mass import wrap
from .sine_marginal import draw, log_total
from .von_mises_draws import draw as draw_von_mises


class SineBivariateVonMises(AbstractDistribution):
    """Sine bivariate von Mises distribution of two dependent angles, such as a protein's dihedral angles.

    Give one of `correlation` and `weighted_correlation`. A value holds phi and psi along its last axis, both in
    [-pi, pi]; `mean` is the mean direction of each. Draws are differentiable by the locations only.

    **Fields**
    - `phi_loc`, `psi_loc`: centres of the angles in radians, any real.
    - `phi_concentration`, `psi_concentration`: > 0.
    - `correlation`: any real; the density has one mode where its square is at most the product of the concentrations,
      and two beyond.
    - `weighted_correlation`: the correlation over the root of that product, from -1 to 1.

    **Density**: proportional to `exp(k1 * cos(a) + k2 * cos(b) + correlation * sin(a) * sin(b))`, a = phi - phi_loc,
    b = psi - psi_loc, k1 and k2 the concentrations.

    **Source**: Singh, Hnizdo & Demchuk (2002), Biometrika 89(3), 719-723.
    """

    phi_loc: Any
    psi_loc: Any
    phi_concentration: Any
    psi_concentration: Any
    correlation: Any = None
    weighted_correlation: Any = None
    parameters: ClassVar[dict[str, Constraint]] = {
        "phi_loc": constraints.real,
        "psi_loc": constraints.real,
        "phi_concentration": constraints.positive,
        "psi_concentration": constraints.positive,
        "correlation": constraints.real,
        "weighted_correlation": Interval(-1.0, 1.0),
    }

    def __check_init__(self) -> None:
        exactly_one(self, "correlation", "weighted_correlation")

    @property
    def event_shape(self) -> Shape:
        return (2,)

    @property
    def support(self) -> Constraint:
        return Independent(constraints.circular, 1)

    @property
    def mean(self) -> jax.Array:
        return wrap(jnp.stack(self._arrays("phi_loc", "psi_loc"), axis=-1))

    def log_prob(self, value: Any) -> jax.Array:
        value = jnp.asarray(value, float_type(value, self.dtype.type(0)))
        is_outside = ~((value >= -math.pi) & (value <= math.pi)).all(axis=-1) & ~jnp.isnan(value).any(axis=-1)
        value = jnp.where(is_outside[..., None], 0.0, value)
        phi, phi_loc, psi_loc, k1, k2, r = align(
            value[..., 0], self.phi_loc, self.psi_loc, *self._strengths()
        )
        # Outside, neither the value nor the locations may have a slope.
        a = jnp.where(is_outside, 0.0, phi - phi_loc)
        b = jnp.where(is_outside, 0.0, value[..., 1] - psi_loc)
        fall = 2.0 * k1 * jnp.sin(0.5 * a) ** 2 + 2.0 * k2 * jnp.sin(0.5 * b) ** 2
        inside = r * jnp.sin(a) * jnp.sin(b) - fall - log_total(k1, k2, r)
        return jnp.where(is_outside, -jnp.inf, inside)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_phi, key_psi = jax.random.split(key)
        strengths = [jnp.broadcast_to(s, self.batch_shape).astype(self.dtype) for s in self._strengths()]
        k1, k2, r = (jax.lax.stop_gradient(s) for s in strengths)
        angle = draw(key_phi, tuple(sample_shape), k1, k2, r)
        k2, r = jnp.broadcast_to(k2, angle.shape), jnp.broadcast_to(r, angle.shape)
        # Given phi, psi is a von Mises variable.
        pull = r * jnp.sin(angle)
        phi_loc, psi_loc = (jnp.broadcast_to(loc, angle.shape) for loc in self._arrays("phi_loc", "psi_loc"))
        psi = draw_von_mises(key_psi, psi_loc + jnp.arctan2(pull, k2), jnp.hypot(pull, k2))
        return jnp.stack([jnp.clip(wrap(wrap(phi_loc) + angle), -math.pi, math.pi), psi], axis=-1)

    def _strengths(self) -> tuple[Any, Any, Any]:
        """Return both concentrations and the correlation, of one rank."""
        zero = jnp.zeros((), self.dtype)
        _, k1, k2, r, w = align(
            zero,
            self.phi_concentration,
            self.psi_concentration,
            0.0 if self.correlation is None else self.correlation,
            0.0 if self.weighted_correlation is None else self.weighted_correlation,
        )
        k1, k2 = jnp.asarray(k1, self.dtype), jnp.asarray(k2, self.dtype)
        if self.correlation is None:
            return k1, k2, w * jnp.sqrt(k1) * jnp.sqrt(k2)
        return k1, k2, jnp.asarray(r, self.dtype)
