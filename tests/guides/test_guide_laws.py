"""Hold every guide to the laws of guides: its draws have its density, it starts near the standard normal."""

import functools
import json
import math
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each
from scipy.special import ndtri

from accord import infer
from accord.core import keys, precision
from accord.core.errors import OptionError
from accord.guides.base import AbstractGuide
from accord.guides.known import GUIDES, guide_from
from accord.guides.places import Place, Places

REST = infer.guides.MeanField()
GUIDES_HERE: dict[str, AbstractGuide] = {
    "MeanField": infer.guides.MeanField(),
    "FullRank": infer.guides.FullRank(),
    "LowRank": infer.guides.LowRank(),
    "LowRank of rank 1": infer.guides.LowRank(rank=1),
    "Flow": infer.guides.Flow(layers=2, hidden=(8,)),
    "Delta": infer.guides.Delta(),
    "Laplace": infer.guides.Laplace(),
    "Product": infer.guides.Product({"before": infer.guides.FullRank(), ...: REST}),
    "Product of one part": infer.guides.Product({...: infer.guides.LowRank(rank=1)}),
    "Product with a point": infer.guides.Product(
        {"before": infer.guides.Delta(), ...: infer.guides.FullRank()}
    ),
    "Structured": infer.guides.Structured(),
    "DAIS": infer.guides.DAIS(steps=2),
    "Particles": infer.guides.Particles(num_particles=60),
    "Structured within a Product": infer.guides.Product({"before": REST, ...: infer.guides.Structured()}),
}
DENSE = [name for name, guide in GUIDES_HERE.items() if guide.has_density]
SPREAD = [name for name in DENSE if not GUIDES_HERE[name].is_point]
SQUARE = [
    name
    for name in SPREAD
    if "LowRank" not in name and name not in ("Product of one part", "Product with a point")
]
DIMS = [1, 2, 8]


def places_of(dim: int) -> Places:
    """Sites of so many coordinates: one or two globals, after sites in a plate of two entries."""
    sites = [Place("x0", 0, (2,), "plate")] if dim > 2 else []
    if dim > 4:
        sites.append(Place("x1", 2, (1, 2) if dim < 7 else (2, 2), "plate", 1))
    used = sum(len(site.coordinates) for site in sites)
    return Places((*sites, Place("before", used, (dim - used,))))


def guide_at(name: str, dim: int) -> AbstractGuide:
    return GUIDES_HERE[name].placed(places_of(dim))


def moved(guide: AbstractGuide, dim: int) -> dict[str, Any]:
    """Parameters away from the start."""
    start = guide.start(keys.chain_key(0, 0), dim, np.dtype(float))
    noise = np.random.default_rng(1)
    return jax.tree.map(lambda value: value + 0.3 * noise.standard_normal(value.shape), start)


def test_every_guide_is_in_the_table() -> None:
    assert {type(guide).__name__ for guide in GUIDES_HERE.values()} == set(GUIDES)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("name", DENSE)
def test_the_density_of_a_draw_is_that_at_its_place(name: str, dim: int) -> None:
    guide = guide_at(name, dim)
    with precision.scope("float64"):
        noise = np.random.default_rng(2).standard_normal(guide.num_noise(dim))
        position, log_prob = guide.draw(moved(guide, dim), jnp.asarray(noise))
        assert position.shape == (dim,) and log_prob.shape == ()
        assert np.allclose(log_prob, guide.log_prob(moved(guide, dim), position), rtol=0, atol=1e-9)


@pytest.mark.parametrize("dim", [5])
@pytest.mark.parametrize("name", SQUARE)
def test_the_density_follows_from_the_map_of_the_noise(name: str, dim: int) -> None:
    guide = guide_at(name, dim)
    with precision.scope("float64"):
        params, noise = moved(guide, dim), jnp.linspace(-1.2, 0.7, dim)
        slopes = jax.jacobian(lambda own: guide.draw(params, own)[0])(noise)
        wanted = -0.5 * noise @ noise - dim / 2 * np.log(2 * np.pi) - np.linalg.slogdet(slopes)[1]
        assert np.allclose(guide.draw(params, noise)[1], wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["LowRank", "LowRank of rank 1"])
