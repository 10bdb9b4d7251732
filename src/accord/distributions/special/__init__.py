"""Compute special functions that JAX lacks or gets wrong in the tails, each once, with its source."""

from ...bijectors.arrays import log
from ...bijectors.elementwise import logistic, softplus
from .basic.digamma import digamma_less_log
from .basic.elementary import (
    HALF_LOG_TWO_PI,
    angle,
    exp_of,
    keep_inside,
    log1m,
    log1m_exp,
    log1p_square,
    log_of,
    log_rate,
    log_sum_exp,
    reciprocal,
    standardise,
    xlog,
)
from .basic.error_function import erfcx
from .basic.excess import excess, log1p_excess
from .basic.log_gamma import log_beta, log_factorial_remainder, log_gamma_remainder, log_gamma_step
from .basic.quantile import solve_increasing
from .basic.smooth import expm1, one_less_exp
from .bessel.bessel import bessel_gap, bessel_ratio, log_bessel_i, log_bessel_i0, log_bessel_i0e
from .bessel.bessel_k import log_bessel_k, log_bessel_ke
from .gamma_beta.incomplete_beta import (
    beta_cdf,
    beta_log_odds_quantile,
    beta_quantile,
    beta_survival,
    log_beta_cdf,
    log_beta_survival,
)
from .gamma_beta.incomplete_gamma import (
    gamma_cdf,
    gamma_quantile,
    gamma_quantile_upper,
    gamma_survival,
    log_gamma_cdf,
    log_gamma_quantile,
    log_gamma_quantile_upper,
    log_gamma_survival,
)
from .normal.normal import log_ndtr, ndtr, ndtri
from .student.student import (
    log_student_density,
    student_centre,
    student_log_centre,
    student_log_tail,
    student_tail,
)
from .student.student_quantile import student_centre_quantile, student_quantile

__all__ = [
    "HALF_LOG_TWO_PI",
    "angle",
    "bessel_gap",
    "bessel_ratio",
    "beta_cdf",
    "beta_log_odds_quantile",
    "beta_quantile",
    "beta_survival",
    "digamma_less_log",
    "erfcx",
    "excess",
    "exp_of",
    "expm1",
    "gamma_cdf",
    "gamma_quantile",
    "gamma_quantile_upper",
    "gamma_survival",
    "keep_inside",
    "log",
    "log1m",
    "log1m_exp",
    "log1p_excess",
    "log1p_square",
    "log_bessel_i",
    "log_bessel_i0",
    "log_bessel_i0e",
    "log_bessel_k",
    "log_bessel_ke",
    "log_beta",
    "log_beta_cdf",
    "log_beta_survival",
    "log_factorial_remainder",
    "log_gamma_cdf",
    "log_gamma_quantile",
    "log_gamma_quantile_upper",
    "log_gamma_remainder",
    "log_gamma_step",
    "log_gamma_survival",
    "log_ndtr",
    "log_of",
    "log_rate",
    "log_student_density",
    "log_sum_exp",
    "logistic",
    "ndtr",
    "ndtri",
    "one_less_exp",
    "reciprocal",
    "softplus",
    "solve_increasing",
    "standardise",
    "student_centre",
    "student_centre_quantile",
    "student_log_centre",
    "student_log_tail",
    "student_quantile",
    "student_tail",
    "xlog",
]
