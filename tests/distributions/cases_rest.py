"""List distributions of empirical distribution functions, of Chernoff's, of skewed powers and of further counts."""

import numpy as np
from scipy import stats
from table_case import Case

import accord.distributions as dist

TINY_TO_HUGE = np.array([1e-6, 1e-3, 1.0, 1e3, 1e6])
POWERS = np.array([0.5, 1.0, 2.0, 8.0, 1e3])[:, None]
ASYMMETRIES = np.array([1e-6, 0.3, 0.999])[:, None, None]

UNIVARIATE = {
    # SciPy's density is off by 2e-8 near the median.
    "Kolmogorov": Case(dist.Kolmogorov, None, dist.Kolmogorov),
    "KolmogorovSmirnov": Case(
        lambda: dist.KolmogorovSmirnov(13),
        lambda: stats.kstwo(13),
        lambda: dist.KolmogorovSmirnov(1000),
    ),
    "KolmogorovSmirnov, of one": Case(lambda: dist.KolmogorovSmirnov(1), lambda: stats.uniform(0.5, 0.5)),
    # With two draws or more the density jumps, which a trapezoidal rule feels.
    "KolmogorovSmirnovOneSided": Case(
        lambda: dist.KolmogorovSmirnovOneSided(1),
        stats.uniform,
        lambda: dist.KolmogorovSmirnovOneSided(1000),
    ),
    "Chernoff": Case(dist.Chernoff, None, dist.Chernoff),
    "SkewedExponentialPower": Case(
        lambda: dist.SkewedExponentialPower(0.5, 2, 1.5, 0.3),
        None,
        lambda: dist.SkewedExponentialPower(0.0, TINY_TO_HUGE, POWERS, ASYMMETRIES),
    ),
    "SkewedExponentialPower, even": Case(
        lambda: dist.SkewedExponentialPower(0.5, 2),
        lambda: stats.norm(0.5, 2),
    ),
    "SkewedExponentialPower, of power 1": Case(
        lambda: dist.SkewedExponentialPower(0.5, 2, 1, 0.2),
        lambda: stats.laplace_asymmetric(0.5, 0.5, 1.6),
    ),
}

IDEAL = [1 / 9, *(1 / (k * (k - 1)) for k in range(2, 10))]

DISCRETE = {
    "Soliton": Case(
        lambda: dist.Soliton(30, 6, 0.05),
        None,
        lambda: dist.Soliton(500, 40, np.array([1e-30, 1e-6, 0.5, 1 - 1e-6])),
    ),
    "Soliton, ideal": Case(
        lambda: dist.Soliton(9), lambda: stats.rv_discrete(values=(np.arange(1, 10), IDEAL))
    ),
    "Soliton, without rare numbers": Case(lambda: dist.Soliton(30, 6, 0.05, 0.01)),
    "WalleniusHypergeometric": Case(
        lambda: dist.WalleniusHypergeometric(8, 5, 9, 2.5),
        lambda: stats.nchypergeom_wallenius(13, 8, 9, 2.5),
        lambda: dist.WalleniusHypergeometric(30, 10**6, 200, np.array([1e-6, 1.0, 1e6])),
    ),
}

BATCHED = {
    "KolmogorovSmirnovOneSided, of seven": Case(lambda: dist.KolmogorovSmirnovOneSided(7)),
    "SkewedExponentialPower, batch": Case(
        lambda: dist.SkewedExponentialPower(np.zeros((2, 1)), 2.0, np.array([1.0, 3.0]), np.array([0.3, 0.9]))
    ),
    "Soliton, batch": Case(lambda: dist.Soliton(30, 6, np.array([[0.05], [0.5]]))),
    "WalleniusHypergeometric, batch": Case(
        lambda: dist.WalleniusHypergeometric(8, 12, 9, np.array([[0.3, 1.0], [4.0, 9.0]]))
    ),
}

OUTSIDE = {
    "Kolmogorov": (dist.Kolmogorov, (), -0.5),
    "KolmogorovSmirnov": (lambda: dist.KolmogorovSmirnov(5), (), 0.05),
    "KolmogorovSmirnov, above": (lambda: dist.KolmogorovSmirnov(5), (), 1.5),
    "KolmogorovSmirnovOneSided": (lambda: dist.KolmogorovSmirnovOneSided(5), (), -0.5),
    "Soliton": (lambda p: dist.Soliton(30, 6, p), (0.05,), 31),
    "Soliton, without rare numbers": (lambda p: dist.Soliton(30, 6, p, 0.01), (0.05,), 30),
    "WalleniusHypergeometric": (lambda w: dist.WalleniusHypergeometric(8, 3, 5, w), (2.0,), 1),
}