def test_a_low_rank_guide_has_the_density_of_its_covariance(name: str) -> None:
    guide, dim = guide_at(name, 4), 4
    with precision.scope("float64"):
        params = moved(guide, dim)
        scale = np.diag(np.exp(params["log_scale"]))
        covariance = scale @ (np.eye(dim) + params["columns"] @ params["columns"].T) @ scale
        position = jnp.asarray([0.1, -0.4, 2.0, 0.3])
        wanted = jax.scipy.stats.multivariate_normal.logpdf(position, params["loc"], covariance)
        assert np.allclose(guide.log_prob(params, position), wanted, rtol=0, atol=1e-9)
        slopes = jax.jacobian(lambda own: guide.draw(params, own)[0])(jnp.zeros(guide.num_noise(dim)))
        assert np.allclose(slopes @ slopes.T, covariance)


@pytest.mark.parametrize("name", [name for name in GUIDES_HERE if name != "Particles"])
def test_a_guide_starts_near_the_standard_normal(name: str) -> None:
    guide = guide_at(name, 4)
    with precision.scope("float64"):
        start = guide.start(keys.chain_key(0, 0), 4, np.dtype(float))
        noise = np.random.default_rng(3).standard_normal(guide.num_noise(4))
        towards = guide.towards(lambda position: -0.5 * position @ position)
        position, _ = towards.draw(start, jnp.asarray(noise))
        is_point = guide.points(4)
        assert np.array_equal(np.asarray(position)[is_point], np.zeros(is_point.sum()))
        # Flows reverse the order of the noise at each coupling.
        spread = np.sort(np.asarray(position)[~is_point])
        assert np.abs(spread - np.sort(noise[: spread.size])).max(initial=0) < 0.5


def test_particles_start_at_quantiles_of_the_standard_normal_and_each_is_drawn_once() -> None:
    guide = GUIDES_HERE["Particles"]
    with precision.scope("float64"):
        start = guide.start(keys.chain_key(0, 0), 3, np.dtype(float))
        assert np.allclose(np.sort(start["positions"], axis=0), ndtri((np.arange(60) + 0.5) / 60)[:, None])
        noise = guide.noise_of_draws(np.random.default_rng(0), 150, 3)
        drawn = np.stack([np.asarray(guide.draw(start, jnp.asarray(row))[0]) for row in noise])
        assert np.isnan(guide.draw(start, jnp.asarray(noise[0]))[1])
        assert np.allclose(guide.centre(start, 3, np.dtype(float)), start["positions"].mean(axis=0))
    for part in (drawn[:60], drawn[60:120]):
        assert np.array_equal(np.sort(part, axis=0), np.sort(start["positions"], axis=0))
    assert not np.array_equal(drawn[:60], drawn[60:120])


@pytest.mark.parametrize("name", GUIDES_HERE)
def test_a_guide_is_built_again_from_its_description(name: str) -> None:
    for guide in (GUIDES_HERE[name], guide_at(name, 5)):
        assert guide_from(json.loads(json.dumps(guide.described()))) == guide


@pytest.mark.parametrize("steps", [1, 2])
def test_the_weights_of_paths_have_the_evidence_as_their_mean(steps: int) -> None:
    """By quadrature over the noise of paths towards an unnormalised normal.

    The force has a kink far out, where it is bounded: quadrature errs by the square of the distance of its nodes there.
    """
    guide = infer.guides.DAIS(steps=steps)
    nodes = np.linspace(-8, 8, 100)
    weights = np.exp(-0.5 * nodes**2)
    with precision.scope("float64"):
        params = {
            name: value + 0.2 for name, value in guide.start(keys.chain_key(0, 0), 1, np.dtype(float)).items()
        }

        def log_density(position: Any) -> Any:
            return -0.5 * jnp.sum((position - 0.4) ** 2 / 0.8)

        @jax.vmap
        def weight(noise: Any) -> Any:
            position, log_q = guide.towards(log_density).draw(params, noise)
            return jnp.exp(log_density(position) - log_q)

        grids = np.meshgrid(*[nodes] * (steps + 1), indexing="ij")
        noise = np.stack([grid.ravel() for grid in grids], axis=1)
        shares = functools.reduce(np.multiply.outer, [weights / weights.sum()] * (steps + 1)).ravel()
        assert np.isclose(shares @ np.asarray(weight(noise)), math.sqrt(2 * math.pi * 0.8), rtol=1e-5)


