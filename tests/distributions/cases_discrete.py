"""List the families of counts and categories that every law is tested for."""

from typing import Any

import numpy as np
from scipy import stats
from table_case import Case

import accord.distributions as dist

WEIGHTS = np.array([0.2, 0.5, 0.3])
CHANCES = np.array([0.0, 1e-30, 1e-6, 0.5, 1 - 1e-6, 1.0])
LOG_ODDS = np.array([-80.0, -10.0, 0.0, 10.0, 80.0])
SHAPES = np.array([1e-6, 1e-3, 1.0, 1e3, 1e6])
CUTS = np.array([-1.0, 0.0, 2.0])
ORDERED = np.diff(np.concatenate([[0.0], 1 / (1 + np.exp(0.3 - CUTS)), [1.0]]))


def _table(probs: Any, first: int = 0) -> Any:
    """SciPy's distribution over whole numbers with given probabilities."""
    return stats.rv_discrete(values=(first + np.arange(len(probs)), np.asarray(probs)))


def _inflated(base: Any, gate: float, *, is_hurdle: bool) -> Any:
    """The distribution with more, or with given, zeros by its table."""
    probs = base.pmf(np.arange(60))
    probs = probs * (1 - gate) / ((1 - probs[0]) if is_hurdle else 1)
    probs[0] = gate if is_hurdle else probs[0] + gate
    return _table(probs / probs.sum())


DISCRETE = {
    "Bernoulli, probs": Case(
        lambda: dist.Bernoulli(0.3), lambda: stats.bernoulli(0.3), lambda: dist.Bernoulli(CHANCES)
    ),
    "Bernoulli, logits": Case(
        lambda: dist.Bernoulli(logits=-0.5),
        lambda: stats.bernoulli(1 / (1 + np.exp(0.5))),
        lambda: dist.Bernoulli(logits=LOG_ODDS),
    ),
    "Binomial, probs": Case(
        lambda: dist.Binomial(10, 0.3),
        lambda: stats.binom(10, 0.3),
        lambda: dist.Binomial(np.array([[0], [1], [1000000]]), CHANCES),
    ),
    "Binomial, logits": Case(
        lambda: dist.Binomial(40, logits=1),
        lambda: stats.binom(40, 1 / (1 + np.exp(-1))),
        lambda: dist.Binomial(np.array([[0], [1], [1000000]]), logits=LOG_ODDS),
    ),
    "Binomial, certain": Case(lambda: dist.Binomial(3, 1.0), lambda: stats.binom(3, 1.0)),
    "Poisson": Case(
        lambda: dist.Poisson(3),
        lambda: stats.poisson(3),
        lambda: dist.Poisson(np.array([0.0, 1e-30, 1e-6, 1.0, 1e6])),
    ),
    "Poisson, large": Case(lambda: dist.Poisson(np.array(50.0)), lambda: stats.poisson(50.0)),
    "LogPoisson": Case(
        lambda: dist.LogPoisson(np.log(3)),
        lambda: stats.poisson(3),
        lambda: dist.LogPoisson(np.array([-80.0, 0.0, 14.0])),
    ),
    "Categorical, probs": Case(
        lambda: dist.Categorical(WEIGHTS),
        lambda: _table(WEIGHTS),
        lambda: dist.Categorical(np.array([[0.0, 1.0, 0.0], [1e-30, 1.0, 0.0]])),
    ),
    "Categorical, logits": Case(
        lambda: dist.Categorical(logits=np.log(WEIGHTS) + 3),
        lambda: _table(WEIGHTS),
        lambda: dist.Categorical(logits=np.array([[1e6, -1e6, 0.0], [-1e6, -1e6, -1e6]])),
    ),
    "DiscreteUniform": Case(
        lambda: dist.DiscreteUniform(0, 5),
        lambda: stats.randint(0, 6),
        lambda: dist.DiscreteUniform(np.array([0, -1000000]), np.array([0, 1000000])),
    ),
    "Geometric, probs": Case(
        lambda: dist.Geometric(0.3),
        lambda: stats.geom(0.3, -1),
        lambda: dist.Geometric(np.array([1e-6, 0.5, 1 - 1e-6, 1.0])),
    ),
    "Geometric, logits": Case(
        lambda: dist.Geometric(logits=np.array(-1.0)),
        lambda: stats.geom(1 / (1 + np.exp(1)), -1),
        lambda: dist.Geometric(logits=np.array([-12.0, 0.0, 80.0])),
    ),
    "NegativeBinomial, probs": Case(
        lambda: dist.NegativeBinomial(3.5, 0.6),
        lambda: stats.nbinom(3.5, 0.4),
        lambda: dist.NegativeBinomial(SHAPES[:, None], np.array([0.0, 1e-6, 0.5, 0.999])),
    ),
    "NegativeBinomial, logits": Case(
        lambda: dist.NegativeBinomial(3.5, logits=np.array(0.3)),
        lambda: stats.nbinom(3.5, 1 / (1 + np.exp(0.3))),
        lambda: dist.NegativeBinomial(SHAPES[:, None], logits=np.array([-80.0, -10.0, 0.0, 6.0])),
    ),
    "NegativeBinomial2": Case(
        lambda: dist.NegativeBinomial2(4.0, 2.5),
        lambda: stats.nbinom(2.5, 2.5 / 6.5),
        lambda: dist.NegativeBinomial2(np.array([1e-6, 1.0, 1e6]), np.array([1e-6, 1e-3, 1.0, 1e8])[:, None]),
    ),
    "GammaPoisson": Case(
        lambda: dist.GammaPoisson(2.5, 0.7),
        lambda: stats.nbinom(2.5, 0.7 / 1.7),
        lambda: dist.GammaPoisson(SHAPES[:, None], np.array([1e-2, 1.0, 1e6])),
    ),
    "BetaBinomial": Case(
        lambda: dist.BetaBinomial(2.5, 0.7, 12),
        lambda: stats.betabinom(12, 2.5, 0.7),
        lambda: dist.BetaBinomial(SHAPES[:, None], SHAPES, 1000),
    ),
    "BetaBinomial, two ends": Case(
        lambda: dist.BetaBinomial(0.5, 0.7, 7), lambda: stats.betabinom(7, 0.5, 0.7)
    ),
    "OrderedLogistic": Case(
        lambda: dist.OrderedLogistic(0.3, CUTS),
        lambda: _table(ORDERED),
        lambda: dist.OrderedLogistic(np.array([-1e6, -90.0, 0.0, 90.0, 1e6]), CUTS),
    ),
    "ZeroInflatedPoisson": Case(
        lambda: dist.ZeroInflatedPoisson(0.3, 2.5),
        lambda: _inflated(stats.poisson(2.5), 0.3, is_hurdle=False),
        lambda: dist.ZeroInflatedPoisson(np.array([0.0, 0.5, 1.0]), np.array([[1e-6], [1e6]])),
    ),
    "HurdlePoisson": Case(
        lambda: dist.HurdlePoisson(0.3, 2.5),
        lambda: _inflated(stats.poisson(2.5), 0.3, is_hurdle=True),
        lambda: dist.HurdlePoisson(np.array([0.0, 0.5, 1.0]), np.array([[1e-6], [1e6]])),
    ),
}

