"""Write a fitted guide as a bijector: a smooth one-to-one map from standard normal vectors to positions."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np

from ..bijectors import AbstractBijector, Affine, Chain, Independent, LowerCholeskyAffine, Permute
from ..bijectors.flows.coupling import Coupling, SplineFamily
from ..core.errors import OptionError
from ..core.precision import scope
from ..guides import Flow, FullRank, Laplace, LowRank, MeanField, Structured
from .evaluate import Fitted


def transport(fitted: Fitted) -> AbstractBijector:
    """Return the map under which vectors of standard normal numbers have the distribution of the fitted guide.

    **Raises** `OptionError` for a guide of which no such map is known.
    """
    for kind, build in _BUILDERS.items():
        if isinstance(fitted.guide, kind):
            return build(fitted)
    raise OptionError(
        f"bijector: a {type(fitted.guide).__name__} is not known as a one-to-one map of as many normal numbers as "
        f"there are unknowns. Fit one of {', '.join(f'infer.guides.{kind.__name__}()' for kind in _BUILDERS)}."
    )


def _mean_field(fitted: Fitted) -> AbstractBijector:
    return Independent(Affine(*_moved(fitted)), 1)


def _normal(fitted: Fitted) -> AbstractBijector:
    """Return the triangular map to the distribution of a guide whose draws are a linear function of their noise."""
    guide, dim = fitted.guide, np.size(fitted.frame.location)
    with scope("float64"):
        params = jax.tree.map(lambda leaf: np.asarray(leaf, float), fitted.params)
        at = np.zeros(guide.num_noise(dim))

        def draw(noise: Any) -> Any:
            return guide.draw(params, noise)[0]

        middle, slopes = np.asarray(draw(at)), np.asarray(jax.jacobian(draw)(at))
    location, scale = np.asarray(fitted.frame.location, float), fitted.frame.matrix()
    # Slopes have a column for each number of the noise, which may be more than there are unknowns.
    upper: Any = np.linalg.qr((scale @ slopes).T, mode="r")
    return LowerCholeskyAffine(location + scale @ middle, upper.T * np.sign(np.diag(upper)))


def _flow(fitted: Fitted) -> AbstractBijector:
    guide: Any = fitted.guide
    dim, num_leaves = fitted.params["loc"].size, len(fitted.params) - 2
    parts: list[AbstractBijector] = []
    for layer in range(guide.layers if num_leaves else 0):  # one unknown has nothing to couple
        leaves = [fitted.params[f"p{place}"][layer] for place in range(num_leaves)]
        parts += [Permute(np.arange(dim)[::-1]), _coupling(guide, dim, leaves)]
    if np.ndim(fitted.frame.scale) == 1:
        return Chain((*parts, _mean_field(fitted)))
    location, scale = np.asarray(fitted.frame.location, float), fitted.frame.matrix()
    last = LowerCholeskyAffine(
        location + scale @ fitted.params["loc"], scale * np.exp(fitted.params["log_scale"])
    )
    return Chain((*parts, last))


def _coupling(guide: Flow, dim: int, leaves: list[Any]) -> Coupling:
    """Return a coupling of the flow, with these numbers."""

    def drawn(key: Any) -> Coupling:
        family = SplineFamily(guide.pieces, float(guide.bound))
        return Coupling.init(key, dim, dim // 2, family=family, hidden_dims=guide.hidden)

    blank = eqx.filter_eval_shape(drawn, jax.random.key(0, impl="threefry2x32"))
    numbers, rest = eqx.partition(blank, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    return eqx.combine(jax.tree.unflatten(jax.tree.structure(numbers), leaves), rest)


def _moved(fitted: Fitted) -> tuple[np.ndarray, np.ndarray]:
    """Return location and scales of a guide in unconstrained units; shape `(dim,)` each."""
    location, scale = (np.asarray(each, float) for each in (fitted.frame.location, fitted.frame.scale))
    return location + scale * fitted.params["loc"], scale * np.exp(fitted.params["log_scale"])


_BUILDERS: dict[type, Callable[[Fitted], AbstractBijector]] = {
    MeanField: _mean_field,
    LowRank: _normal,
    FullRank: _normal,
    Structured: _normal,
    Laplace: _normal,
    Flow: _flow,
}
