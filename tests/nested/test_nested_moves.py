"""Check that moves keep the distribution of points that they should keep."""

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord.core import keys
from accord.core.precision import scope
from accord.density import LogDensity
from accord.nested.moves import compiled_moves
from accord.nested.plan import Plan
from accord.nested.points import Points
from accord.smc.moves import prior_and_likelihood
from accord.smc.tuning import metric_of

DIM, CENTRE, COUNT = 6, 0.8, 5_000
FLOOR = -2.2  # of the likelihood; above are 1.5 % of the prior


@ac.model
def ball():
    with ac.plate("unknown", DIM):
        x = ac.sample("x", dist.Normal(0, 1))
    ac.factor("likelihood", -jnp.sum((x - CENTRE) ** 2))


def test_points_above_a_floor_keep_their_distribution() -> None:
    """From exact draws, 18 moves of each: means of each unknown and of the likelihood, beside those of other draws.

    In six dimensions, since numbers of a direction once were those of the place along it, from the fifth unknown on.
    Seven figures within six standard errors: a false-alarm rate of 7 * 2e-9.
    """
    generator = np.random.default_rng(8)
    draws = generator.standard_normal((700_000, DIM))
    draws = draws[-np.sum((draws - CENTRE) ** 2, axis=1) > FLOOR]
    starts, others = draws[:COUNT], draws[COUNT : 2 * COUNT]
    assert len(others) == COUNT
    with scope("float64"):
        density = LogDensity.from_model(ball())
        moves = compiled_moves(density, Plan(2 * COUNT, COUNT, 18, 1, 1e-3, 0, "float64", DIM))
        prior, likelihood = prior_and_likelihood(density)(starts).T
        points = Points(starts, prior, likelihood, generator.random(COUNT))
        floor = Points(starts[0], prior[0], np.float64(FLOOR), np.float64(0.5))
        metric = metric_of(starts[:1000], np.ones(1000), "auto", None, np.dtype(float))
        moved = moves(points, keys.words(keys.chain_key(8, 0), keys.USE_MOVE, COUNT), floor, metric).points
    found = np.column_stack([moved.positions, moved.log_likelihood])
    exact = np.column_stack([others, -np.sum((others - CENTRE) ** 2, axis=1)])
    assert np.all(moved.log_likelihood > FLOOR)
    np.testing.assert_allclose(
        moved.log_likelihood, -np.sum((moved.positions - CENTRE) ** 2, axis=1), atol=1e-9
    )
    errors = np.sqrt((found.var(0) + exact.var(0)) / COUNT)
    assert np.all(np.abs(found.mean(0) - exact.mean(0)) < 6 * errors)
