"""Gather the distributions that every law is tested for."""

import functools
import importlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np
from laws import compiled, each
from table_case import Case

FILES = [importlib.import_module(file.stem) for file in sorted(Path(__file__).parent.glob("cases_*.py"))]


def gather(kind: str) -> dict[str, Any]:
    """All lines of one kind, from every `cases_*.py`; a label is used once."""
    lines: dict[str, Any] = {}
    for file in FILES:
        for label, line in getattr(file, kind, {}).items():
            assert label not in lines, f"{label} is in two files"
            lines[label] = line
    return lines


UNIVARIATE: dict[str, Case] = gather("UNIVARIATE")
DISCRETE: dict[str, Case] = gather("DISCRETE")
MULTIVARIATE: dict[str, Case] = gather("MULTIVARIATE")
BATCHED: dict[str, Case] = gather("BATCHED")
OUTSIDE: dict[str, tuple] = gather("OUTSIDE")
ALL = UNIVARIATE | DISCRETE | MULTIVARIATE | BATCHED


# Lines that say something new only to the slow tests: batches, and further lines of a family that is there already.
_HEADS = [name.split(", ")[0] for name in ALL]
VARIANTS = {name for i, name in enumerate(ALL) if name in BATCHED or _HEADS.index(_HEADS[i]) < i}

# Families that take seconds a law, most of them for tracing and compiling: all of their lines are slow tests.
LONG_FAMILIES = {
    "BetaBinomial",
    "BetaNegativeBinomial",
    "BetaPrime",
    "BetaProportion",
    "ExponentiallyModifiedGaussian",
    "FisherSnedecor",
    "GaussianCopula",
    "GaussianCopulaBeta",
    "GeneralizedInverseGaussian",
    "HurdlePoisson",
    "JointOrderStatistics",
    "KolmogorovSmirnov",
    "KolmogorovSmirnovOneSided",
    "MatrixBeta",
    "MatrixFDist",
    "MatrixStudentT",
    "NoncentralBeta",
    "NoncentralChi2",
    "NoncentralFisherSnedecor",
    "NoncentralHypergeometric",
    "NoncentralT",
    "NormalInverseGaussian",
    "OrderStatistic",
    "PolyaGamma",
    "Rician",
    "SineBivariateVonMises",
    "Skellam",
    "SkewNormal",
    "SkewedExponentialPower",
    "StudentizedRange",
    "TruncatedPolyaGamma",
    "WalleniusHypergeometric",
    "WrappedNormal",
}


def is_long(name: str) -> bool:
    """Whether a line, or a family of the accuracy grid, is left to the slow tests."""
    return name.split(", ")[0].rstrip("0123456789") in LONG_FAMILIES


def each_line(table: Mapping[str, Any], slow: Collection[str] = ()) -> Any:
    """Run a test for every line of a table, those of long families and of `slow` among the slow tests."""
    return each(table, {*slow, *filter(is_long, table)})


SIZE = 10_000


def draws_of(case: Case, size: int = SIZE, precision: str = "float64") -> np.ndarray:
    """The first draws of one line of the table, up to `SIZE`, with a fixed key; drawn once for all laws."""
    return _draws(case, precision)[:size]


@functools.cache
def _draws(case: Case, precision: str) -> np.ndarray:
    """All draws of one line."""
    with jax.enable_x64(precision == "float64"):
        d = case.make()
        return np.asarray(compiled(lambda key: d.sample(key, (SIZE,)))(jax.random.key(7)))
