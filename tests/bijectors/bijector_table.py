"""List the bijectors that every law is tested for."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import accord.distributions as dist
from accord import bijectors as b

inf = np.inf
SOME_BOUNDS = (np.array([-inf, -1.0, -inf, 2.0, 0.0, -3.0]), np.array([inf, inf, 4.0, 2.5, 1e-9, 1e9]))
FACTOR = np.tril(np.full((6, 6), 0.3)) + np.diag(np.arange(1.0, 7.0))


class Line(NamedTuple):
    """A bijector that takes vectors of length 6, or of the length to which `domain` maps them.

    `free` picks the coordinates of `y` by which the log determinant is defined; without it, all of them: where they are
    more than those of `x`, the log determinant is that of area.
    """

    bijector: b.AbstractBijector
    domain: b.AbstractBijector | None = None
    free: Callable[[jax.Array], jax.Array] | None = None


def but_last(y: jax.Array) -> jax.Array:
    return y[..., :-1]


def lower(y: jax.Array) -> jax.Array:
    return y[(..., *np.tril_indices(y.shape[-1]))]


def strictly_lower(y: jax.Array) -> jax.Array:
    return y[(..., *np.tril_indices(y.shape[-1], -1))]


def parts(y: jax.Array) -> jax.Array:
    return jnp.stack([jnp.real(y), jnp.imag(y)], -1)


def independent_coefficients(*event: int) -> Callable[[jax.Array], jax.Array]:
    """Real and imaginary parts of the Fourier coefficients that are neither zero nor repeated for a real array."""
    seen, real, imaginary = set(), [], []
    for index in np.ndindex(*event[:-1], event[-1] // 2 + 1):
        mirrored = tuple((-i) % n for i, n in zip(index, event, strict=True))
        if mirrored not in seen:
            seen.add(index)
            real.append(index)
            if mirrored != index:
                imaginary.append(index)

    def pick(y: jax.Array) -> jax.Array:
        kept = [jnp.real(y)[(..., *np.transpose(real))], jnp.imag(y)[(..., *np.transpose(imaginary))]]
        return jnp.concatenate(kept, -1)

    return pick


BIJECTORS: dict[str, Callable[[], Line]] = {
    "identity": lambda: Line(b.Identity()),
    "exp": lambda: Line(b.Exp()),
    "softplus": lambda: Line(b.Softplus()),
    "sigmoid": lambda: Line(b.Sigmoid()),
    "affine": lambda: Line(b.Affine(1, -2.5)),
    "affine, arrays": lambda: Line(b.Affine(np.arange(6), np.linspace(1.0, 2.0, 6))),
    "shift": lambda: Line(b.Shift(np.arange(6.0))),
    "scale": lambda: Line(b.Scale(-0.3)),
    "leaky relu": lambda: Line(b.LeakyRelu(0.2)),
    "power": lambda: Line(b.Power(-1.5), b.Exp()),
    "power, arrays": lambda: Line(b.Power(np.array([1.0, 2.0, -1.0, 0.5, 3.0, 1e-3])), b.Exp()),
    "abs": lambda: Line(b.Abs(), b.Exp()),
    "cdf": lambda: Line(b.Cdf(dist.Normal(0.5, 2.0))),
    "cdf, then back from another's": lambda: Line(
        b.Chain((b.Cdf(dist.Normal(0.0, 2.0)), b.Inverse(b.Cdf(dist.Exponential(1.5))))), b.Identity()
    ),
    "logit": lambda: Line(b.Inverse(b.Sigmoid()), b.Sigmoid()),
    "lower bounded": lambda: Line(b.LowerBounded(3)),
    "lower bounded at -inf": lambda: Line(b.LowerBounded(-inf)),
    "lower bounded, mixed": lambda: Line(b.LowerBounded(SOME_BOUNDS[0])),
    "upper bounded": lambda: Line(b.UpperBounded(-1.5)),
    "upper bounded at inf": lambda: Line(b.UpperBounded(inf)),
    "upper bounded, mixed": lambda: Line(b.UpperBounded(SOME_BOUNDS[1])),
    "interval": lambda: Line(b.Interval(-1, 3)),
    "interval, tiny": lambda: Line(b.Interval(0.0, 1e-12)),
    "interval to inf": lambda: Line(b.Interval(2.0, inf)),
    "interval from -inf": lambda: Line(b.Interval(-inf, 2.0)),
    "interval, whole line": lambda: Line(b.Interval(-inf, inf)),
    "interval, mixed": lambda: Line(b.Interval(*SOME_BOUNDS)),
    "interval, JAX bounds": lambda: Line(b.Interval(jnp.zeros(6), jnp.full(6, 2.0))),
    "chain": lambda: Line(b.Chain((b.Exp(), b.Affine(0, 2)))),
    "chain of nothing": lambda: Line(b.Chain(())),
    "chain with a structured part": lambda: Line(b.Chain((b.Affine(0.0, 0.5), b.Ordered(), b.Softplus()))),
    "chain of two precisions": lambda: Line(b.Chain((b.Exp(), b.Affine(np.arange(6.0), 1.0)))),
    "independent": lambda: Line(b.Independent(b.Exp(), 1)),
    "stacked": lambda: Line(b.Stacked((b.Exp(), b.Ordered(), b.ZeroSum()), lengths=(2, 2, 3))),
    "stacked, elementwise": lambda: Line(b.Stacked([b.Exp(), b.Identity(), b.Softplus()] * 2)),
    "stacked along a batch axis": lambda: Line(b.Stacked((b.Ordered(), b.PositiveOrdered()), dim=-2)),
    "stacked factors": lambda: Line(b.Stacked((b.LowerCholesky(),) * 2, dim=-3), free=lower),
    "permute": lambda: Line(b.Permute(np.array([3, 1, 0, 2, 5, 4]))),
    "reshape": lambda: Line(b.Reshape((2, 3), (6,))),
    "lower cholesky affine": lambda: Line(b.LowerCholeskyAffine(np.arange(6.0), FACTOR)),
    "recursive linear": lambda: Line(b.RecursiveLinear(0.3 * FACTOR)),
    "recursive linear, from a start": lambda: Line(b.RecursiveLinear(0.1 * FACTOR, np.arange(6.0))),
    "discrete cosine": lambda: Line(b.DiscreteCosine()),
    "discrete cosine, smooth": lambda: Line(b.DiscreteCosine(-2, 0.7)),
    "haar": lambda: Line(b.Haar()),
    "haar, flipped": lambda: Line(b.Haar(dim=-2, flip=True)),
    "real Fourier": lambda: Line(b.RealFastFourier(), free=independent_coefficients(6)),
    "real Fourier, two axes": lambda: Line(
        b.RealFastFourier(transform_ndims=2), free=independent_coefficients(2, 6)
    ),
    "Fourier coefficients": lambda: Line(
        b.PackRealFastFourierCoefficients(), free=independent_coefficients(6)
    ),
    "complex": lambda: Line(b.Complex(), b.Reshape((3, 2), (6,)), parts),
    "simplex": lambda: Line(b.StickBreaking(), free=but_last),
    "simplex to ordered": lambda: Line(b.SimplexToOrdered(0.7), b.StickBreaking()),
    "ordered": lambda: Line(b.Ordered()),
    "positive ordered": lambda: Line(b.PositiveOrdered()),
    "l1 ball": lambda: Line(b.L1Ball()),
    "zero sum": lambda: Line(b.ZeroSum()),
    "zero sum, two axes": lambda: Line(b.ZeroSum(2)),
    "lower cholesky": lambda: Line(b.LowerCholesky(), free=lower),
    "softplus lower cholesky": lambda: Line(b.SoftplusLowerCholesky(), free=lower),
    "scaled unit lower cholesky": lambda: Line(b.ScaledUnitLowerCholesky(), free=lower),
    "cholesky": lambda: Line(b.Cholesky(), b.PositiveDefinite(), lower),
    "positive definite": lambda: Line(b.PositiveDefinite(), free=lower),
    "below identity": lambda: Line(b.BelowIdentity(), free=lower),
    "correlation cholesky": lambda: Line(b.CorrCholesky(), free=strictly_lower),
    "correlation": lambda: Line(b.CorrMatrix(), free=strictly_lower),
    "correlation to cholesky": lambda: Line(b.CorrMatrixCholesky(), b.CorrMatrix(), strictly_lower),
}


def standard_input(rows: int = 2, scale: float = 1.0) -> Any:
    """Normal numbers of shape `(rows, 6)`, a length that every bijector of the table takes."""
    return scale * np.random.default_rng(1).normal(size=(rows, 6))
