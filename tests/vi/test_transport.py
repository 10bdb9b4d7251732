"""Check fitted guides as maps of normal noise, and chains in the coordinates that they give."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers, infer, reparam
from accord.core import keys, precision
from accord.core.errors import OptionError
from accord.guides.base import standard_normal
from accord.guides.places import Place, Places
from accord.vi.evaluate import Fitted
from accord.vi.frame import Frame
from accord.vi.transport import transport

QUIET: dict[str, Any] = dict(quiet=True, progress=False)
GUIDES: dict[str, Any] = {
    "MeanField": infer.guides.MeanField(),
    "FullRank": infer.guides.FullRank(),
    "LowRank": infer.guides.LowRank(),
    "Structured": infer.guides.Structured(),
    "Laplace": infer.guides.Laplace(),
    "Flow": infer.guides.Flow(layers=3, hidden=(8, 4), pieces=5, bound=4.0),
}


@ac.model
def funnel() -> None:
    v = ac.sample("v", dist.Normal(0, 1.5))
    ac.sample("x", dist.Normal(np.zeros(4), jnp.exp(v / 2)))


def places(dim: int) -> Places:
    """Return the places of one unknown, and of a plate of all others."""
    within = [Place("local", 1, (dim - 1,), "plate", 0, ())] if dim > 1 else []
    return Places((Place("whole", 0, (), "", 0, ()), *within))


def fitted(guide: Any, dim: int) -> Fitted:
    """Return a guide away from its start, in coordinates of its own."""
    noise = np.random.default_rng(1)
    guide = guide.placed(places(dim))
    start = guide.start(keys.chain_key(0, 0), dim, np.dtype(float))
    params = jax.tree.map(lambda leaf: leaf + 0.3 * noise.standard_normal(leaf.shape), start)
    at: Any = (np.linspace(-2, 2, dim), np.linspace(0.5, 3, dim))
    return Fitted(guide, params, Frame(*at))


@pytest.mark.parametrize("dim", [1, 5])
@pytest.mark.parametrize("name", GUIDES)
def test_the_map_has_the_density_of_the_guide_and_an_inverse(name: str, dim: int) -> None:
    found = fitted(GUIDES[name], dim)
    guide = found.guide
    with precision.scope("float64"):
        bijector = transport(found)
        noise = jnp.asarray(np.random.default_rng(2).standard_normal((20, dim)))
        positions, log_dets = bijector.forward_and_log_det(noise)
        assert positions.shape == (20, dim) and log_dets.shape == (20,)
        coordinates = (positions - found.frame.location) / found.frame.scale
        log_q = jax.vmap(lambda at: guide.log_prob(found.params, at))(coordinates)
        log_q = log_q - np.sum(np.log(found.frame.scale))
        assert np.allclose(jax.vmap(standard_normal)(noise) - log_dets, log_q, rtol=0, atol=1e-9)
        back, opposite = bijector.inverse_and_log_det(positions)
        assert np.allclose(back, noise, atol=1e-8) and np.allclose(opposite, -log_dets, atol=1e-8)
        # Then draws are the guide's own, and not only distributed as these; a peak has a factor of the precision.
        if guide.num_noise(dim) == dim and name != "Laplace":
            drawn = jax.vmap(lambda own: guide.draw(found.params, own)[0])(noise)
            assert np.allclose(positions, found.frame.position(drawn), rtol=0, atol=1e-9)


def test_a_normal_posterior_is_standard_normal_in_the_coordinates_of_its_fit() -> None:
    @ac.model
    def line(y: Any) -> None:
        b = ac.sample("b", dist.Normal(np.zeros(2), 2.0))
        ac.sample("y", dist.Normal(b[0] + b[1] * np.arange(5.0), 1.0), obs=y)

    model = line(np.array([1, 2, 3, 2.5, 1.5]))
    fit = infer.fit(model, infer.guides.FullRank(), **QUIET)
    changed = handlers.reparam(model, reparam.Neutra(fit.bijector)).log_density()
    with precision.scope("float64"):
        at = np.random.default_rng(4).standard_normal((50, 2))
        heights = np.array([changed(jnp.asarray(row)) + 0.5 * row @ row for row in at])
    assert np.ptp(heights) < 0.01


@pytest.mark.slow
def test_chains_in_the_coordinates_of_a_flow_draw_the_posterior_for_fewer_gradients() -> None:
    """Compare mean and sd of the width, 0 and 1.5, within 6 standard errors: a false alarm in 2e-9 of each of 4."""
    fit = infer.fit(funnel(), infer.guides.Flow(), **QUIET)
    bent = handlers.reparam(funnel(), reparam.Neutra(fit.bijector))
    runs = [infer.sample(model, draws=1000, **QUIET) for model in (funnel(), bent)]
    worth = []
    for run in runs:
        table = run.summary("v")
        assert abs(table["mean"][0]) < 6 * table["mcse_mean"][0]
        assert abs(table["sd"][0] - 1.5) < 6 * table["mcse_sd"][0]
        worth.append(table["ess_bulk"][0] / run.stats["n_steps"].sum())
    assert worth[1] > 2 * worth[0]


def test_a_guide_that_is_no_map_of_noise_is_refused() -> None:
    point = infer.fit(funnel(), infer.guides.Delta(), init={"v": 0.1, "x": np.zeros(4)}, steps=1, **QUIET)
    with pytest.raises(OptionError, match="a Delta is not known as a one-to-one map"):
        point.bijector  # noqa: B018 - a property that refuses
    with pytest.raises(OptionError, match="Give its `bijector`"):
        reparam.Neutra(point)  # pyright: ignore[reportArgumentType]
