"""Hold log densities with two or three sites integrated out together, by quadrature, against exact integrals.

A right program fails the test of draws with a chance of 3 * 2e-9, its false-alarm rate: three distances from a
distribution function; keys are fixed.
"""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, compiled, each
from scipy import special, stats

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.core.errors import SiteError
from accord.density.eliminate.approximate.nodes import at_each

RNG = np.random.default_rng(5)
GROUP = np.array([0, 2, 1, 1, 0, 2, 1, 0, 2, 1])
X = RNG.normal(size=10)
Y = {
    "normal": RNG.normal(size=10),
    "hits": np.array([1, 1, 0, 1, 1, 1, 0, 1, 1, 0]),
    "counts": np.array([0, 3, 1, 2, 4, 0, 1, 0, 2, 0]),
}
NOISE = 0.8
AT = np.array([0.2, -0.1, 0.4])  # level, log tau, and the place of the dependence of slopes on levels


@ac.model
def grouped(kind, y, x=X, group=GROUP):
    """Rows in groups, each with a level and a slope, which are correlated."""
    level = ac.sample("level", dist.Normal(0, 1))
    tau = ac.sample("tau", dist.HalfNormal(1))
    pull = ac.sample("pull", dist.Normal(0, 1))
    with ac.plate("group", 3):
        a = ac.sample("a", dist.Normal(0, tau))
        b = ac.sample("b", dist.Normal(pull * a, 0.7))
    mean = level + a[group] + b[group] * x
    of = {
        "normal": lambda: dist.Normal(mean, NOISE),
        "hits": lambda: dist.Bernoulli(logits=mean),
        "counts": lambda: dist.Poisson(jnp.exp(mean)),
    }
    with ac.plate("row", len(y)):
        ac.sample("y", of[kind](), obs=y)


@ac.model
def grouped_vectors(y):
    """The normal rows, with levels and slopes as vectors."""
    level = ac.sample("level", dist.Normal(0, 1))
    tau = ac.sample("tau", dist.HalfNormal(1))
    pull = ac.sample("pull", dist.Normal(0, 1))
    with ac.plate("group", 3):
        lower = jnp.stack([jnp.stack([tau, 0 * tau]), jnp.stack([pull * tau, 0.7 + 0 * tau])])
        both = ac.sample("both", dist.MultivariateNormal(jnp.zeros(2), scale_tril=lower))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(level + both[GROUP, 0] + both[GROUP, 1] * X, NOISE), obs=y)


def together(model, nodes=25, names=("a", "b")):
    return handlers.collapse(model, list(names), by=handlers.Quadrature(nodes=nodes)).log_density()


def log_prior(u):
    tau = np.exp(u[1])
    return stats.norm.logpdf(u[[0, 2]]).sum() + stats.halfnorm.logpdf(tau) + u[1]


def log_marginal(u):
    """The logarithm of the density of normal rows, by the covariance matrix that effects give them."""
    tau, pull = np.exp(u[1]), u[2]
    lower = np.array([[tau, 0], [pull * tau, 0.7]])
    design = np.stack([np.ones(10), X], axis=1)
    covariance = design @ lower @ lower.T @ design.T * (GROUP[:, None] == GROUP) + NOISE**2 * np.eye(10)
    return stats.multivariate_normal.logpdf(Y["normal"], np.full(10, u[0]), covariance)


def central(function, u, step=1e-3):
    """Differentiate a function by differences of a fourth-order formula."""
    return np.array(
        [
            (8 * (function(u + s) - function(u - s)) - (function(u + 2 * s) - function(u - 2 * s)))
            / (12 * step)
            for s in step * np.eye(len(u))
        ]
    )


@pytest.mark.parametrize("way", ["sites", pytest.param("vectors", marks=pytest.mark.slow)])
def test_what_is_normal_given_the_rest_is_integrated_out_exactly_by_few_nodes(way):
    y = Y["normal"]
    model, names = (grouped("normal", y), "ab") if way == "sites" else (grouped_vectors(y), ["both"])
    density = together(model, 5, names)
    assert (density.program.groups.num, density.program.groups.size) == (3, 2)
    value, slope = compiled(density.value_and_grad)(AT)

    def known(u):
        return log_prior(u) + log_marginal(u)

    assert_close(value, known(AT), rtol=1e-12)
    assert_close(slope, central(known, AT), rtol=0, atol=1e-9)


GRID = np.linspace(-11, 11, 331)


