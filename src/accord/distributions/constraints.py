"""Name the constraints as NumPyro does: `constraints.positive`, `constraints.interval(0, 1)`."""

from .constraint import (
    BelowIdentity,
    Boolean,
    Cat,
    Circular,
    Complex,
    Constraint,
    CorrCholesky,
    CorrMatrix,
    Dependent,
    GreaterThan,
    GreaterThanOrEqual,
    Independent,
    IntegerGreaterThanOrEqual,
    IntegerInterval,
    Interval,
    L1Ball,
    LessThan,
    LessThanOrEqual,
    LowerCholesky,
    Multinomial,
    OpenInterval,
    Ordered,
    PositiveDefinite,
    PositiveDefiniteCirculantVector,
    PositiveOrdered,
    PositiveSemidefinite,
    Real,
    ScaledUnitLowerCholesky,
    Simplex,
    SoftplusLowerCholesky,
    SoftplusPositive,
    Sphere,
    ZeroSum,
    is_dependent,
)

real = Real()
real_vector = Independent(Real(), 1)
real_matrix = Independent(Real(), 2)
complex = Complex()  # the name that goes with `real`, here never taken for Python's type
positive = GreaterThan(0.0)
softplus_positive = SoftplusPositive()
nonnegative = GreaterThanOrEqual(0.0)
unit_interval = Interval(0.0, 1.0)
circular = Circular()
boolean = Boolean()
nonnegative_integer = IntegerGreaterThanOrEqual(0)
positive_integer = IntegerGreaterThanOrEqual(1)
simplex = Simplex()
l1_ball = L1Ball()
sphere = Sphere()
ordered_vector = Ordered()
positive_ordered_vector = PositiveOrdered()
positive_definite_circulant_vector = PositiveDefiniteCirculantVector()
lower_cholesky = LowerCholesky()
softplus_lower_cholesky = SoftplusLowerCholesky()
scaled_unit_lower_cholesky = ScaledUnitLowerCholesky()
corr_cholesky = CorrCholesky()
corr_matrix = CorrMatrix()
positive_definite = PositiveDefinite()
positive_semidefinite = PositiveSemidefinite()
below_identity = BelowIdentity()
dependent = Dependent()

greater_than = GreaterThan
greater_than_eq = GreaterThanOrEqual
less_than = LessThan
less_than_eq = LessThanOrEqual
interval = Interval
open_interval = OpenInterval
integer_greater_than = IntegerGreaterThanOrEqual
integer_interval = IntegerInterval
multinomial = Multinomial
zero_sum = ZeroSum
cat = Cat
independent = Independent

__all__ = [
    "Constraint",
    "below_identity",
    "boolean",
    "cat",
    "circular",
    "complex",
    "corr_cholesky",
    "corr_matrix",
    "dependent",
    "greater_than",
    "greater_than_eq",
    "independent",
    "integer_greater_than",
    "integer_interval",
    "interval",
    "is_dependent",
    "l1_ball",
    "less_than",
    "less_than_eq",
    "lower_cholesky",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "open_interval",
    "ordered_vector",
    "positive",
    "positive_definite",
    "positive_definite_circulant_vector",
    "positive_integer",
    "positive_ordered_vector",
    "positive_semidefinite",
    "real",
    "real_matrix",
    "real_vector",
    "scaled_unit_lower_cholesky",
    "simplex",
    "softplus_lower_cholesky",
    "softplus_positive",
    "sphere",
    "unit_interval",
    "zero_sum",
]
