"""Check that a quadratic is known from its derivatives, and that groups put sites together and take them apart."""

import jax
import jax.numpy as jnp
import numpy as np
from laws import assert_close, compiled, each

from accord.density.eliminate.normal.groups import possible_groups
from accord.density.eliminate.normal.square import complete
from accord.density.layout import Entry

SHAPES = {
    "one number": (1, 1),
    "numbers": (5, 1),
    "by hand": (3, 4),
    "one matrix": (1, 6),
    "matrices": (3, 5),
}


def quadratic(num, size, sign=1.0):
    rng = np.random.default_rng(num + size)
    roots = rng.normal(size=(num, size, size)) + 2 * np.eye(size)
    precision, mean = sign * roots @ np.swapaxes(roots, 1, 2), rng.normal(size=(num, size))

    def log_density(z):
        away = z - mean
        return 3.0 - jnp.einsum("ni,nij,nj", away, precision, away) / 2

    return log_density, precision, mean


@each(SHAPES)
def test_mean_volume_and_spread_are_those_of_the_normal_law(shape):
    log_density, precision, mean = quadratic(*shape)
    noise = np.random.default_rng(1).normal(size=shape)

    def completed(noise):
        law = complete(log_density, *shape, float)
        return law.mean, law.log_volume, law.deviation(noise)

    found, log_volume, deviation = compiled(completed)(noise)
    assert_close(found, mean, rtol=1e-9)
    expected = sum(np.linalg.slogdet(2 * np.pi * np.linalg.inv(each))[1] for each in precision) / 2
    assert_close(log_volume, expected, rtol=1e-10)
    # In standard deviations it is as long as the noise.
    squared = np.einsum("ni,nij,nj->n", deviation, precision, deviation)
    assert_close(squared, (noise**2).sum(axis=1), rtol=1e-9)


@each(SHAPES)
def test_what_does_not_fall_has_no_law(shape):
    log_density, *_ = quadratic(*shape, sign=-1.0)
    assert np.isnan(compiled(lambda: complete(log_density, *shape, float).log_volume)())


def entry(name, **sizes):
    shape = tuple(sizes.values())
    return Entry(name, "latent", shape, "float64", tuple(sizes), 0, int(np.prod(shape)), shape)


# Sites, and the size of a group by each way to make groups.
SITES = {
    "a number": ([entry("a")], [1]),
    "a plate": ([entry("a", g=4)], [1, 4]),
    "two plates": ([entry("a", g=3, h=2)], [1, 2, 3, 6]),
    "two sites of a plate": ([entry("a", g=3), entry("b", k=2, g=3)], [1, 3, 9]),
    "two sites of two plates": ([entry("a", g=3), entry("b", h=2)], [1, 5]),
    "a site of a plate, and one of none": ([entry("a"), entry("b", g=2)], [1, 3]),
    "plates of other sizes": ([entry("a", g=3), entry("b", g=2)], [1, 5]),
}


@each(SITES)
def test_groups_are_made_of_shared_dims_and_take_apart_what_they_put_together(case):
    sites, sizes = case
    ways = possible_groups(sites)
    assert [groups.size for groups in ways] == sizes
    rng = np.random.default_rng(0)
    arrays = {site.name: jnp.asarray(rng.normal(size=site.shape)) for site in sites}
    for groups in ways:
        stacked = groups.stack(arrays)
        assert stacked.shape == (groups.num, groups.size)
        assert sorted(np.ravel(stacked)) == sorted(np.concatenate([np.ravel(x) for x in arrays.values()]))
        assert_close(groups.unstack(stacked), arrays, rtol=0, atol=0)


def test_a_group_holds_the_entries_of_one_place_along_the_shared_dim():
    groups = possible_groups([entry("a", g=3), entry("b", k=2, g=3)])[1]
    place = jnp.arange(3.0)
    stacked = groups.stack({"a": place, "b": jnp.broadcast_to(place, (2, 3))})
    assert jax.device_get(stacked == place[:, None]).all()
