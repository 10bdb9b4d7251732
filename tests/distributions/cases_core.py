"""List the families of the real line, of positive numbers and of the unit interval that most models use."""

import numpy as np
from scipy import stats
from table_case import Case

import accord.distributions as dist

TINY_TO_HUGE = np.array([1e-6, 1e-3, 0.3, 1.0, 30.0, 1e6])

UNIVARIATE = {
    "Normal": Case(
        lambda: dist.Normal(0.5, 2),
        lambda: stats.norm(0.5, 2),
        lambda: dist.Normal(np.array([[0.0], [1e6]]), TINY_TO_HUGE),
    ),
    "Cauchy": Case(
        lambda: dist.Cauchy(-1, 0.5),
        lambda: stats.cauchy(-1, 0.5),
        lambda: dist.Cauchy(np.array([[0.0], [1e6]]), TINY_TO_HUGE),
    ),
    "StudentT": Case(
        lambda: dist.StudentT(3, 0.5, 2),
        lambda: stats.t(3, 0.5, 2),
        lambda: dist.StudentT(
            np.array([1e-2, 0.3, 1.0, 30.0, 1e6, 1e10]), 0.0, np.array([[1e-6], [1.0], [1e6]])
        ),
    ),
    "StudentT, large df": Case(lambda: dist.StudentT(np.array(200.0), 0.5, 2), lambda: stats.t(200, 0.5, 2)),
    "HalfNormal": Case(
        lambda: dist.HalfNormal(2), lambda: stats.halfnorm(0, 2), lambda: dist.HalfNormal(TINY_TO_HUGE)
    ),
    "HalfCauchy": Case(
        lambda: dist.HalfCauchy(0.5), lambda: stats.halfcauchy(0, 0.5), lambda: dist.HalfCauchy(TINY_TO_HUGE)
    ),
    "HalfStudentT": Case(
        lambda: dist.HalfStudentT(4, 2),
        None,
        lambda: dist.HalfStudentT(np.array([1e-2, 0.3, 1.0, 30.0, 1e10]), np.array([[1e-6], [1.0], [1e6]])),
    ),
    "LogNormal": Case(
        lambda: dist.LogNormal(0.3, 0.5),
        lambda: stats.lognorm(0.5, 0, np.exp(0.3)),
        lambda: dist.LogNormal(np.array([[-40.0], [0.0], [40.0]]), np.array([1e-6, 1.0, 30.0])),
    ),
    "Gamma": Case(
        lambda: dist.Gamma(2.5, 3),
        lambda: stats.gamma(2.5, scale=1 / 3),
        lambda: dist.Gamma(TINY_TO_HUGE, np.array([[1e-6], [1.0], [1e6]])),
    ),
    "Gamma, array": Case(
        lambda: dist.Gamma(np.array(20.5), np.array(3.0)), lambda: stats.gamma(20.5, scale=1 / 3)
    ),
    "Gamma, exponential": Case(lambda: dist.Gamma(1, 3), lambda: stats.expon(scale=1 / 3)),
    "InverseGamma": Case(
        lambda: dist.InverseGamma(5, 3),
        lambda: stats.invgamma(5, scale=3),
        lambda: dist.InverseGamma(TINY_TO_HUGE, np.array([[1e-6], [1.0], [1e6]])),
    ),
    "Exponential": Case(
        lambda: dist.Exponential(2), lambda: stats.expon(scale=0.5), lambda: dist.Exponential(TINY_TO_HUGE)
    ),
    "Chi2": Case(lambda: dist.Chi2(3), lambda: stats.chi2(3), lambda: dist.Chi2(TINY_TO_HUGE)),
    "Chi": Case(lambda: dist.Chi(np.array(3.5)), lambda: stats.chi(3.5), lambda: dist.Chi(TINY_TO_HUGE)),
    "Beta": Case(
        lambda: dist.Beta(2, 3.5),
        lambda: stats.beta(2, 3.5),
        lambda: dist.Beta(TINY_TO_HUGE, TINY_TO_HUGE[:, None]),
    ),
    "Beta, uniform": Case(lambda: dist.Beta(1, 1), lambda: stats.beta(1, 1)),
    "Beta, sharp": Case(lambda: dist.Beta(np.array(200.0), 350.0), lambda: stats.beta(200, 350)),
    "Uniform": Case(
        lambda: dist.Uniform(-1, 3),
        lambda: stats.uniform(-1, 4),
        lambda: dist.Uniform(np.array([1e6, -1e-6, -1e30]), np.array([1e6 + 1, 1e-6, 1e30])),
    ),
    "TruncatedNormal": Case(
        lambda: dist.TruncatedNormal(0.5, 2, low=-1, high=3), lambda: stats.truncnorm(-0.75, 1.25, 0.5, 2)
    ),
    "TruncatedNormal, tail": Case(
        lambda: dist.TruncatedNormal(0, 1, low=3.0), lambda: stats.truncnorm(3.0, 20.0, 0, 1)
    ),
    "TruncatedNormal, below": Case(
        lambda: dist.TruncatedNormal(0, 1, high=0.5), lambda: stats.truncnorm(-20.0, 0.5, 0, 1)
    ),
    "TruncatedNormal, narrow": Case(
        lambda: dist.TruncatedNormal(0, 1, low=1.0, high=1.25), lambda: stats.truncnorm(1.0, 1.25, 0, 1)
    ),
}

