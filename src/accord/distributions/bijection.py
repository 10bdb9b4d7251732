"""Choose the bijector from unconstrained space onto a constraint."""

import jax
import numpy as np

from .. import bijectors
from ..bijectors import AbstractBijector, is_concrete, is_number
from ..bijectors.each_step import EachStep as EachStepMap
from ..core.by_step import made_at_each_step
from ..core.errors import DistributionError
from ..core.tracebacks import entry_point
from . import constraint as c
from .constraint.each_step import EachStep
from .constraint.either import Either, chosen

# Sets whose class alone decides; subclasses come before their base classes.
_MAPS: tuple[tuple[type[c.Constraint], type[AbstractBijector]], ...] = (
    (c.Real, bijectors.Identity),
    (c.Complex, bijectors.Complex),
    (c.SoftplusPositive, bijectors.Softplus),
    (c.Simplex, bijectors.StickBreaking),
    (c.L1Ball, bijectors.L1Ball),
    (c.Ordered, bijectors.Ordered),
    (c.PositiveOrdered, bijectors.PositiveOrdered),
    (c.CorrCholesky, bijectors.CorrCholesky),
    (c.SoftplusLowerCholesky, bijectors.SoftplusLowerCholesky),
    (c.ScaledUnitLowerCholesky, bijectors.ScaledUnitLowerCholesky),
    (c.LowerCholesky, bijectors.LowerCholesky),
    (c.CorrMatrix, bijectors.CorrMatrix),
    (c.PositiveDefinite, bijectors.PositiveDefinite),
    (c.PositiveSemidefinite, bijectors.PositiveDefinite),
    (c.BelowIdentity, bijectors.BelowIdentity),
)


@entry_point
def biject_to(constraint: c.Constraint) -> AbstractBijector:
    """Return the bijector from unconstrained space onto the interior of `constraint`; its bounds may be traced.

    **Raises** `DistributionError` for a discrete constraint, which no smooth map covers, and for a constraint without a
    map.
    """
    if constraint.is_discrete:
        raise DistributionError(
            f"biject_to: {constraint} is discrete, and no smooth map covers it. Observe the site, or sum it out."
        )
    match constraint:
        case c.Independent():
            return bijectors.Independent(biject_to(constraint.base), constraint.count)
        case c.Cat():
            parts = tuple(biject_to(part) for part in constraint.parts)
            return bijectors.Stacked(parts, constraint.dim, constraint.lengths)
        case EachStep():
            return EachStepMap(*made_at_each_step(biject_to, constraint.base, constraint.by_step))
        case Either():
            return _of_either(constraint)
        case c.ZeroSum():
            return bijectors.ZeroSum(constraint.event_dim)
        case c.Sphere():
            raise DistributionError(
                f"biject_to: {constraint} has no map from unconstrained space, since no smooth one-to-one map covers a "
                "sphere. Give the site a ProjectedNormal, and sample its normal vector: "
                "`handlers.reparam(model, {site: reparam.ProjectedNormal()})`."
            )
        case c.Dependent():
            raise DistributionError(
                f"biject_to: {constraint} depends on parameters. Use the `support` of a distribution."
            )
    for kind, bijector in _MAPS:
        if isinstance(constraint, kind):
            return bijector()
    match constraint:
        case c.GreaterThan(lower=lower) | c.GreaterThanOrEqual(lower=lower):
            return bijectors.Exp() if _is(lower, 0) else bijectors.LowerBounded(lower)
        case c.LessThan(upper=upper) | c.LessThanOrEqual(upper=upper):
            return bijectors.UpperBounded(upper)
        case c.Interval(lower=lower, upper=upper) | c.OpenInterval(lower=lower, upper=upper):
            if is_concrete(lower) and is_concrete(upper) and np.equal(lower, upper).any():
                raise DistributionError(
                    f"biject_to: the interval from {lower} to {upper} has zero width, as the support of a Delta, so "
                    "there is nothing to sample. Observe the site, or make it a `deterministic`."
                )
            unit = _is(lower, 0) and _is(upper, 1)
            return bijectors.Sigmoid() if unit else bijectors.Interval(lower, upper)
        case _:
            raise DistributionError(
                f"biject_to: {constraint} has no map from unconstrained space. Use a constraint that has one, "
                "such as a matrix or vector in terms of positive numbers."
            )


def _of_either(constraint: Either) -> AbstractBijector:
    """Return one map with the bounds of the chosen set, when both sets use the same kind of map."""
    first, second = biject_to(constraint.first), biject_to(constraint.second)
    if jax.tree.structure(first) != jax.tree.structure(second):
        raise DistributionError(
            f"biject_to: what must be {constraint.describe()}, has no map from one unconstrained space. Give both "
            "sides supports of one kind."
        )
    return chosen(constraint.condition, first, second)


def _is(bound: object, number: int) -> bool:
    """Return whether a bound is known, while tracing, to equal this number."""
    return is_number(bound) and bound == number
