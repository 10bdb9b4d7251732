"""Weigh draws of guides, and compare with exact evidences; keys are fixed.

Each value is within six of its standard errors: a false alarm has a chance of 2e-9.
"""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import OptionError

QUIET: dict[str, Any] = dict(progress=False, quiet=True)


@ac.model
def share() -> None:
    p = ac.sample("p", dist.Beta(10, 10))
    ac.sample("heads", dist.Binomial(10, p), obs=6)


@ac.model
def ridge(correlation: float) -> None:
    x = ac.sample("x", dist.Normal(0, 1))
    y = ac.sample("y", dist.Normal(correlation * x, np.sqrt(1 - correlation**2)))
    ac.sample("seen", dist.Normal(x + y, 2), obs=1.0)


def test_the_mean_weight_is_the_evidence() -> None:
    fit = infer.fit(share(), infer.guides.FullRank(), **QUIET)
    found = infer.evidence(fit, infer.ImportanceSampling())
    exact = stats.betabinom.logpmf(6, 10, 10, 10)
    assert abs(found.value - exact) < 6 * found.standard_error < 0.02
    assert not found.notices and found.value > fit.log_evidence_bound - 0.02
    again = infer.evidence(fit, infer.ImportanceSampling())
    assert again == found and found != infer.evidence(fit, infer.ImportanceSampling(seed=1))
    with pytest.raises(OptionError, match="ImportanceSampling"):
        infer.evidence(fit)


def test_a_guide_that_is_too_narrow_has_no_error_that_could_be_trusted() -> None:
    fit = infer.fit(ridge(0.99), **QUIET)
    found = infer.evidence(fit, infer.ImportanceSampling())
    assert found.standard_error == np.inf
    assert [(each.code, each.severity) for each in found.notices] == [("high_pareto_k", "error")]


def test_a_guide_without_a_density_is_refused() -> None:
    fit = infer.fit(share(), infer.guides.Delta(), **QUIET)
    with pytest.raises(OptionError, match="Delta has no density"):
        infer.evidence(fit, infer.ImportanceSampling())
