"""Hold log densities with sites integrated out by Laplace's approximation and by quadrature against exact integrals.

A right program fails the tests of draws with a chance of 8 * 6e-7 + 3 * 2e-9 + 2e-9, their false-alarm rate: four means
and four variances, each beyond 5 standard errors, three distances from a distribution function, and a count beyond both
quantiles of 1e-9; keys are fixed.
"""

import re

import cloudpickle
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from approximated_models import COUNTS, GROUP, IS_HIT, X, counts, hits, log_integral, one_count
from collapsed_models import CASES, regression, schools
from laws import assert_close, compiled, each
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.core.errors import ModelError, OptionError, SiteError
from accord.density import LogDensity
from accord.density.blaming import blame
from accord.density.recorded import recorded

LAPLACE, QUADRATURE = handlers.Laplace(), handlers.Quadrature()
AT = np.array([0.3, -0.2, -0.4])
WIDE = np.array([0.3, -0.2, 1.2])  # effects vary so much that nodes are far apart
POSITIONS = np.array([[0.3, 0.4], [-1.2, 1.5]])


def by(model, way, names=("effect",)):
    return handlers.collapse(model, list(names), by=way)


@pytest.fixture(scope="module")
def of_counts():
    return by(counts(), QUADRATURE).log_density()


@pytest.fixture(scope="module")
def by_laplace():
    return by(counts(), LAPLACE).log_density()


# Count, spread: the logarithm of the integral at mu = 0, and its derivative; by Laplace, and exactly.
FIGURES = {
    (3, 1.0): ((-2.520013591, 0.684783419), (-2.516534994, 0.687265672)),
    (0, 1.0): ((-0.952596247, -0.682606968), (-0.962972401, -0.678066115)),
    (3, 0.5): ((-2.559036163, None), (-2.562347816, None)),
}


@pytest.mark.parametrize("way", [LAPLACE, handlers.Quadrature(nodes=40)], ids=str)
def test_the_effect_of_a_count_has_its_known_integral(way):
    density = by(one_count(np.array(3), np.array(1.0)), way).log_density()

    def integral(mu, data):
        return density.with_data(data)(mu) - dist.Normal(0, 1).log_prob(mu[0])

    both = compiled(jax.value_and_grad(integral))
    for (y, spread), figures in FIGURES.items():
        value, (slope,) = both(np.zeros(1), {"y": np.array(y), "spread": np.array(spread)})
        known, known_slope = figures[way != LAPLACE]
        assert_close(value, known, rtol=0, atol=1e-9)
        if known_slope is not None:
            assert_close(slope, known_slope, rtol=0, atol=1e-9)


def test_two_probit_sites_have_the_known_integral_by_laplace():
    """Rasmussen & Williams (2006), section 3.4: Laplace's approximation of two that are correlated."""

    @ac.model
    def probit():
        ac.sample("other", dist.Normal(0, 1))
        f = ac.sample("f", dist.MultivariateNormal(jnp.zeros(2), jnp.array([[1.0, 0.5], [0.5, 1.0]])))
        ac.factor("seen", jax.scipy.special.log_ndtr(f))

    density = by(probit(), LAPLACE, ["f"]).log_density()
    value, at_mode = compiled(lambda u: (density(u), density.program.means(u, density.data)["f"]))(
        np.zeros(1)
    )
    assert_close(value - stats.norm.logpdf(0.0), -1.251529953, rtol=0, atol=1e-9)
    assert_close(at_mode, np.full(2, 0.651623913), rtol=0, atol=1e-9)