def heights_on_a_grid(kind, u, group):
    """Log densities of the rows of a group and its effects, over the grid of levels and that of slopes."""
    a, b, tau = GRID[:, None], GRID[None], np.exp(u[1])
    found = stats.norm.logpdf(a, 0, tau) + stats.norm.logpdf(b, u[2] * a, 0.7)
    for x, y in zip(X[group == GROUP], Y[kind][group == GROUP], strict=True):
        mean = u[0] + a + b * x
        found += y * mean - (
            np.logaddexp(0, mean) if kind == "hits" else np.exp(mean) + special.gammaln(y + 1)
        )
    return found


def on_a_grid(kind, u):
    """The log density by the trapezoid rule, which is exact to rounding where a density vanishes at the ends."""
    every = [heights_on_a_grid(kind, u, group) for group in range(3)]
    tops = [heights.max() for heights in every]
    sums = [np.exp(heights - top).sum() for heights, top in zip(every, tops, strict=True)]
    return log_prior(u) + sum(tops) + np.log(sums).sum() + 6 * np.log(GRID[1] - GRID[0])


# Errors of quadratures with so many nodes along each number, as they were found, and rounded up.
NEAR = {("hits", 25): 2e-10, ("counts", 25): 2e-8, ("counts", 11): 2e-5}


@pytest.mark.parametrize(
    ("kind", "nodes"),
    [pytest.param(*case, marks=() if case[1] == 11 else pytest.mark.slow) for case in NEAR],
)
def test_levels_and_slopes_of_counts_and_of_binary_rows_are_integrated_out(kind, nodes):
    density = together(grouped(kind, Y[kind]), nodes)
    value, slope = compiled(density.value_and_grad)(AT)
    near = NEAR[kind, nodes]
    assert_close(value, on_a_grid(kind, AT), rtol=0, atol=near)
    assert_close(slope, central(lambda u: on_a_grid(kind, u), AT), rtol=0, atol=max(10 * near, 1e-8))


@pytest.mark.slow
def test_derivatives_are_those_of_the_sum_over_few_nodes():
    """Five nodes move with the mode and the second derivatives there, which changes their sum."""
    density = together(grouped("counts", Y["counts"]), 5)
    value, slope = compiled(density.__call__), compiled(jax.grad(density))
    assert_close(slope(AT), central(value, AT), rtol=0, atol=1e-8)
    hessian = compiled(jax.hessian(density))(AT)
    assert_close(hessian, central(slope, AT), rtol=0, atol=1e-7)
    assert_close(hessian, hessian.T, rtol=0, atol=1e-8)


@ac.model
def three_numbers(x, y, seen):
    """A curve of three numbers, whose rows are counts, or normal."""
    spread = ac.sample("spread", dist.HalfNormal(1))
    level = ac.sample("level", dist.Normal(0.3, spread))
    slope = ac.sample("slope", dist.Normal(0, 1))
    bend = ac.sample("bend", dist.Normal(0, 0.5))
    mean = level + slope * x + bend * x**2
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(mean, NOISE) if seen == "normal" else dist.Poisson(jnp.exp(mean)), obs=y)


CURVE = ("level", "slope", "bend")


@pytest.mark.slow
def test_three_numbers_without_a_plate_are_integrated_out_together():
    design = np.stack([np.ones(10), X, X**2], axis=1)
    density = together(three_numbers(X, Y["normal"], "normal"), 5, CURVE)
    assert (density.program.groups.num, density.program.groups.size) == (1, 3)
    u = np.array([-0.3])
    sds = np.array([np.exp(u[0]), 1, 0.5])
    covariance = design * sds**2 @ design.T + NOISE**2 * np.eye(10)
    prior = stats.halfnorm.logpdf(np.exp(u[0])) + u[0]
    known = stats.multivariate_normal.logpdf(Y["normal"], np.full(10, 0.3), covariance)
    assert_close(compiled(density.__call__)(u), prior + known, rtol=1e-12)

    axes = [0.3 + np.linspace(-6, 6, 121), np.linspace(-6, 6, 121), np.linspace(-4, 4, 121)]
    at = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    heights = stats.norm.logpdf(at, [0.3, 0, 0], sds).sum(axis=-1)
    for row, y in zip(design, Y["counts"], strict=True):
        heights = heights + stats.poisson.logpmf(y, np.exp(at @ row))
    cell = sum(np.log(axis[1] - axis[0]) for axis in axes)
    counted = together(three_numbers(X, Y["counts"], "counts"), 11, CURVE)
    by_grid = prior + np.log(np.exp(heights - heights.max()).sum()) + heights.max() + cell
    assert_close(compiled(counted.__call__)(u), by_grid, rtol=0, atol=1e-6)


