"""Estimate a log density from parts of the data, corrected by control variates around a reference.

A second-order Taylor polynomial about the reference nearly tells what a part says. That of all data is known, so only
what the polynomials leave over has to be estimated. It is small where the posterior is concentrated around the
reference. Several independent parts say different things of it, and their spread tells the variance of the estimate:
that needs nothing of a model but the log density of a part, where terms of single entries cannot be told apart in every
model, with factors, labels that are summed out, and plates within plates.

**Source**: Dang, Quiroz, Kohn, Tran & Villani (2019), "Hamiltonian Monte Carlo with energy conserving subsampling",
JMLR 20(100), section 2; there the variance is that of single entries.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from ..core import precision
from ..core.errors import ModelError
from ..core.position import Position
from ..core.tree import shapes
from .logdensity import LogDensity
from .minibatch import Minibatch
from .unknowns import like

_NAMES = ("reference/position", "reference/value", "reference/gradient", "reference/hessian")


@dataclass(frozen=True, eq=False)
class Reference:
    """The log density of all data about a point, up to the second order; NumPy.

    **Fields**: `position` and `gradient`, shape `(dim,)`, unconstrained; `value`, shape `()`; `hessian`, the second
    derivatives, shape `(dim, dim)`.
    """

    position: np.ndarray
    value: np.ndarray
    gradient: np.ndarray
    hessian: np.ndarray

    @property
    def data(self) -> dict[str, np.ndarray]:
        """Return the arrays, by names beside those of a model's data."""
        return dict(zip(_NAMES, (self.position, self.value, self.gradient, self.hessian), strict=True))


class Estimate(NamedTuple):
    """An estimate of a log density, corrected for its noise.

    **Fields**: `log_density`, shape `()`, with its `gradient`, shape `(dim,)`; `variance`, estimated too, of what the
    correction was made of, 0 of one part; `curvature` at the reference, shape `(dim,)`: minus the second derivatives.
    """

    log_density: Float[Array, ""]
    gradient: Float[Array, " dim"]
    variance: Float[Array, ""]
    curvature: Float[Array, " dim"]


@dataclass(frozen=True)
class Controlled:
    """Estimates of a log density from parts, with control variates. **Fields**: `part`, evaluates a part."""

    part: Minibatch

    def value_and_grad(
        self, data: Mapping[str, Any], position: Position, words: UInt32[Array, "parts 2"]
    ) -> Estimate:
        """Estimate the log density, and its gradient, from the parts that `words` name.

        `data` are those of the model and of the reference.
        """
        reference, value, gradient, hessian = (data[name] for name in _NAMES)
        of_model = {name: each for name, each in data.items() if name not in _NAMES}
        moved = position.free - reference

        def left_over(words: Array) -> tuple[Array, Array]:
            """Return what the polynomial of a part leaves over, and its gradient."""

            def evaluate(free: Array) -> tuple[Array, Array]:
                return self.part.value_and_grad(of_model, Position(free), words)

            here, slope = evaluate(position.free)
            (there, slope_there), (rise, turn) = jax.jvp(evaluate, (reference,), (moved,))
            return here - there - rise - 0.5 * jnp.sum(moved * turn), slope - slope_there - turn

        values, slopes = jax.vmap(left_over)(words)
        turn = hessian @ moved
        whole = value + jnp.sum(gradient * moved) + 0.5 * jnp.sum(moved * turn)
        mean, slope = jnp.mean(values), jnp.mean(slopes, axis=0) + gradient + turn
        correction, rate, variance = _correction(values - mean)
        return Estimate(whole + mean - correction, slope - rate @ slopes, variance, -jnp.diagonal(hessian))


def check_second_order(density: LogDensity, needed_by: str) -> None:
    """Raise `ModelError` for a model that JAX can only differentiate backward; in the scope of its precision."""

    def turned(data: Mapping[str, Any], at: Array) -> Any:
        return jax.jvp(density.with_data(data).value_and_grad, (at,), (at,))

    at = like(density.layout, precision.float_dtype(density.program.precision))
    try:
        jax.jit(turned).lower(shapes(density.data), at)
    except TypeError as error:
        if "custom_vjp" not in str(error):
            raise
        raise ModelError(
            f"{needed_by} needs second derivatives, and the model {density.program.name!r} has a function that JAX can "
            "only differentiate backward (`jax.custom_vjp`). Use infer.SGLD(), or infer.NUTS() on all of the data."
        ) from None


def _correction(spread: Float[Array, " parts"]) -> tuple[Array, Array, Array]:
    """Return what noise adds to the log of the mean of exponentials, its derivatives by the parts, and the variance.

    With noise of variance v, exp(estimate) is too large by exp(v / 2) on average, if the noise is normal. Of v itself
    there is an estimate of few degrees of freedom, whose own noise adds again; the second term takes that back, up to
    the third power of v.

    **Source**: Ceperley & Dewing (1999), "The penalty method for random walks with uncertain energies", J. Chem. Phys.
    110(20): the first two terms of its series for normal noise of unknown variance.
    """
    count = spread.shape[0]
    if count == 1:
        zero = jnp.zeros((), spread.dtype)
        return zero, jnp.zeros_like(spread), zero
    variance = jnp.sum(spread**2) / (count * (count - 1))
    by_variance = 0.5 + variance / (2 * (count + 1))
    correction = 0.5 * variance + variance**2 / (4 * (count + 1))
    return correction, by_variance * 2 * spread / (count * (count - 1)), variance
