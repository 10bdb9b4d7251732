"""List the families with Bessel functions of the second kind that every law is tested for."""

import numpy as np
from scipy import stats
from table_case import Case

import accord.distributions as dist

TINY_TO_HUGE = np.array([1e-6, 1e-3, 1.0, 1e3, 1e6])
HUGE_TO_TINY = TINY_TO_HUGE[:, None]

UNIVARIATE = {
    "NormalInverseGaussian": Case(
        lambda: dist.NormalInverseGaussian(0.5, 2, 1.2, -0.4),
        lambda: stats.norminvgauss(2.4, -0.8, 0.5, 2),
        lambda: dist.NormalInverseGaussian(
            0.0, TINY_TO_HUGE, HUGE_TO_TINY, HUGE_TO_TINY * np.array([0.0, 0.5, -0.999, 1e-6, 0.999])
        ),
    ),
    "GeneralizedInverseGaussian": Case(
        lambda: dist.GeneralizedInverseGaussian(1.5, 2, 0.7),
        lambda: stats.geninvgauss(0.7, np.sqrt(3), scale=np.sqrt(2 / 1.5)),
        lambda: dist.GeneralizedInverseGaussian(
            TINY_TO_HUGE, HUGE_TO_TINY, np.array([-2.5, 0.0, 1e-6, 100.0, -1e3])
        ),
    ),
}

OUTSIDE = {
    "GeneralizedInverseGaussian": (dist.GeneralizedInverseGaussian, (1.5, 2.0, 0.7), -1.0),
}

BATCHED = {
    "NormalInverseGaussian, batch": Case(
        lambda: dist.NormalInverseGaussian(0.0, np.array([0.5, 2.0]), 1.5, np.array([[0.0], [-1.2]]))
    ),
    "GeneralizedInverseGaussian, batch": Case(
        lambda: dist.GeneralizedInverseGaussian(np.array([1.5, 40.0]), 2.0, np.array([[-1.5], [3.0]]))
    ),
}