MULTIVARIATE = {
    "Multinomial, probs": Case(lambda: dist.Multinomial(10, WEIGHTS)),
    "Multinomial, logits": Case(lambda: dist.Multinomial(10, logits=np.log(WEIGHTS) + 2)),
    "DirichletMultinomial": Case(
        lambda: dist.DirichletMultinomial(np.array([1.5, 2.0, 0.3]), 10),
        extremes=lambda: dist.DirichletMultinomial(np.array([[1e-6, 1e-6], [1e6, 1e6], [1e-6, 1e6]]), 1000),
    ),
}

BATCHED = {
    "Bernoulli, batch": Case(lambda: dist.Bernoulli(logits=np.array([0.0, 1.0]))),
    "Binomial, batch": Case(lambda: dist.Binomial(np.array([3, 4]), logits=np.array([[0.3], [2.0]]))),
    "Poisson, batch": Case(lambda: dist.Poisson(np.array([3.0, 100.0]))),
    "LogPoisson, batch": Case(lambda: dist.LogPoisson(np.array([1.0, 4.0]))),
    "Categorical, batch": Case(lambda: dist.Categorical(logits=np.log(np.array([WEIGHTS, WEIGHTS[::-1]])))),
    "DiscreteUniform, batch": Case(lambda: dist.DiscreteUniform(np.array([0, -3]), np.array([[4], [9]]))),
    "Geometric, batch": Case(lambda: dist.Geometric(np.array([0.2, 0.6]))),
    "NegativeBinomial, batch": Case(
        lambda: dist.NegativeBinomial(np.array([2.0, 30.0]), np.array([[0.3], [0.6]]))
    ),
    "NegativeBinomial2, batch": Case(lambda: dist.NegativeBinomial2(np.array([2.0, 30.0]), 5)),
    "GammaPoisson, batch": Case(lambda: dist.GammaPoisson(np.array([2.0, 30.0]), np.ones((2, 1)))),
    "BetaBinomial, batch": Case(lambda: dist.BetaBinomial(np.array([2.0, 3.0]), 1.5, np.array([[4], [9]]))),
    "BetaNegativeBinomial, batch": Case(lambda: dist.BetaNegativeBinomial(np.array([2.0, 3.0]), 12.0, 4)),
    "OrderedLogistic, batch": Case(
        lambda: dist.OrderedLogistic(np.array([[0.3], [2.0]]), np.stack([CUTS, 2 * CUTS]))
    ),
    "Multinomial, batch": Case(
        lambda: dist.Multinomial(np.array([[3], [40]]), np.stack([WEIGHTS, WEIGHTS[::-1]]))
    ),
    "DirichletMultinomial, batch": Case(
        lambda: dist.DirichletMultinomial(np.array([[1.5, 2.0], [3.0, 0.3]]), np.array([[3], [40]]))
    ),
    "ZeroInflatedNegativeBinomial2, batch": Case(
        lambda: dist.ZeroInflatedNegativeBinomial2(
            np.array([1.0, 4.0]), 5.0, gate_logits=np.array([[0.1], [-1.0]])
        )
    ),
    "HurdleNegativeBinomial2, batch": Case(
        lambda: dist.HurdleNegativeBinomial2(np.array([1.0, 4.0]), 5.0, gate=np.array([[0.1], [0.4]]))
    ),
    "HurdleGamma, batch": Case(lambda: dist.HurdleGamma(np.array([0.1, 0.4]), 2.0, 1.5)),
    "HurdleLogNormal, batch": Case(lambda: dist.HurdleLogNormal(np.array([0.1, 0.4]), 0.3, 0.4)),
}

