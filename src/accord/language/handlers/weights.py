"""Weigh log densities, or leave entries of them out."""

from dataclasses import replace
from typing import Any, overload

import numpy as np

from ...core.errors import OptionError
from ...core.options import checks_options
from ...distributions.wrappers.entries import AbstractEntries
from ..handler import AbstractHandler
from ..site import Site
from .handled import Target, Within, put_on_or_within

_WITH_DENSITY = ("sample", "factor")


@overload
def mask(target: None = None, *, mask: Any) -> Within: ...
@overload
def mask(target: Target, *, mask: Any) -> Target: ...
@checks_options
def mask(target: Any = None, *, mask: Any) -> Any:
    """Leave entries out of the log density where `mask` is false: no part in value or gradient, even if they are NaN.

    **Arguments**
    - `target`: a model or function; without it, a context for the statements of a `with` inside a model.
    - `mask`: bool, broadcastable to the batch shape of each site within.

    **Raises** `OptionError` for a mask that is not bool.

    **Example**

    >>> @ac.model
    ... def partly(y):
    ...     mean = ac.sample("mean", dist.Normal(0, 1))
    ...     with ac.plate("row", len(y)), handlers.mask(mask=~np.isnan(y)):
    ...         ac.sample("y", dist.Normal(mean, 1), obs=y)
    >>> gaps, whole = partly(np.array([0.5, np.nan])), partly(np.array([0.5]))
    >>> bool(gaps.log_density()(np.ones(1)) == whole.log_density()(np.ones(1)))
    True
    """
    if isinstance(mask, np.bool_):
        mask = bool(mask)
    if not isinstance(mask, bool) and getattr(mask, "dtype", None) != np.bool_:
        mask = np.asarray(mask) if isinstance(mask, list) else mask
        if getattr(mask, "dtype", None) != np.bool_:
            raise OptionError(
                f"handlers.mask: the mask must be True or False or an array of them, got "
                f"{getattr(mask, 'dtype', type(mask).__name__)}. Compare: `mask=(m == 1)`."
            )
    return put_on_or_within(target, Mask(mask), "mask")


@overload
def scale(target: None = None, *, scale: Any) -> Within: ...
@overload
def scale(target: Target, *, scale: Any) -> Target: ...
@checks_options
def scale(target: Any = None, *, scale: Any) -> Any:
    """Multiply log densities by `scale`, for instance to weigh observations.

    **Arguments**
    - `target`: a model or function; without it, a context for the statements of a `with` inside a model.
    - `scale`: a number > 0, or an array broadcastable to the batch shape of each site within.

    **Raises** `OptionError` for a number that is not positive.

    **Example**

    >>> half = handlers.scale(coin(4, heads), scale=0.5)
    >>> print(f"{half.log_density()(np.zeros(1)) - coin(4, heads).log_density()(np.zeros(1)):.3f}")
    1.184
    """
    if isinstance(scale, bool) or not (isinstance(scale, (int, float)) or hasattr(scale, "dtype")):
        raise OptionError(f"handlers.scale: the scale must be a number or an array, got {scale!r}.")
    if isinstance(scale, (int, float)) and not scale > 0:
        raise OptionError(f"handlers.scale: the scale must be positive, got {scale!r}.")
    return put_on_or_within(target, Scale(scale), "scale")


class Mask(AbstractHandler):
    """Leave entries of the log density out where the mask is false."""

    mask: Any

    def process(self, site: Site) -> Site:
        """Combine the mask with those further inside: an entry counts where all are true."""
        if site.kind not in _WITH_DENSITY or self.mask is True:
            return site
        mask = _of_entries(self.mask, site)
        if site.mask is None or mask is False:
            return replace(site, mask=mask)
        return site if site.mask is False else replace(site, mask=site.mask & mask)


class Scale(AbstractHandler):
    """Multiply the log density."""

    scale: Any

    def process(self, site: Site) -> Site:
        """Combine the scale with those further inside."""
        if site.kind not in _WITH_DENSITY:
            return site
        scale = _of_entries(self.scale, site)
        return replace(site, scale=scale if site.scale is None else site.scale * scale)


def _of_entries(weight: Any, site: Site) -> Any:
    """Take from a mask or scale over a batch the entries that a site has of that batch."""
    return site.distribution.take(weight) if isinstance(site.distribution, AbstractEntries) else weight
