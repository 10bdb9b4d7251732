"""Say which values a distribution can take, as frozen pytrees whose bounds may be traced.

A constraint is called on NumPy or JAX values alike: it uses only operators and methods that both have, so checking a
constant costs no JAX.
"""

from .base import Constraint
from .combine import Cat, Dependent, Independent, is_dependent
from .matrices import (
    BelowIdentity,
    CorrCholesky,
    CorrMatrix,
    LowerCholesky,
    PositiveDefinite,
    PositiveSemidefinite,
    ScaledUnitLowerCholesky,
    SoftplusLowerCholesky,
)
from .numbers import (
    Boolean,
    Circular,
    Complex,
    GreaterThan,
    GreaterThanOrEqual,
    IntegerGreaterThanOrEqual,
    IntegerInterval,
    Interval,
    LessThan,
    LessThanOrEqual,
    OpenInterval,
    Real,
    SoftplusPositive,
)
from .vectors import (
    L1Ball,
    Multinomial,
    Ordered,
    PositiveDefiniteCirculantVector,
    PositiveOrdered,
    Simplex,
    Sphere,
    ZeroSum,
)

__all__ = [
    "BelowIdentity",
    "Boolean",
    "Cat",
    "Circular",
    "Complex",
    "Constraint",
    "CorrCholesky",
    "CorrMatrix",
    "Dependent",
    "GreaterThan",
    "GreaterThanOrEqual",
    "Independent",
    "IntegerGreaterThanOrEqual",
    "IntegerInterval",
    "Interval",
    "L1Ball",
    "LessThan",
    "LessThanOrEqual",
    "LowerCholesky",
    "Multinomial",
    "OpenInterval",
    "Ordered",
    "PositiveDefinite",
    "PositiveDefiniteCirculantVector",
    "PositiveOrdered",
    "PositiveSemidefinite",
    "Real",
    "ScaledUnitLowerCholesky",
    "Simplex",
    "SoftplusLowerCholesky",
    "SoftplusPositive",
    "Sphere",
    "ZeroSum",
    "is_dependent",
]