OUTSIDE: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "Bernoulli, probs": (dist.Bernoulli, (0.3,), 2),
    "Bernoulli, logits": (lambda p: dist.Bernoulli(logits=p), (0.3,), -1),
    "Bernoulli, impossible": (dist.Bernoulli, (0.0,), 1),
    "Binomial": (lambda p: dist.Binomial(4, p), (0.3,), 5),
    "Binomial, impossible": (lambda p: dist.Binomial(4, p), (1.0,), 3),
    "Poisson": (dist.Poisson, (2.0,), -1),
    "Poisson, fraction": (dist.Poisson, (2.0,), 1.5),
    "Poisson, impossible": (dist.Poisson, (0.0,), 1),
    "LogPoisson": (dist.LogPoisson, (2.0,), -1),
    "Categorical": (lambda p: dist.Categorical(logits=p), (np.array([0.3, 1.0]),), 2),
    "Categorical, impossible": (dist.Categorical, (np.array([0.0, 1.0]),), 0),
    "DiscreteUniform": (dist.DiscreteUniform, (1.0, 3.0), 4),
    "Geometric": (dist.Geometric, (0.3,), -1),
    "Geometric, impossible": (dist.Geometric, (1.0,), 2),
    "NegativeBinomial": (dist.NegativeBinomial, (2.5, 0.3), -1),
    "NegativeBinomial, impossible": (dist.NegativeBinomial, (2.5, 0.0), 3),
    "NegativeBinomial2": (dist.NegativeBinomial2, (2.5, 0.3), 0.5),
    "GammaPoisson": (dist.GammaPoisson, (2.5, 0.3), -1),
    "BetaBinomial": (lambda a, b: dist.BetaBinomial(a, b, 4), (2.5, 0.3), 5),
    "BetaNegativeBinomial": (dist.BetaNegativeBinomial, (2.5, 0.3, 4.0), -1),
    "OrderedLogistic": (dist.OrderedLogistic, (0.3, CUTS), 4),
    "Multinomial": (lambda p: dist.Multinomial(4, p), (WEIGHTS,), np.array([1, 2, 3])),
    "Multinomial, impossible": (
        lambda p: dist.Multinomial(4, p),
        (np.array([0.0, 0.5, 0.5]),),
        np.array([1, 2, 1]),
    ),
    "DirichletMultinomial": (lambda a: dist.DirichletMultinomial(a, 4), (WEIGHTS,), np.array([-1, 2, 3])),
    "ZeroInflatedPoisson": (dist.ZeroInflatedPoisson, (0.3, 2.0), -1),
    "HurdlePoisson": (dist.HurdlePoisson, (0.3, 2.0), 1.5),
    "HurdleGamma": (dist.HurdleGamma, (0.3, 2.0, 1.0), -1.0),
}
