"""Hold promise P4 in whole runs: infinite bounds are no bounds, and what is masked has no influence."""

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import handlers, infer

RUN = dict(draws=60, warmup=60, chains=2, progress=False, quiet=True)
X = np.linspace(-1, 1, 30)
Y = 1 + 2 * X + 0.1 * np.cos(40 * X)
IS_SEEN = np.arange(30) % 3 > 0


@ac.model
def masked(x, y, is_seen):
    a = ac.sample("a", dist.Normal(0, 10))
    b = ac.sample("b", dist.Normal(0, 10))
    s = ac.sample("s", dist.HalfNormal(5))
    with ac.plate("row", 30), handlers.mask(mask=is_seen):
        ac.sample("y", dist.Normal(a + b * x, s), obs=y)


@ac.model
def bounded(low, high):
    scale = ac.sample("scale", dist.InverseGamma(2, 3))
    ac.sample("v", dist.TruncatedNormal(0, scale, low=low, high=high))


def test_a_masked_observation_has_no_influence_even_when_it_is_nan():
    runs = [
        infer.sample(masked(X, np.where(IS_SEEN, Y, hidden), IS_SEEN), **RUN)
        for hidden in (0.0, 1e6, np.nan, np.inf)
    ]
    for other in runs[1:]:
        np.testing.assert_equal(dict(other), dict(runs[0]))
    assert not runs[0].stats["non_finite"].any()


def test_an_infinite_bound_is_no_bound():
    """In other systems, a bound of infinity written out gives NaN derivatives, and a sampler that never starts."""
    written = infer.sample(bounded(0.0, np.inf), **{**RUN, "draws": 500, "warmup": 300})
    left_out = infer.sample(bounded(0.0, None), **{**RUN, "draws": 500, "warmup": 300})
    for draws in (written, left_out):
        assert not draws.stats["non_finite"].any()
        assert abs(np.log(draws["v"]).mean() - 0.040647) < 0.25
