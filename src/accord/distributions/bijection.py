"""Choose the bijector from unconstrained space onto a constraint."""

from .. import bijectors
from ..bijectors import AbstractBijector, is_number
from ..core.errors import DistributionError
from . import constraint as c


def biject_to(constraint: c.Constraint) -> AbstractBijector:
    """The bijector whose forward map covers the interior of `constraint`; its bounds may be traced.

    **Raises** `DistributionError` for a discrete constraint, which no smooth map covers, and for one that has no map.
    """
    match constraint:
        case c.Constraint(is_discrete=True):
            raise DistributionError(
                f"biject_to: {constraint} is discrete, and no smooth map covers it. Observe the site, or sum it out."
            )
        case c.Independent():
            return bijectors.Independent(biject_to(constraint.base), constraint.count)
        case c.Real():
            return bijectors.Identity()
        case c.GreaterThan(lower=lower) | c.GreaterThanOrEqual(lower=lower):
            return bijectors.Exp() if _is(lower, 0) else bijectors.LowerBounded(lower)
        case c.LessThan(upper=upper):
            return bijectors.UpperBounded(upper)
        case c.Interval(lower=lower, upper=upper) | c.OpenInterval(lower=lower, upper=upper):
            unit = _is(lower, 0) and _is(upper, 1)
            return bijectors.Sigmoid() if unit else bijectors.Interval(lower, upper)
        case c.Simplex():
            return bijectors.StickBreaking()
        case c.PositiveOrdered():
            return bijectors.PositiveOrdered()
        case c.Ordered():
            return bijectors.Ordered()
        case c.LowerCholesky():
            return bijectors.LowerCholesky()
        case _:
            raise DistributionError(
                f"biject_to: {constraint} has no map from unconstrained space. Use one of the constraints that has, "
                "such as lower_cholesky instead of positive_definite."
            )


def _is(bound: object, number: int) -> bool:
    """Whether a bound is this number, known while tracing."""
    return is_number(bound) and bound == number