@each(CASES, slow={*CASES} - {"effects of groups", "coefficients"})
def test_what_is_normal_given_the_rest_is_integrated_out_exactly_by_laplace(case):
    model, names, by_hand, groups = case
    density = by(model(), LAPLACE, names).log_density()
    assert (density.program.groups.num, density.program.groups.size) == groups

    def both(function):
        return compiled(lambda positions: jax.lax.map(jax.value_and_grad(function), positions))(POSITIONS)

    (values, slopes), (known, known_slopes) = both(density), both(by_hand)
    assert_close(values, known, rtol=1e-10, atol=1e-10)
    assert_close(slopes, known_slopes, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@each({name: CASES[name] for name in ("effects of groups", "coefficients")})
def test_so_are_its_second_derivatives(case):
    model, names, by_hand, _ = case
    density = by(model(), LAPLACE, names).log_density()
    found, known = (compiled(jax.hessian(function))(POSITIONS[0]) for function in (density, by_hand))
    assert_close(found, known, rtol=1e-9, atol=1e-9)


def exactly(u, y=COUNTS):
    level, slope, tau = u[0], u[1], np.exp(u[2])
    prior = stats.norm.logpdf(u[:2]).sum() + stats.halfnorm.logpdf(tau) + u[2]

    def of_groups(v):
        rows = stats.poisson.logpmf(y, np.exp(slope * X + v[:, None]))
        inside = np.stack([rows[:, group == GROUP].sum(axis=1) for group in range(4)], axis=1)
        return inside + stats.norm.logpdf(v, level, tau)[:, None]

    return prior + log_integral(of_groups).sum()


def test_a_quadrature_of_counts_is_nearly_exact(of_counts):
    assert of_counts.dim == 3 and of_counts.program.groups.num == 4
    assert_close(compiled(of_counts.__call__)(AT), exactly(AT), rtol=0, atol=2e-9)


def test_a_quadrature_of_binary_rows_is_nearly_exact():
    density = by(hits(), QUADRATURE).log_density()
    u = np.array([0.3, 0.5])

    def of_groups(v):
        logits = u[0] + X + np.exp(u[1]) * v[:, None]
        rows = np.where(IS_HIT, -np.logaddexp(0, -logits), -np.logaddexp(0, logits))
        inside = np.stack([rows[:, group == GROUP].sum(axis=1) for group in range(4)], axis=1)
        return inside + stats.norm.logpdf(v)[:, None]

    prior = stats.norm.logpdf(u[0]) + stats.halfnorm.logpdf(np.exp(u[1])) + u[1]
    assert_close(compiled(density.__call__)(u), prior + log_integral(of_groups).sum(), rtol=0, atol=1e-8)


def central(function, u, step):
    """Differentiate a function by differences of a fourth-order formula."""
    shifts = step * np.eye(len(u))
    return np.stack(
        [
            (8 * (function(u + s) - function(u - s)) - (function(u + 2 * s) - function(u - 2 * s)))
            / (12 * step)
            for s in shifts
        ]
    )


@pytest.mark.parametrize("name", ["of_counts", "by_laplace"])
def test_the_gradient_is_that_of_the_log_density(name, request):
    density = request.getfixturevalue(name)
    value, slope = compiled(density.__call__), compiled(jax.grad(density))
    for at in (AT, WIDE):
        assert_close(slope(at), central(value, at, 1e-3), rtol=0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["of_counts", "by_laplace"])
def test_second_derivatives_are_those_of_the_gradient(name, request):
    density = request.getfixturevalue(name)
    hessian = compiled(jax.hessian(density))(AT)
    assert_close(hessian, central(compiled(jax.grad(density)), AT, 1e-3), rtol=0, atol=1e-7)
    assert_close(hessian, hessian.T, rtol=0, atol=1e-8)


def test_several_chains_at_once_and_one_have_the_same_density(of_counts, by_laplace):
    positions = AT + 0.5 * np.random.default_rng(1).normal(size=(3, 3))
    for density in (of_counts, by_laplace):
        many = compiled(jax.vmap(density.value_and_grad))(positions)
        one = compiled(density.value_and_grad)
        for i, position in enumerate(positions):
            assert_close([each[i] for each in many], [*one(position)], rtol=1e-10, atol=1e-10)


# Level, slope and log tau.
AWKWARD = np.array(
    [[4.0, 0.0, -25.0], [0.0, 0.0, 4.0], [-20.0, 0.0, 0.0], [30.0, 0.0, 1.0], [0.0, 20.0, -1.0]]
)


def test_gradients_are_finite_at_awkward_places(of_counts, by_laplace):
    for density in (of_counts, by_laplace):
        run = compiled(density.value_and_grad)
        for position in AWKWARD:
            value, slope = run(position)
            assert np.isfinite(value) and np.isfinite(slope).all(), position


def test_a_spread_next_to_zero_leaves_the_density_at_the_mean(of_counts, by_laplace):
    at = np.array([1.0, -0.2, -25.0])
    rows = stats.poisson.logpmf(COUNTS, np.exp(1.0 - 0.2 * X)).sum()
    expected = rows + stats.norm.logpdf(at[:2]).sum() + stats.halfnorm.logpdf(0.0) - 25.0
    for density in (of_counts, by_laplace):
        # A rounding of an effect near 1 is 1e-5 of its spread.
        assert_close(compiled(density.__call__)(at), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "way", [QUADRATURE, pytest.param(LAPLACE, marks=pytest.mark.slow)], ids=["quadrature", "Laplace"]
)
def test_single_precision_is_close(way):
    density = LogDensity.from_model(by(counts(), way), "float32")
    with jax.enable_x64(False):
        value, slope = compiled(density.value_and_grad)(AT.astype(np.float32))
        drawn = compiled(density.constrain)(AT.astype(np.float32))["effect"]
    assert value.dtype == slope.dtype == drawn.dtype == np.float32
    exact = compiled(by(counts(), way).log_density().value_and_grad)(AT)
    assert_close(np.asarray(value, float), np.asarray(exact[0]), rtol=1e-5)
    assert_close(np.asarray(slope, float), np.asarray(exact[1]), rtol=1e-3, atol=1e-3)


def test_rows_may_be_in_any_order():
    order = np.array([3, 1, 0, 2, 9, 8, 7, 4, 5, 6])
    density = by(counts(GROUP[order], X[order], COUNTS[order]), QUADRATURE).log_density()
    assert_close(compiled(density.__call__)(AT), exactly(AT), rtol=0, atol=2e-9)


def test_draws_by_quadrature_have_the_distribution_of_the_integrand():
    @ac.model
    def model():
        ac.sample("other", dist.Normal(0, 1))
        with ac.plate("entry", 2):
            effect = ac.sample("effect", dist.Normal(jnp.array([0.3, -0.5]), jnp.array([1.5, 2.0])))
            ac.sample("y", dist.Poisson(jnp.exp(effect)), obs=np.array([3, 0]))

    density = by(model(), QUADRATURE).log_density()
    count = 8000
    drawn = np.asarray(jax.jit(jax.vmap(density.constrain))(np.linspace(-2, 2, count)[:, None])["effect"])
    for i, (mean, spread, y) in enumerate([(0.3, 1.5, 3), (-0.5, 2.0, 0)]):
        grid = np.linspace(-14, 14, 40_001)
        weight = np.exp(stats.poisson.logpmf(y, np.exp(grid)) + stats.norm.logpdf(grid, mean, spread))
        weight /= weight.sum()
        center = (grid * weight).sum()
        moments = [((grid - center) ** power * weight).sum() for power in (2, 4)]
        assert abs(drawn[:, i].mean() - center) < 5 * np.sqrt(moments[0] / count)
        error = np.sqrt((moments[1] - moments[0] ** 2) / count)
        assert abs(((drawn[:, i] - center) ** 2).mean() - moments[0]) < 5 * error
        below = np.interp(drawn[:, i], grid, np.cumsum(weight))
        assert stats.kstest(below, "uniform").pvalue > 2e-9


def test_draws_of_few_nodes_have_the_tails_of_the_distribution():
    """The outermost of five nodes is 2.9 standard deviations from the mode."""

    @ac.model
    def model():
        ac.sample("other", dist.Normal(0, 1))
        with ac.plate("entry", 4):
            effect = ac.sample("effect", dist.Normal(0.5, 2.0))
            ac.sample("y", dist.Normal(effect, 2.0), obs=np.array([3.0, 0.0, -1.0, 2.0]))

    density = by(model(), handlers.Quadrature(5)).log_density()
    positions = np.linspace(-2, 2, 8000)[:, None]
    drawn = np.asarray(jax.jit(jax.vmap(density.constrain))(positions)["effect"])
    z = ((drawn - (0.5 + np.array([3.0, 0.0, -1.0, 2.0])) / 2) / np.sqrt(2)).ravel()
    assert stats.kstest(z, "norm").pvalue > 2e-9
    beyond = stats.binom(z.size, 2 * stats.norm.sf(2.9))
    assert beyond.ppf(1e-9) <= np.sum(np.abs(z) > 2.9) <= beyond.isf(1e-9)


def test_nodes_where_the_model_overflows_have_no_mass():
    @ac.model
    def model(y):
        mu = ac.sample("mu", dist.Normal(0, 1))
        with ac.plate("row", 2):
            u = ac.sample("u", dist.Normal(mu, 200.0))
            ac.sample("y", dist.Bernoulli(probs=jnp.exp(u) / (1 + jnp.exp(u))), obs=y)

    density = LogDensity.from_model(by(model(np.array([1, 0])), QUADRATURE, ["u"]), "float32")
    with jax.enable_x64(False):
        value, (values, parts) = compiled(lambda p: (density(p), recorded(density, p, density(p))))(
            np.zeros(1, np.float32)
        )
    assert np.isfinite(value) and np.isfinite(values["u"]).all()
    assert {"integral.error", "log_likelihood"} <= {*parts}
    assert all(np.isfinite(each) for each in parts.values())


def test_draws_by_laplace_are_from_the_normal_at_the_mode():
    @ac.model
    def model():
        ac.sample("other", dist.Normal(0, 1))
        with ac.plate("entry", 2):
            effect = ac.sample("effect", dist.Normal(0.0, 1.0))
            ac.sample("y", dist.Poisson(jnp.exp(effect)), obs=np.array([3, 0]))

    density = by(model(), LAPLACE).log_density()
    count = 8000
    positions = np.linspace(-2, 2, count)[:, None]
    drawn = np.asarray(jax.jit(jax.vmap(density.constrain))(positions)["effect"])
    mode = np.array([0.792059968, -0.567143290])
    sd = (1 + np.exp(mode)) ** -0.5
    white = (drawn - mode) / sd
    assert np.all(np.abs(white.mean(axis=0)) < 5 / np.sqrt(count))
    assert np.all(np.abs((white**2).mean(axis=0) - 1) < 5 * np.sqrt(2 / count))


@pytest.mark.slow
def test_the_likelihood_kept_with_a_draw_is_that_of_the_draw(of_counts, by_laplace):
    for density, name in ((of_counts, "integral.error"), (by_laplace, "integral.log_weight")):
        values, parts = compiled(lambda u, density=density: recorded(density, u, density(u)))(AT)
        rate = np.exp(values["slope"] * X + values["effect"][GROUP])
        assert_close(parts["log_likelihood"], stats.poisson.logpmf(COUNTS, rate).sum(), rtol=1e-10)
        prior = stats.norm.logpdf([values["level"], values["slope"]]).sum()
        prior += stats.halfnorm.logpdf(values["tau"])
        prior += stats.norm.logpdf(values["effect"], values["level"], values["tau"]).sum()
        assert_close(parts["log_prior"], prior, rtol=1e-10)
        assert np.isfinite(parts[name])
        if name == "integral.log_weight":
            precision = 1 / values["tau"] ** 2 + jax.ops.segment_sum(
                np.exp(-0.2 * X + density.program.means(AT, density.data)["effect"][GROUP]), GROUP, 4
            )
            away = values["effect"] - density.program.means(AT, density.data)["effect"]
            log_normal = 0.5 * jnp.sum(jnp.log(precision / (2 * np.pi)) - precision * away**2)
            joint = parts["log_likelihood"] + parts["log_prior"] + AT[2]
            assert_close(parts[name], joint - density(AT) - log_normal, rtol=1e-8)


def test_a_density_travels(of_counts):
    again = cloudpickle.loads(cloudpickle.dumps(of_counts))
    assert compiled(again.__call__)(AT) == compiled(of_counts.__call__)(AT)


def test_other_data_of_the_same_groups_are_taken(of_counts):
    other = of_counts.with_data({"y": COUNTS + 1})
    assert other.program is of_counts.program
    assert_close(compiled(other.__call__)(AT), exactly(AT, COUNTS + 1), rtol=0, atol=2e-9)


def test_rows_of_other_groups_are_refused_or_have_no_density(of_counts):
    moved = GROUP[::-1].copy()
    with pytest.raises(SiteError, match=r"'y' depend on other entries of 'effect' .* Make it anew"):
        of_counts.with_data({"group": moved})
    # Traced data cannot be looked at: they give no number rather than a wrong one.
    assert compiled(lambda group: of_counts.with_data({"group": group})(AT))(moved) == -np.inf
    assert np.isfinite(compiled(lambda group: of_counts.with_data({"group": group})(AT))(GROUP))


def test_a_sum_over_entries_is_integrated_out_by_laplace_alone():
    @ac.model
    def model():
        tau = ac.sample("tau", dist.HalfNormal(1))
        with ac.plate("group", 3):
            effect = ac.sample("effect", dist.Normal(0, tau))
        ac.factor("seen", jnp.sum(effect - jnp.exp(effect)))

    density = by(model(), LAPLACE).log_density()
    program = density.program
    assert program.groups.size == 1 and program.index is None
    with pytest.raises(SiteError, match="one log probability of site 'seen' depends on several entries"):
        by(model(), QUADRATURE).log_density()
    mode = compiled(lambda u: program.means(u, density.data)["effect"])(np.zeros(1))
    assert_close(1 - np.exp(mode) - mode, np.zeros(3), atol=1e-12)


def test_no_mode_is_no_density_and_is_explained():
    @ac.model
    def model():
        pull = ac.sample("pull", dist.Normal(0, 1))
        effect = ac.sample("effect", dist.ImproperUniform(dist.constraints.real, (), ()))
        ac.factor("seen", -jnp.exp(pull * effect))

    for way in (LAPLACE, QUADRATURE):
        density = by(model(), way).log_density()
        assert compiled(density.__call__)(np.ones(1)) == -np.inf
        words = str(blame(density, np.ones(1)))
        assert "no mode of 'effect' given the other unknowns was found in 100 steps" in words
        assert "or a density with a kink" in words


def crossed(way):
    @ac.model
    def model():
        tau = ac.sample("tau", dist.HalfNormal(1))
        with ac.plate("row", 3, dim=-2):
            one = ac.sample("one", dist.Normal(0, tau))
        with ac.plate("column", 2, dim=-1):
            other = ac.sample("other", dist.Normal(0, tau))
        with ac.plate("row", 3, dim=-2), ac.plate("column", 2, dim=-1):
            ac.sample("y", dist.Poisson(jnp.exp(one + other[None])), obs=np.array([[1, 2], [0, 4], [3, 1]]))

    return by(model(), way, ["one", "other"])


REFUSED = {
    "another way": (lambda: by(counts(), "laplace"), OptionError, "by is None, .*Quadrature.*got 'laplace'"),
    "one node": (lambda: handlers.Quadrature(1), OptionError, "nodes must be .* from 5 to 100; got 1"),
    "half a node": (lambda: handlers.Quadrature(7.5), OptionError, "nodes must be"),
    "an unknown option": (lambda: handlers.Quadrature(n=7), OptionError, "no option 'n'"),
    "a discrete site": (
        lambda: by(counts(y=None), QUADRATURE, ["y"]).log_density(),
        SiteError,
        "'y'.* is discrete, and is summed out exactly",
    ),
    "a bounded site": (lambda: by(counts(), LAPLACE, ["tau"]).log_density(), SiteError, "'tau'.*HalfNormal"),
    "two ways": (
        lambda: handlers.collapse(by(counts(), LAPLACE), ["level"]).log_density(),
        SiteError,
        "'level' exactly and 'effect' by Laplace's approximation",
    ),
    "effects that meet": (
        lambda: crossed(QUADRATURE).log_density(),
        SiteError,
        "entries of 'one', 'other' depend on each other .*5 at a time.*Laplace.*, or collapse fewer of them: sites",
    ),
    "coefficients": (
        lambda: by(regression(), QUADRATURE, ["beta"]).log_density(),
        SiteError,
        "7 at a time.*by an index, as in `effect",
    ),
    "a site beside labels": (
        lambda: by(labelled(), LAPLACE).log_density(),
        SiteError,
        "'z' is discrete.*beside discrete unknowns no site is integrated out yet, exactly or by Laplace's",
    ),
    "all unknowns": (
        lambda: by(one_count(np.array(3), np.array(1.0)), LAPLACE, ["mu", "effect"]).log_density(),
        ModelError,
        "nothing is left to sample: Leave one of them out",
    ),
    "nothing asked for": (
        lambda: by(counts(), None).log_density(),
        SiteError,
        "cannot be integrated out exactly.*by=handlers.Quadrature",
    ),
    "chunks": (
        lambda: by(in_chunks(), QUADRATURE).log_density(),
        SiteError,
        "'effect' cannot be integrated out by quadrature with 25 nodes where .*chunk=2",
    ),
}


@ac.model
def in_chunks(y=COUNTS):
    tau = ac.sample("tau", dist.HalfNormal(1))
    with ac.plate("row", y.shape[0], chunk=2):
        effect = ac.sample("effect", dist.Normal(0, tau))
        ac.sample("y", dist.Poisson(jnp.exp(effect)), obs=y)


@ac.model
def labelled():
    tau = ac.sample("tau", dist.HalfNormal(1))
    with ac.plate("row", 3):
        effect = ac.sample("effect", dist.Normal(0, tau))
        z = ac.sample("z", dist.Bernoulli(0.3))
        ac.sample("y", dist.Poisson(jnp.exp(effect + z)), obs=np.array([1, 0, 2]))


@each(REFUSED)
def test_what_cannot_be_is_refused_with_words_that_help(case):
    call, error, words = case
    with pytest.raises(error) as raised:
        call()
    assert re.search(words, str(raised.value), re.DOTALL), str(raised.value)


def test_effects_that_meet_are_integrated_out_by_laplace():
    density = crossed(LAPLACE).log_density()
    assert density.program.groups.size == 5
    assert np.isfinite(compiled(density.__call__)(np.zeros(1)))


def test_an_exact_integral_is_as_near_by_quadrature():
    """Of effects that are normal given the rest."""
    exact, near = (
        handlers.collapse(schools(), ["theta"], by=way).log_density() for way in (None, QUADRATURE)
    )
    position = np.array([0.3, 1.0])
    assert_close(compiled(near.__call__)(position), compiled(exact.__call__)(position), rtol=1e-12)
