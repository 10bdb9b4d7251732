"""Find the ends of a univariate distribution's support, and the support left between bounds."""

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import align, is_concrete
from .. import constraint as c
from ..special.normal.normal_mass import Known

if TYPE_CHECKING:
    from ..base import AbstractDistribution


def ends(support: c.Constraint) -> tuple[Any, Any]:
    """Return the smallest and the largest value of a support, infinite where there is none."""
    if isinstance(support, c.Boolean):
        return 0.0, 1.0
    return getattr(support, "lower", -np.inf), getattr(support, "upper", np.inf)


def cuts(base: "AbstractDistribution", bound: Any, is_low: bool) -> Any:
    """Return whether mass may lie beyond a bound, decided now if bound and support are known now."""
    if bound is None:
        return False
    lower, upper = ends(base.support)
    end = lower if is_low else upper
    if is_concrete(bound) and is_concrete(end):
        bound = np.asarray(bound)
        if base.is_discrete:
            bound = np.ceil(bound) if is_low else np.floor(bound)
        beyond = np.greater(bound, end) if is_low else np.less(bound, end)
        return bool(beyond.all()) if beyond.all() or not beyond.any() else beyond
    bound, end = align(bound, end)
    if base.is_discrete:
        bound = jnp.ceil(bound) if is_low else jnp.floor(bound)
    return bound > end if is_low else bound < end


def inside_of(base: "AbstractDistribution", like: Any) -> jax.Array:
    """Return points well inside the support, in the shape and dtype of `like`."""
    return jax.lax.stop_gradient(base.support.feasible_like(like))


def restrict(support: c.Constraint, low: Any, high: Any, known: Known) -> c.Constraint:
    """Return the part of a support within [low, high]; `known` says which bounds cut something off."""
    if known == (False, False):
        return support
    lower, upper = ends(support)
    if support.is_discrete:
        lower = lower if known[0] is False else tightest(_whole(low, np.ceil, jnp.ceil), lower, is_low=True)
        upper = (
            upper if known[1] is False else tightest(_whole(high, np.floor, jnp.floor), upper, is_low=False)
        )
        return c.IntegerGreaterThanOrEqual(lower) if _is(upper, np.inf) else c.IntegerInterval(lower, upper)
    if known[1] is False and _is(upper, np.inf):
        return c.GreaterThanOrEqual(tightest(low, lower, is_low=True))
    if known[0] is False and _is(lower, -np.inf):
        return c.LessThanOrEqual(tightest(high, upper, is_low=False))
    lower = lower if known[0] is False else tightest(low, lower, is_low=True)
    upper = upper if known[1] is False else tightest(high, upper, is_low=False)
    return c.Interval(lower, upper)


def tightest(first: Any, second: Any, *, is_low: bool) -> Any:
    """Return the narrower of two bounds, either of which may be None or infinite."""
    absent = -np.inf if is_low else np.inf
    if first is None or _is(first, absent):
        return second
    if second is None or _is(second, absent):
        return first
    if is_concrete(first) and is_concrete(second):
        return np.maximum(first, second) if is_low else np.minimum(first, second)
    first, second = align(first, second)
    return jnp.maximum(first, second) if is_low else jnp.minimum(first, second)


def _whole(bound: Any, on_host: Any, on_device: Any) -> Any:
    """Round a bound to a whole number; keep infinities."""
    return on_host(bound) if is_concrete(bound) else on_device(bound)


def _is(bound: Any, number: float) -> bool:
    """Return whether a bound is known, while tracing, to equal this number everywhere."""
    return bound is not None and is_concrete(bound) and bool(np.all(np.asarray(bound) == number))
