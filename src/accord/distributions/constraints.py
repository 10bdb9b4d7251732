"""Name the constraints as NumPyro does: `constraints.positive`, `constraints.interval(0, 1)`."""

from .constraint import (
    Boolean,
    Constraint,
    GreaterThan,
    GreaterThanOrEqual,
    Independent,
    IntegerGreaterThanOrEqual,
    IntegerInterval,
    Interval,
    LessThan,
    LowerCholesky,
    OpenInterval,
    Ordered,
    PositiveDefinite,
    PositiveOrdered,
    Real,
    Simplex,
)

real = Real()
real_vector = Independent(Real(), 1)
real_matrix = Independent(Real(), 2)
positive = GreaterThan(0.0)
nonnegative = GreaterThanOrEqual(0.0)
unit_interval = Interval(0.0, 1.0)
boolean = Boolean()
nonnegative_integer = IntegerGreaterThanOrEqual(0)
positive_integer = IntegerGreaterThanOrEqual(1)
simplex = Simplex()
ordered_vector = Ordered()
positive_ordered_vector = PositiveOrdered()
lower_cholesky = LowerCholesky()
positive_definite = PositiveDefinite()

greater_than = GreaterThan
greater_than_eq = GreaterThanOrEqual
less_than = LessThan
interval = Interval
open_interval = OpenInterval
integer_greater_than = IntegerGreaterThanOrEqual
integer_interval = IntegerInterval
independent = Independent

__all__ = [
    "Constraint",
    "boolean",
    "greater_than",
    "greater_than_eq",
    "independent",
    "integer_greater_than",
    "integer_interval",
    "interval",
    "less_than",
    "lower_cholesky",
    "nonnegative",
    "nonnegative_integer",
    "open_interval",
    "ordered_vector",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_ordered_vector",
    "real",
    "real_matrix",
    "real_vector",
    "simplex",
    "unit_interval",
]
