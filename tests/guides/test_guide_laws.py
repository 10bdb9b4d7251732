"""Hold every guide to the laws of guides: its draws have its density, it starts near the standard normal."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

from accord import infer
from accord.core import keys, precision
from accord.core.errors import OptionError
from accord.guides import GUIDES
from accord.guides.base import AbstractGuide

GUIDES_HERE: dict[str, AbstractGuide] = {
    "MeanField": infer.guides.MeanField(),
    "FullRank": infer.guides.FullRank(),
    "LowRank": infer.guides.LowRank(),
    "LowRank of rank 1": infer.guides.LowRank(rank=1),
    "Flow": infer.guides.Flow(layers=2, hidden=(8,)),
    "Delta": infer.guides.Delta(),
}
SPREAD = [name for name, guide in GUIDES_HERE.items() if not guide.is_point]
DIMS = [1, 2, 5]


def moved(guide: AbstractGuide, dim: int) -> dict[str, np.ndarray]:
    """Parameters away from the start."""
    start = guide.start(keys.chain_key(0, 0), dim, np.dtype(float))
    noise = np.random.default_rng(1)
    return {name: value + 0.3 * noise.standard_normal(value.shape) for name, value in start.items()}


def test_every_guide_is_in_the_table() -> None:
    assert {type(guide).__name__ for guide in GUIDES_HERE.values()} == set(GUIDES)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("name", GUIDES_HERE)
def test_the_density_of_a_draw_is_that_at_its_place(name: str, dim: int) -> None:
    guide = GUIDES_HERE[name]
    with precision.scope("float64"):
        noise = np.random.default_rng(2).standard_normal(guide.num_noise(dim))
        position, log_prob = guide.draw(moved(guide, dim), jnp.asarray(noise))
        assert position.shape == (dim,) and log_prob.shape == ()
        assert np.allclose(log_prob, guide.log_prob(moved(guide, dim), position), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in SPREAD if not name.startswith("LowRank")])
def test_the_density_follows_from_the_map_of_the_noise(name: str) -> None:
    guide, dim = GUIDES_HERE[name], 3
    with precision.scope("float64"):
        params, noise = moved(guide, dim), jnp.asarray([0.3, -1.2, 0.7])
        slopes = jax.jacobian(lambda own: guide.draw(params, own)[0])(noise)
        wanted = -0.5 * noise @ noise - 1.5 * np.log(2 * np.pi) - np.linalg.slogdet(slopes)[1]
        assert np.allclose(guide.draw(params, noise)[1], wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["LowRank", "LowRank of rank 1"])
def test_a_low_rank_guide_has_the_density_of_its_covariance(name: str) -> None:
    guide, dim = GUIDES_HERE[name], 4
    with precision.scope("float64"):
        params = moved(guide, dim)
        scale = np.diag(np.exp(params["log_scale"]))
        covariance = scale @ (np.eye(dim) + params["columns"] @ params["columns"].T) @ scale
        position = jnp.asarray([0.1, -0.4, 2.0, 0.3])
        wanted = jax.scipy.stats.multivariate_normal.logpdf(position, params["loc"], covariance)
        assert np.allclose(guide.log_prob(params, position), wanted, rtol=0, atol=1e-9)
        slopes = jax.jacobian(lambda own: guide.draw(params, own)[0])(jnp.zeros(guide.num_noise(dim)))
        assert np.allclose(slopes @ slopes.T, covariance)


@pytest.mark.parametrize("name", GUIDES_HERE)
def test_a_guide_starts_near_the_standard_normal(name: str) -> None:
    guide = GUIDES_HERE[name]
    with precision.scope("float64"):
        start = guide.start(keys.chain_key(0, 0), 4, np.dtype(float))
        noise = np.random.default_rng(3).standard_normal(guide.num_noise(4))
        position, _ = guide.draw(start, jnp.asarray(noise))
        if guide.is_point:
            assert np.array_equal(position, np.zeros(4))
        else:
            # Flows reverse the order of the noise at each coupling.
            assert np.abs(np.sort(np.asarray(position)) - np.sort(noise[:4])).max() < 0.5


@pytest.mark.parametrize("name", GUIDES_HERE)
def test_a_guide_is_built_again_from_its_description(name: str) -> None:
    guide = GUIDES_HERE[name]
    described = {
        key: list(value) if isinstance(value, tuple) else value for key, value in guide.described().items()
    }
    assert GUIDES[described.pop("name")].from_described(described) == guide


@each(
    {
        "rank": (lambda: infer.guides.LowRank(rank=0), "LowRank: rank"),
        "layers": (lambda: infer.guides.Flow(layers=0), "Flow: layers"),
        "hidden": (lambda: infer.guides.Flow(hidden=32), "tuple of widths"),  # pyright: ignore[reportArgumentType]
        "pieces": (lambda: infer.guides.Flow(pieces=1), "Flow: pieces"),
        "bound": (lambda: infer.guides.Flow(bound=0.0), "Flow: bound"),
        "a typo": (lambda: infer.guides.LowRank(ranks=2), "LowRank has no option 'ranks'"),  # pyright: ignore[reportCallIssue]
    }
)
def test_bad_options_are_refused(case: Any) -> None:
    make, words = case
    with pytest.raises(OptionError, match=words):
        make()