def test_a_guide_without_a_density_says_so() -> None:
    guide = infer.guides.DAIS()
    with pytest.raises(OptionError, match="is not known"):
        guide.log_prob({}, jnp.zeros(1))
    with pytest.raises(OptionError, match="no density at a position"):
        infer.guides.Particles().log_prob({}, jnp.zeros(1))
    with pytest.raises(OptionError, match="towards"):
        guide.draw({}, jnp.zeros(1))


@pytest.mark.parametrize("dim", [5, 8])
def test_entries_of_a_plate_are_independent_given_the_globals_of_a_structured_guide(dim: int) -> None:
    guide, places = guide_at("Structured", dim), places_of(dim)
    with precision.scope("float64"):
        params = moved(guide, dim)
        slopes = np.asarray(jax.jacobian(lambda own: guide.draw(params, own)[0])(jnp.zeros(dim)))
    precisions = np.linalg.inv(slopes @ slopes.T)
    entries = np.concatenate([site.by_entry for site in places.sites if site.plate], axis=1)
    between = precisions[np.ix_(entries[0], entries[1])]
    within = precisions[np.ix_(entries[0], entries[0])]
    assert np.abs(between).max() < 1e-12 and np.abs(within).min() > 1e-3
    assert np.abs(precisions[np.ix_(entries[0], places.coordinates({"before"}))]).min() > 1e-3


def test_a_guide_that_was_not_told_of_sites_says_so() -> None:
    with pytest.raises(OptionError, match="does not know the sites"):
        infer.guides.Structured().start(keys.chain_key(0, 0), 3, np.dtype(float))


@each(
    {
        "an unknown site": ({"befor": REST, ...: REST}, "no latent site 'befor'.*before"),
        "a gap": ({"before": REST}, "the sites 'x0', 'x1' are in no part"),
        "another gap": ({("before", "x1"): REST}, "the site 'x0' is in no part"),
        "two names of one": (
            {"other": REST, "before": REST, ...: REST},
            "'other' and 'before' settle each other",
        ),
    }
)
def test_a_product_refuses_sites_that_do_not_fit(case: Any) -> None:
    parts, words = case
    sites = tuple(
        replace(site, names=("other",)) if site.name == "before" else site for site in places_of(5).sites
    )
    with pytest.raises(OptionError, match=words):
        infer.guides.Product(parts).placed(Places(sites))


@each(
    {
        "rank": (lambda: infer.guides.LowRank(rank=0), "LowRank: rank"),
        "layers": (lambda: infer.guides.Flow(layers=0), "Flow: layers"),
        "hidden": (lambda: infer.guides.Flow(hidden=32), "tuple of widths"),  # pyright: ignore[reportArgumentType]
        "pieces": (lambda: infer.guides.Flow(pieces=1), "Flow: pieces"),
        "bound": (lambda: infer.guides.Flow(bound=0.0), "Flow: bound"),
        "no parts": (lambda: infer.guides.Product({}), "from sites to guides"),
        "a part twice": (
            lambda: infer.guides.Product({"a": REST, ("b", "a"): REST}),
            "the site 'a' is in more than one part",
        ),
        "points alone": (lambda: infer.guides.Product({"a": infer.guides.Delta()}), "every part is a Delta"),
        "a key that is no name": (lambda: infer.guides.Product({3: REST}), "named by a string"),  # pyright: ignore[reportArgumentType]
        "a class": (lambda: infer.guides.Product({"a": infer.guides.Delta}), "the guide of 'a'"),  # pyright: ignore[reportArgumentType]
        "a peak of a part": (lambda: infer.guides.Product({"a": infer.guides.Laplace()}), "is of all sites"),
        "paths of a part": (
            lambda: infer.guides.Product({"a": infer.guides.DAIS()}),
            "follow the density of all",
        ),
        "paths without steps": (lambda: infer.guides.DAIS(steps=0), "DAIS: steps"),
        "points of a part": (
            lambda: infer.guides.Product({"a": infer.guides.Particles()}),
            "points of all sites",
        ),
        "one particle": (lambda: infer.guides.Particles(num_particles=1), "Particles: num_particles"),
        "too many particles": (
            lambda: infer.guides.Particles(num_particles=5000),
            "Particles: num_particles",
        ),
        "a typo": (lambda: infer.guides.LowRank(ranks=2), "LowRank has no option 'ranks'"),  # pyright: ignore[reportCallIssue]
    }
)
def test_bad_options_are_refused(case: Any) -> None:
    make, words = case
    with pytest.raises(OptionError, match=words):
        make()