@pytest.mark.slow
def test_draws_of_two_sites_have_the_distribution_of_the_integrand():
    density = together(grouped("counts", Y["counts"]), 15)
    count = 4000
    # Draws of one distribution: what they are a function of does not change it here.
    u = AT + 1e-9 * np.linspace(-1, 1, count)[:, None]
    drawn = jax.jit(lambda u: jax.lax.map(density.constrain, u, batch_size=100))(u)
    weight = np.exp(heights_on_a_grid("counts", AT, 1))
    weight /= weight.sum()
    half = (GRID[1] - GRID[0]) / 2
    a, b = np.asarray(drawn["a"])[:, 1], np.asarray(drawn["b"])[:, 1]
    for draws, mass in ((a, weight.sum(axis=1)), (b, weight.sum(axis=0))):
        below = np.interp(draws, GRID + half, np.cumsum(mass))
        assert stats.kstest(below, "uniform").pvalue > 2e-9
    # A slope, given the level of its draw.
    rows = np.cumsum(weight, axis=1)[np.rint((a - GRID[0]) / (2 * half)).astype(int)]
    below = [np.interp(each, GRID + half, row / row[-1]) for each, row in zip(b, rows, strict=True)]
    assert stats.kstest(below, "uniform").pvalue > 2e-9


@pytest.mark.slow
def test_rows_that_move_to_other_groups_have_no_density():
    density = together(grouped("counts", Y["counts"]), 5)
    run = compiled(lambda group: density.with_data({"group": group})(AT))
    assert np.isfinite(run(GROUP)) and run(GROUP[::-1].copy()) == -np.inf


def test_places_taken_some_at_a_time_have_the_same_sums_and_slopes():
    z = jnp.asarray(RNG.normal(size=(23, 3, 2)))

    def total(scale, at_once):
        return at_each(lambda z: jnp.sin(scale * z).sum(axis=1), z, at_once)

    whole, parts = (compiled(jax.jacrev(lambda s, n=n: total(s, n)))(0.7) for n in (23, 7))
    assert whole.shape == (23, 3)
    assert_close(parts, whole, rtol=1e-13)
    assert_close(total(0.7, 7), total(0.7, 23), rtol=1e-13)


def test_what_is_integrated_out_and_what_it_costs_is_told():
    (notice,) = (
        note for note in together(grouped("hits", Y["hits"]), 11).notices if note.code == "integrated_out"
    )
    assert notice.severity == "info" and notice.sites == ("a", "b")
    assert "2 entries together, over 11 x 11 = 121 nodes" in notice.message
    assert "about 242 of the model's" in notice.message


@ac.model
def four_numbers():
    spread = ac.sample("spread", dist.HalfNormal(1))
    z = [ac.sample(name, dist.Normal(0, spread)) for name in "pqrs"]
    ac.sample("y", dist.Poisson(jnp.exp(sum(z))), obs=np.array(3))


REFUSED = {
    "too many nodes of three": (
        lambda: together(three_numbers(X, Y["counts"], "counts"), 25, CURVE),
        r"'bend', 'level', 'slope' depend .* 3 at a time, and quadrature with 25 nodes .* has 25 x 25 x 25 = 15,625 "
        r"nodes, where 2,500 are the most. .*Quadrature\(nodes=13\)",
    ),
    "too many nodes of two": (
        lambda: together(grouped("hits", Y["hits"]), 51),
        r"'a', 'b' depend .* 2 at a time, .* 51 x 51 = 2,601 nodes.*Quadrature\(nodes=50\)",
    ),
    "four numbers": (
        lambda: together(four_numbers(), 5, "pqrs"),
        r"'p', 'q', 'r', 's' depend .* 4 at a time, and a quadrature is of 3 numbers at a time, at most. .*Laplace",
    ),
}


@each(REFUSED, slow=["too many nodes of three"])
def test_too_many_numbers_or_nodes_are_refused_with_words_that_help(case):
    call, words = case
    with pytest.raises(SiteError) as raised:
        call()
    assert re.search(words, str(raised.value), re.DOTALL), str(raised.value)
