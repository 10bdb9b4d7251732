"""Compare models with discrete unknowns with figures worked out by hand or by enumeration, however they are sampled.

Each mean is within six of its errors: a false alarm of 2e-9 for each of 13.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.report.diagnostics import mcse_mean

OPTIONS: dict[str, Any] = dict(draws=2000, chains=4, seed=1, progress=False, quiet=True)
SIX = 6

# K3 of the known answers of the project: means by enumeration of all labels.
SEEN = np.array([1.0, 1.0, 4.0, 4.0])
LABELS = np.array([0.045558, 0.045558, 0.954442, 0.954442])
MEANS = np.array([1.071541, 3.928459])
LOG_EVIDENCE = -7.385980


@ac.model
def two_normals() -> None:
    with ac.plate("component", 2):
        mu = ac.sample("mu", dist.Normal(np.array([1.0, 4.0]), 1.0))
    with ac.plate("row", 4):
        z = ac.sample("z", dist.Bernoulli(0.5)).astype(int)
        ac.sample("x", dist.Normal(mu[z], 1.0), obs=SEEN)


SAMPLERS: dict[str, Any] = {
    "summed out": infer.NUTS(),
    "summed out, on a ladder": infer.Tempered(infer.HMC(), temperatures=4),
    "sampled": infer.Gibbs({"z": infer.DiscreteGibbs(), ...: infer.NUTS()}),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_labels_and_means_of_k3_are_the_exact_ones(name: str) -> None:
    draws = infer.sample(two_normals(), SAMPLERS[name], **OPTIONS)
    # The figures have six digits.
    for site, exact in (("mu", MEANS), ("z", LABELS)):
        found = draws[site].astype(float)
        assert np.all(np.abs(found.mean((0, 1)) - exact) < SIX * mcse_mean(found) + 1e-6), site
        assert mcse_mean(found).max() < 0.03
    if "temperatures" in draws.tuning:
        evidence = infer.evidence(draws)
        assert abs(evidence.value - LOG_EVIDENCE) < SIX * evidence.standard_error < 0.2


def test_the_evidence_of_k6_is_exact() -> None:
    """The model is x ~ Bernoulli(1), 1 ~ Bernoulli(x / 2) and 0 ~ Bernoulli(x / 2), beside an unknown."""

    @ac.model
    def halves() -> None:
        ac.sample("other", dist.Normal(0, 1))
        x = ac.sample("x", dist.Bernoulli(1.0))
        ac.sample("one", dist.Bernoulli(0.5 * x.astype(float)), obs=1)
        ac.sample("none", dist.Bernoulli(0.5 * x.astype(float)), obs=0)

    density = halves().log_density()
    terms = jax.jit(density.site_terms)(jnp.zeros(1))
    found = sum(term for name, term in terms.items() if name != "other")
    np.testing.assert_allclose(found, -2 * np.log(2), rtol=1e-12)
