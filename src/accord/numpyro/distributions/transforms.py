"""Offer the transforms of NumPyro: accord's bijectors, called as functions, with `inv` and `log_abs_det_jacobian`."""

from collections.abc import Sequence
from typing import Any

import jax

from ... import bijectors
from ...bijectors import AbstractBijector
from ...distributions import biject_to as _biject_to
from ...distributions import constraints
from ..names.refusal import refusal as _refusal


class Transform:
    """A bijector by NumPyro's interface; `bijector` is accord's.

    **Arguments**: `domain`, `codomain`, constraints, for programs that read them.
    """

    def __init__(
        self,
        bijector: AbstractBijector,
        domain: Any = constraints.real,
        codomain: Any = None,
    ) -> None:
        self.bijector, self.domain = bijector, domain
        self.codomain = domain if codomain is None else codomain

    def __call__(self, x: Any) -> jax.Array:
        """Map to the codomain."""
        return self.bijector.forward(x)

    def _inverse(self, y: Any) -> jax.Array:
        return self.bijector.inverse(y)

    @property
    def inv(self) -> "Transform":
        """The inverse map."""
        return Transform(bijectors.Inverse(self.bijector), self.codomain, self.domain)

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> jax.Array:
        """Logarithm of |dy/dx| at `x`."""
        del y, intermediates
        return self.bijector.forward_and_log_det(x)[1]

    def call_with_intermediates(self, x: Any) -> tuple[jax.Array, None]:
        """Map to the codomain; there are no intermediates."""
        return self(x), None

    def forward_shape(self, shape: tuple[int, ...]) -> Any:
        """Return the shape of `y` for an `x` of this shape."""
        return self.bijector.forward_shape(shape)

    def inverse_shape(self, shape: tuple[int, ...]) -> Any:
        """Return the shape of `x` for a `y` of this shape."""
        return self.bijector.inverse_shape(shape)


def bijector_of(transform: Any) -> AbstractBijector:
    """Return accord's bijector for a transform, or for a list of them, the first applied first."""
    if isinstance(transform, Sequence):
        return bijectors.Chain(tuple(map(bijector_of, transform)))
    return transform.bijector if isinstance(transform, Transform) else transform


def biject_to(constraint: Any) -> Transform:
    """Return the transform from real numbers onto a constraint."""
    return Transform(_biject_to(constraint), constraints.real, constraint)


def ComposeTransform(parts: Sequence[Any]) -> Transform:  # noqa: N802 - NumPyro's name
    """Apply transforms one after the other, the first one first."""
    return Transform(bijector_of(list(parts)))


def AffineTransform(loc: Any, scale: Any, domain: Any = constraints.real) -> Transform:  # noqa: N802
    """Map x to `loc + scale * x`."""
    return Transform(bijectors.Affine(loc, scale), domain)


_SAME = {
    "AbsTransform": ("Abs", "real", "nonnegative"),
    "CholeskyTransform": ("Cholesky", "positive_definite", "lower_cholesky"),
    "ComplexTransform": ("Complex", "real_vector", "complex"),
    "CorrCholeskyTransform": ("CorrCholesky", "real_vector", "corr_cholesky"),
    "CorrMatrixCholeskyTransform": ("CorrMatrixCholesky", "corr_matrix", "corr_cholesky"),
    "DiscreteCosineTransform": ("DiscreteCosine", "real_vector", "real_vector"),
    "ExpTransform": ("Exp", "real", "positive"),
    "HaarTransform": ("Haar", "real_vector", "real_vector"),
    "IdentityTransform": ("Identity", "real", "real"),
    "L1BallTransform": ("L1Ball", "real_vector", "l1_ball"),
    "LowerCholeskyAffine": ("LowerCholeskyAffine", "real_vector", "real_vector"),
    "LowerCholeskyTransform": ("LowerCholesky", "real_vector", "lower_cholesky"),
    "OrderedTransform": ("Ordered", "real_vector", "ordered_vector"),
    "PackRealFastFourierCoefficientsTransform": ("PackRealFastFourierCoefficients", "real_vector", "complex"),
    "PermuteTransform": ("Permute", "real_vector", "real_vector"),
    "PowerTransform": ("Power", "positive", "positive"),
    "RealFastFourierTransform": ("RealFastFourier", "real_vector", "complex"),
    "RecursiveLinearTransform": ("RecursiveLinear", "real_matrix", "real_matrix"),
    "ReshapeTransform": ("Reshape", "real", "real"),
    "ScaledUnitLowerCholeskyTransform": ("ScaledUnitLowerCholesky", "real_vector", "lower_cholesky"),
    "SigmoidTransform": ("Sigmoid", "real", "unit_interval"),
    "SimplexToOrderedTransform": ("SimplexToOrdered", "simplex", "ordered_vector"),
    "SoftplusLowerCholeskyTransform": ("SoftplusLowerCholesky", "real_vector", "lower_cholesky"),
    "SoftplusTransform": ("Softplus", "real", "softplus_positive"),
    "StickBreakingTransform": ("StickBreaking", "real_vector", "simplex"),
    "ZeroSumTransform": ("ZeroSum", "real_vector", "real_vector"),
    "UnpackTransform": ("Unpack", "real_vector", "real"),
}
"""Names of transforms: accord's bijector, and the constraints of its two sides."""

__all__ = sorted(  # pyright: ignore
    [*_SAME, "AffineTransform", "ComposeTransform", "Transform", "biject_to"]
)

_refuse = _refusal("numpyro.distributions.transforms")


def __getattr__(name: str) -> Any:
    if name not in _SAME:
        return _refuse(name)
    ours, domain, codomain = _SAME[name]

    def make(*args: Any, **kwargs: Any) -> Transform:
        made = getattr(bijectors, ours)(*args, **kwargs)
        return Transform(made, getattr(constraints, domain), getattr(constraints, codomain))

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"Make the bijector `{ours}` of accord, as a transform."
    globals()[name] = make
    return make
