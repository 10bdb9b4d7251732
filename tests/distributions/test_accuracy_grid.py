"""Test log densities, cdfs, quantiles and all their first derivatives against 90-digit values, in both precisions."""

from typing import Any

import jax
import numpy as np
import pytest
from accuracy import FOLDER, TARGET, errors, families, read
from accuracy_exceptions import EXCEPTIONS
from laws import each

FAMILIES = families()


# One family of each kind of formula; of the others, values at usual parameters are looked at by other quick tests.
QUICK = (
    "AsymmetricLaplace",
    "Beta",
    "Binomial50Logits",
    "Cauchy",
    "Exponential",
    "Gamma",
    "Gumbel",
    "HalfNormal",
)
QUICK += (
    "Logistic",
    "LogNormal",
    "NegativeBinomial2",
    "Normal",
    "Pareto",
    "Poisson",
    "SkewNormal",
    "StudentT",
)
QUICK += ("Triangular", "Uniform", "VonMises", "Weibull", "ZeroInflatedPoisson")
SLOW = [name for name in FAMILIES if name not in QUICK]


@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)])
@each({name: name for name in sorted(FAMILIES)}, slow=SLOW)
def test_values_and_first_derivatives_are_accurate_everywhere(name: str, dtype: Any) -> None:
    family, precision = FAMILIES[name], np.dtype(dtype).name
    worst = {}
    with jax.enable_x64(precision == "float64"):
        for quantity, rows in read(name).items():
            worst |= errors(family.make, quantity, rows, dtype, is_discrete=family.is_discrete)
    for what, (error, row) in worst.items():
        bound, _ = EXCEPTIONS.get((name, what, precision), (TARGET[precision], ""))
        assert error <= bound, f"{what} is off by {error:.2g} natural scales at {row}"
        if bound > TARGET[precision]:
            assert error > TARGET[precision], f"{what} is accurate now: take it off the exceptions"


def test_every_family_has_its_values() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(FAMILIES)
    assert {name for name, _, _ in EXCEPTIONS} <= set(FAMILIES)
