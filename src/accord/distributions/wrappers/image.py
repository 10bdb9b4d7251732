"""Find the set onto which bijectors map a support, if known."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import bijectors as b
from ...bijectors import AbstractBijector, align, is_concrete, is_number
from .. import constraint as c
from ..truncation.interval_support import ends


def image(parts: tuple[AbstractBijector, ...], support: c.Constraint) -> c.Constraint | None:
    """Return the set onto which successive bijectors map a support; None if unknown."""
    found: c.Constraint | None = support
    for part in parts:
        found = None if found is None else _image(part, found)
    return found


def _image(part: AbstractBijector, support: c.Constraint) -> c.Constraint | None:
    """Return the image under one bijector."""
    if isinstance(part, b.Chain):
        return image(part.parts, support)
    if isinstance(part, b.Independent):
        return _image(part.base, support)
    if isinstance(support, c.Independent):
        inner, count = support.base, support.count
        if part.domain_event_dim == 0:
            found = _image(part, inner)
            return None if found is None else c.Independent(found, count)
        if isinstance(inner, c.Real) and part.domain_event_dim <= count:
            target = _vector_image(part)
            if target is None:
                return None
            rest = count - part.domain_event_dim
            return c.Independent(target, rest) if rest else target
        return None
    return _scalar_image(part, support) if part.domain_event_dim == 0 else None


def _vector_image(part: AbstractBijector) -> c.Constraint | None:
    """Return the image of all real vectors."""
    match part:
        case b.StickBreaking():
            return c.Simplex()
        case b.Ordered():
            return c.Ordered()
        case b.PositiveOrdered():
            return c.PositiveOrdered()
        case b.LowerCholesky():
            return c.LowerCholesky()
        case _:
            return getattr(part, "codomain", None)


def _scalar_image(part: AbstractBijector, support: c.Constraint) -> c.Constraint | None:
    """Return the image of an interval under a monotone map of numbers."""
    if isinstance(part, b.Identity):
        return support
    lower, upper = ends(support)
    is_real = isinstance(support, c.Real)
    match part:
        case b.Exp():
            return c.GreaterThan(0.0) if is_real else _between(support, _map(math.exp, jnp.exp), lower, upper)
        case b.Softplus():
            from ..special import softplus

            host = _map(
                lambda x: x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x)), softplus
            )
            return c.GreaterThan(0.0) if is_real else _between(support, host, lower, upper)
        case b.Affine(loc=loc, scale=scale):
            if is_real:
                return support
            if not is_concrete(scale):
                return None
            increasing = bool((np.asarray(scale) > 0).all())
            if not increasing and not bool((np.asarray(scale) < 0).all()):
                return None

            def move(x: Any) -> Any:
                if is_number(x) and is_number(loc) and is_number(scale):
                    return loc + scale * x
                x, loc_, scale_ = align(x, loc, scale)
                return loc_ + scale_ * x

            return (
                _between(support, move, lower, upper) if increasing else _between(support, move, upper, lower)
            )
        case b.Sigmoid() if is_real:
            return c.OpenInterval(0.0, 1.0)
        case b.LowerBounded(low=low) if is_real:
            return c.GreaterThan(low)
        case b.UpperBounded(high=high) if is_real:
            return c.LessThan(high)
        case b.Interval(low=low, high=high) if is_real:
            return c.OpenInterval(low, high)
        case _:
            return getattr(part, "codomain", None) if is_real else None


def _between(support: c.Constraint, move: Callable[[Any], Any], first: Any, last: Any) -> c.Constraint:
    """Return an interval with moved ends, open where the support is open."""
    lower, upper = move(first), move(last)
    is_open = isinstance(support, (c.GreaterThan, c.LessThan, c.OpenInterval, c.Real))
    has_lower, has_upper = not _is_infinite(lower), not _is_infinite(upper)
    if has_lower and has_upper:
        return c.OpenInterval(lower, upper) if is_open else c.Interval(lower, upper)
    if has_lower:
        return c.GreaterThan(lower) if is_open else c.GreaterThanOrEqual(lower)
    if has_upper:
        return c.LessThan(upper) if is_open else c.LessThanOrEqual(upper)
    return c.Real()


def _is_infinite(end: Any) -> bool:
    """Return whether an end is known now to be infinite everywhere; in NumPy, since a program may be being traced."""
    return is_concrete(end) and bool(np.isinf(np.asarray(end)).all())


def _map(host: Callable[[float], float], device: Callable[[Any], jax.Array]) -> Callable[[Any], Any]:
    """Apply a function on the host to Python numbers, on the device to arrays."""

    def move(x: Any) -> Any:
        if is_number(x):
            try:
                return host(x)
            except OverflowError:
                return math.inf
        return device(align(x)[0])

    return move