BATCHED = {
    "Normal, two axes": Case(lambda: dist.Normal(np.zeros(3), np.ones((2, 1)))),
    "Cauchy, batch": Case(lambda: dist.Cauchy(np.zeros(3), 2)),
    "StudentT, batch": Case(lambda: dist.StudentT(np.array([1, 5, 30]), 0, 2)),
    "HalfNormal, batch": Case(lambda: dist.HalfNormal(np.array([1.0, 3.0]))),
    "HalfCauchy, batch": Case(lambda: dist.HalfCauchy(np.array([1.0, 3.0]))),
    "HalfStudentT, batch": Case(lambda: dist.HalfStudentT(np.array([1.5, 5.0]), 2)),
    "LogNormal, batch": Case(lambda: dist.LogNormal(np.zeros((2, 1)), np.array([0.3, 0.5]))),
    "Gamma, batch": Case(lambda: dist.Gamma(np.array([2.0, 30.0]), np.ones((3, 1)))),
    "InverseGamma, batch": Case(lambda: dist.InverseGamma(np.array([5.0, 30.0]), 2)),
    "Exponential, batch": Case(lambda: dist.Exponential(np.array([5.0, 30.0]))),
    "Chi2, batch": Case(lambda: dist.Chi2(np.array([3, 30]))),
    "Chi, batch": Case(lambda: dist.Chi(np.array([3.0, 30.0]))),
    "Beta, batch": Case(lambda: dist.Beta(np.array([1.0, 2.0]), 3)),
    "Uniform, batch": Case(lambda: dist.Uniform(np.array([0, 1]), 3)),
    "TruncatedNormal, all kinds of bounds": Case(
        lambda: dist.TruncatedNormal(
            0, 1, low=np.array([0, -np.inf, -2, 3, -np.inf]), high=np.array([np.inf, np.inf, 1.0, 3.01, 0.5])
        )
    ),
}

OUTSIDE = {
    "HalfNormal": (dist.HalfNormal, (2.0,), -0.5),
    "HalfCauchy": (dist.HalfCauchy, (2.0,), -0.5),
    "HalfStudentT": (dist.HalfStudentT, (3.0, 2.0), -0.5),
    "LogNormal": (dist.LogNormal, (0.5, 2.0), -0.5),
    "LogNormal at 0": (dist.LogNormal, (0.5, 2.0), 0.0),
    "Gamma": (dist.Gamma, (2.5, 2.0), -0.5),
    "Gamma at 0": (dist.Gamma, (2.5, 2.0), 0.0),
    "InverseGamma": (dist.InverseGamma, (2.5, 2.0), -0.5),
    "Exponential": (dist.Exponential, (2.0,), -0.5),
    "Chi2": (dist.Chi2, (3.0,), -0.5),
    "Chi": (dist.Chi, (3.0,), -0.5),
    "Beta below": (dist.Beta, (2.0, 3.0), -0.5),
    "Beta above": (dist.Beta, (2.0, 3.0), 1.5),
    "Uniform below": (dist.Uniform, (-1.0, 2.0), -1.5),
    "Uniform above": (dist.Uniform, (-1.0, 2.0), 2.5),
}
