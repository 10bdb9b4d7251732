"""Sample the deviation from a location, in units of a scale."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ...bijectors import AbstractBijector, Affine, Scale, align, is_concrete
from ...core.errors import DistributionError, OptionError
from ...core.options import checks_fields
from ...distributions import AbstractDistribution
from ...distributions.truncation.truncated import TruncatedDistribution
from ...distributions.truncation.truncated_normal import TruncatedNormal
from ...distributions.univariate.common.location_scale import AbstractLocationScale
from ...distributions.univariate.positive.positive import HalfCauchy, HalfNormal
from ...distributions.univariate.real.real_line import Cauchy, Normal
from ...distributions.univariate.real.student_t import HalfStudentT, StudentT
from .base import AbstractReparam, Parts


@checks_fields
class LocScale(AbstractReparam):
    """Sample z in the non-centred form `loc + scale * z`, where z does not depend on loc and scale.

    Where the data say little about each value, its prior says how they spread, and a small scale makes a funnel that no
    step size fits: sample z. Where the data say much, it is z that depends on the scale: leave the site as it is. In
    between, `centered` mixes the two: with c, the auxiliary variable has location `c * loc` and scale `scale ** c`.

    For Normal, Cauchy, StudentT, Laplace, Logistic, Gumbel and all others of a `loc` and a `scale` on the real line,
    whatever other parameters they have; truncated ones, whose bounds move along; and HalfNormal, HalfCauchy and
    HalfStudentT, of a scale alone.

    **Fields**
    - `centered`: c, in [0, 1], a number or one for each entry of the batch; 0 is the non-centred form, and 1 leaves the
      site as it is.

    **Raises** `OptionError` for a number that is not in [0, 1].

    **Source**: Papaspiliopoulos, Roberts & Skoeld (2007), Statistical Science 22(1), 59-73; for c, Gorinova, Moore &
    Hoffman (2020), Automatic reparameterisation of probabilistic programs, section 4.

    **Example**

    >>> @ac.model
    ... def funnel():
    ...     scale = ac.sample("scale", dist.LogNormal(0, 1))
    ...     ac.sample("x", dist.Normal(0, scale))
    >>> easier = handlers.reparam(funnel(), {"x": reparam.LocScale()})
    >>> given = handlers.substitute(easier, {"scale": 2.0, "x_base": 1.5})
    >>> print(handlers.trace(given).get_trace()["x"].value)
    3.0
    """

    centered: Any = eqx.field(static=True, default=0.0)

    def __init__(self, centered: Any = 0.0):
        try:
            array = np.asarray(centered, float)
        except (TypeError, ValueError):
            raise OptionError(f"LocScale: centered must be numbers in [0, 1], got {centered!r}.") from None
        if not np.all((array >= 0) & (array <= 1)):
            raise OptionError(
                f"LocScale: centered must be in [0, 1], got {centered!r}. 0 is the non-centred form, 1 the model as "
                "it is written."
            )
        self.centered = _frozen(array.tolist())

    def parts(self, distribution: AbstractDistribution) -> Parts | None:
        """Return the distribution of the deviation, and the affine map from it."""
        if self.centered == 1.0:
            return None
        if isinstance(distribution, TruncatedDistribution):
            inner = self.parts(distribution.base_dist)
            bounds = () if inner is None else _moved(distribution, inner.way)
            return None if inner is None else Parts(inner.auxiliary.truncate(**dict(bounds)), inner.way)
        given: Any = distribution
        if isinstance(distribution, _OF_A_SCALE):
            stretch, scale = self._stretch(given.scale)
            return Parts(replace(given, scale=scale), Scale(stretch))
        if not is_loc_scale(distribution):
            raise DistributionError(
                f"{type(distribution).__name__} is not the distribution of loc + scale * z. For the image of one "
                "that is, as LogNormal or a TransformedDistribution, write Transform(); for a vector, Structured()."
            )
        if isinstance(self.centered, float) and self.centered == 0:
            way, loc, scale = Affine(given.loc, given.scale), 0.0, 1.0
        else:
            stretch, scale = self._stretch(given.scale)
            share, loc, factor = align(self._shares, given.loc, stretch)
            way, loc = Affine(loc - factor * (share * loc), stretch), share * loc
        return Parts(replace(given, loc=loc, scale=scale, **dict(_moved(distribution, way))), way)

    @property
    def _shares(self) -> Any:
        return np.asarray(self.centered)

    def _stretch(self, scale: Any) -> tuple[Any, Any]:
        """Return the factor from the auxiliary variable to the value, and the scale that is left to it."""
        if isinstance(self.centered, float) and self.centered == 0:
            return scale, 1.0
        share, scale = align(self._shares, scale)
        return scale ** (1.0 - share), scale**share


_OF_A_SCALE = (HalfNormal, HalfCauchy, HalfStudentT)


def is_loc_scale(distribution: AbstractDistribution) -> bool:
    """Return whether this is the distribution of `loc + scale * z`, for z on the real line or between bounds."""
    if isinstance(distribution, TruncatedDistribution):
        return is_loc_scale(distribution.base_dist)
    return isinstance(distribution, (Normal, TruncatedNormal, Cauchy, StudentT, AbstractLocationScale))


def _moved(distribution: Any, way: AbstractBijector) -> Iterator[tuple[str, Any]]:
    """Return the bounds as the auxiliary variable has them; an infinite one stays, without a derivative."""
    if not isinstance(distribution, (TruncatedNormal, TruncatedDistribution)):
        return
    for name in ("low", "high"):
        bound = getattr(distribution, name)
        if bound is None or (is_concrete(bound) and bool(np.isinf(np.asarray(bound)).all())):
            continue
        is_infinite = jnp.isinf(bound)
        moved = way.inverse(jnp.where(is_infinite, 0.0, bound))
        yield name, jnp.where(is_infinite, bound, moved)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
