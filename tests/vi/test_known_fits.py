"""Compare fits with answers that are known: normal posteriors, and integrals by quadrature.

Most fits here are climbs over whitened draws, which are exact for normal posteriors. Those by noisy steps, and moments
by draws, are compared within 6 standard errors: a false alarm in 2e-9 of each of 23 comparisons.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core import keys, precision
from accord.core.errors import SamplingError
from accord.report.weights import effective_size, pareto_k, smoothed
from accord.vi.each import sharing
from accord.vi.objectives import ELBO, IWAE, FixedDraws, Renyi
from accord.vi.steppers.match import Scores, matched

QUIET: dict[str, Any] = dict(quiet=True, progress=False)
PLACES, SEEN = np.arange(5.0), np.array([1, 2, 3, 2.5, 1.5])


@ac.model
def correlated(rho: float) -> None:
    ac.sample("x", dist.MultivariateNormal(np.zeros(2), covariance_matrix=np.array([[1, rho], [rho, 1]])))


@ac.model
def line(y: Any) -> None:
    b = ac.sample("b", dist.Normal(np.zeros(2), 2.0))
    ac.sample("y", dist.Normal(b[0] + b[1] * PLACES, 1.0), obs=y)


@ac.model
def one_seen() -> None:
    x = ac.sample("x", dist.Normal(0, 1))
    ac.sample("seen", dist.Normal(x, 1), obs=1.0)


@ac.model
def rate() -> None:
    ac.sample("rate", dist.Gamma(10, 1))


@ac.model
def logistic() -> None:
    b = ac.sample("b", dist.Normal(0, 1))
    ac.sample("y", dist.Bernoulli(logits=b * np.array([-1.0, 0.5, 2.0])), obs=np.array([0, 1, 1]))


def scales(fit: Any) -> np.ndarray:
    """Standard deviations of a mean field, in unconstrained units."""
    return np.asarray(fit.fitted.frame.scale) * np.exp(fit.params["log_scale"])


def location(fit: Any) -> np.ndarray:
    frame = fit.fitted.frame
    with precision.scope("float64"):
        noise = jnp.zeros(fit.guide.num_noise(frame.location.size))
        return np.asarray(frame.position(fit.guide.draw(fit.params, noise)[0]))


def covariance(fit: Any) -> np.ndarray:
    """Covariance of a guide that is linear in its noise, in unconstrained units."""
    frame, dim = fit.fitted.frame, fit.fitted.frame.location.size
    with precision.scope("float64"):
        spread = jax.jacobian(lambda noise: fit.guide.draw(fit.params, noise)[0])(jnp.zeros(dim))
    spread = frame.scale[:, None] * np.asarray(spread)
    return spread @ spread.T


@pytest.mark.parametrize(("rho", "divergence"), [(0.5, 0.143841), (0.9, 0.830366), (0.99, 1.958518)])
def test_a_mean_field_of_a_correlated_normal_is_exact_and_so_is_linear_response(
    rho: float, divergence: float
) -> None:
    fit = infer.fit(correlated(rho), **QUIET)
    assert fit.converged and isinstance(fit.objective, FixedDraws)
    assert np.allclose(location(fit), 0, atol=1e-5)
    assert np.allclose(scales(fit) ** 2, 1 - rho**2, rtol=1e-5)
    assert np.isclose(-fit.losses[0].min(), -divergence, atol=1e-5)
    assert np.allclose(fit.summary()["sd_lr"], 1, rtol=1e-4)


def test_a_regression_is_fitted_as_by_algebra() -> None:
    mean, evidence = np.array([1.487778956, 0.218916047]), -9.475921940
    narrow = infer.fit(line(SEEN), **QUIET)
    assert np.allclose(location(narrow), mean, atol=1e-5)
    assert np.allclose(scales(narrow), [0.436435780, 0.181818182], rtol=1e-5)
    assert np.isclose(-narrow.losses[0].min(), -9.972606862, atol=1e-5)
    assert np.allclose(narrow.summary()["sd_lr"] ** 2, [0.514346440, 0.089266738], rtol=1e-4)
    full = infer.fit(line(SEEN), infer.guides.FullRank(), **QUIET)
    drawn = full.draw(20_000)["b"][0]
    # Sticking the landing: where the guide is the posterior, no noise is left, so that the bound is the evidence.
    assert np.isclose(full.log_evidence_bound, evidence, atol=1e-4) and full.pareto_k < 0.2
    errors = np.sqrt(np.array([0.514346440, 0.089266738]) / 20_000)
    assert np.all(np.abs(drawn.mean(axis=0) - mean) < 6 * errors)
    spread = np.array([[0.514346440, -0.170031881], [-0.170031881, 0.089266738]])
    variances = np.outer(np.diag(spread), np.diag(spread)) + spread**2
    assert np.all(np.abs(np.cov(drawn.T) - spread) < 6 * np.sqrt(variances / 20_000))


@pytest.mark.parametrize(
    "guide", [infer.guides.FullRank(), infer.guides.LowRank(), infer.guides.Flow(layers=2)]
)
def test_guides_that_hold_the_posterior_reach_the_evidence(guide: Any) -> None:
    fit = infer.fit(line(SEEN), guide, **QUIET)
    assert fit.converged and not fit.notices
    assert (
        -9.475921940 - 0.02
        < fit.log_evidence_bound
        < -9.475921940 + 6 * max(fit.log_evidence_bound_error, 1e-5)
    )


def test_a_gamma_is_fitted_by_a_log_normal() -> None:
    fit = infer.fit(rate(), objective=infer.FixedDraws(draws=2000), **QUIET)
    # Of 1000 pairs the bound is that of the sample: 6 times the spread over 30 other seeds, 5.8e-5 and 0.12%.
    assert np.isclose(location(fit)[0], 2.252585093, atol=6 * 5.8e-5)
    assert np.isclose(scales(fit)[0], 0.316227766, rtol=6 * 0.0012)
    assert np.isclose(fit.log_evidence_bound, -0.008330563, atol=6 * fit.log_evidence_bound_error)


def test_a_logistic_regression_is_fitted_as_by_quadrature() -> None:
    fit = infer.fit(logistic(), objective=infer.FixedDraws(draws=2000), **QUIET)
    # As above: the spread over 30 other seeds is 9e-4 and 0.074%.
    assert np.isclose(location(fit)[0], 0.921072623, atol=6 * 9e-4)
    assert np.isclose(scales(fit)[0], 0.757005583, rtol=6 * 7.4e-4)
    assert np.isclose(fit.log_evidence_bound, -1.676505322, atol=6 * fit.log_evidence_bound_error)
    # Its weights differ so little that the shape of their tail is of no account.
    assert fit.effective_draws > 950 and not fit.notices


@pytest.mark.parametrize(
    ("model", "mode", "scale", "evidence"),
    [(rate, math.log(10), math.sqrt(0.1), -0.008330563), (logistic, 0.825594678, 0.742904943, -1.684608061)],
)
def test_laplace_is_the_normal_at_the_peak_of_unconstrained_numbers(
    model: Any, mode: float, scale: float, evidence: float
) -> None:
    fit = infer.fit(model(), infer.guides.Laplace(), **QUIET)
    assert fit.converged and np.isclose(location(fit)[0], mode, rtol=1e-9)
    assert np.isclose(covariance(fit)[0, 0], scale**2, rtol=1e-8)
    assert np.isclose(-fit.losses[0][-1], evidence, rtol=0, atol=1e-9)
    assert fit.pareto_k < 0.7


def test_a_peak_that_is_no_normal_is_an_error_with_the_sites_of_its_direction() -> None:
    @ac.model
    def level() -> None:
        ac.sample("a", dist.Normal(0, 1))
        b, c = ac.sample("b", dist.Normal(0, 1)), ac.sample("c", dist.Normal(0, 1))
        ac.factor("only_their_sum", 0.5 * b**2 + 0.5 * c**2 - (b + c) ** 2)

    with pytest.raises(SamplingError, match="does not fall along a direction of 'b', 'c'"):
        infer.fit(level(), infer.guides.Laplace(), **QUIET)

    @ac.model
    def saddle() -> None:
        ac.sample("a", dist.Normal(0, 1))
        b = ac.sample("b", dist.Normal(0, 1))
        ac.factor("two_modes", 2 * b**2 - b**4)

    with pytest.raises(SamplingError, match="rises along a direction of 'b'"):
        infer.fit(saddle(), infer.guides.Laplace(), init={"a": 0.3, "b": 0.0}, **QUIET)


def test_a_coin_is_fitted_as_by_the_beta_integral() -> None:
    @ac.model
    def coin() -> None:
        p = ac.sample("p", dist.Beta(10, 10))
        with ac.plate("toss", 10):
            ac.sample("y", dist.Bernoulli(p), obs=np.repeat([1, 0], [6, 4]))

    fit = infer.fit(coin(), **QUIET)
    evidence, found = -7.069374503, fit.summary()
    assert evidence - 0.01 < fit.log_evidence_bound < evidence + 6 * fit.log_evidence_bound_error
    # In log odds the posterior is so near to a normal that 1000 draws have its moments.
    assert fit.effective_draws > 990 and not fit.notices
    assert abs(found["mean"][0] - 0.533333) < 6 * 0.089602868 / math.sqrt(1000)
    assert abs(found["sd"][0] / 0.089602868 - 1) < 6 / math.sqrt(2 * 1000)


def test_the_tail_of_a_mean_field_of_a_regression_is_that_of_algebra() -> None:
    widths = scales(infer.fit(line(SEEN), **QUIET))
    posterior = np.array([[0.514346440, -0.170031881], [-0.170031881, 0.089266738]])
    least = np.linalg.eigvals(np.linalg.solve(posterior, np.diag(widths**2))).min()
    assert np.isclose(1 - least, 0.793519601, atol=1e-6)


@ac.model
def grouped(y: Any) -> None:
    mu, slope = ac.sample("mu", dist.Normal(0, 2)), ac.sample("slope", dist.Normal(0, 1))
    with ac.plate("group", y.shape[1]):
        level, turn = ac.sample("level", dist.Normal(mu, 0.5)), ac.sample("turn", dist.Normal(slope, 0.3))
        with ac.plate("row", y.shape[0]):
            ac.sample("y", dist.Normal(level + turn * (np.arange(y.shape[0])[:, None] - 0.5), 1.0), obs=y)


def test_a_structured_guide_is_exact_for_a_hierarchy_of_normals_and_a_mean_field_is_not() -> None:
    seen = np.random.default_rng(0).standard_normal((3, 4)) + np.arange(4)
    # Unknowns: mu, slope, four levels, four turns; all are linear in standard normal numbers.
    prior = np.zeros((10, 10))
    prior[0, 0], prior[1, 1] = 2, 1
    prior[2:6, 0], prior[2:6, 2:6] = 2, 0.5 * np.eye(4)
    prior[6:, 1], prior[6:, 6:] = 1, 0.3 * np.eye(4)
    design = np.zeros((12, 10))
    for row, (j, group) in enumerate(np.ndindex(3, 4)):
        design[row, 2 + group], design[row, 6 + group] = 1, j - 0.5
    gram = prior @ prior.T
    total = design @ gram @ design.T + np.eye(12)
    gain = gram @ design.T @ np.linalg.inv(total)
    mean, spread = gain @ seen.ravel(), gram - gain @ design @ gram
    evidence = -0.5 * (
        seen.ravel() @ np.linalg.solve(total, seen.ravel()) + np.linalg.slogdet(2 * np.pi * total)[1]
    )
    until = infer.ELBOPlateau(window=100)
    fit = infer.fit(grouped(seen), infer.guides.Structured(), until=until, **QUIET)
    narrow = infer.fit(grouped(seen), **QUIET)
    assert narrow.log_evidence_bound < evidence - 0.5
    # Where the guide is the posterior, its gradients have no noise.
    assert fit.converged and np.isclose(fit.log_evidence_bound, evidence, atol=1e-6)
    assert np.allclose(location(fit), mean, atol=1e-4)
    assert np.allclose(covariance(fit), spread, atol=1e-4)
    laplace = infer.fit(grouped(seen), infer.guides.Laplace(), **QUIET)
    assert np.isclose(-laplace.losses[0][-1], evidence, rtol=1e-9)
    assert np.allclose(covariance(laplace), spread, atol=1e-9)


def test_paths_come_nearer_to_a_regression_than_a_mean_field() -> None:
    fit = infer.fit(line(SEEN), infer.guides.DAIS(steps=10), **QUIET)
    noise = 6 * fit.log_evidence_bound_error
    assert -9.972606862 + noise < fit.log_evidence_bound < -9.475921940 + noise


@pytest.mark.parametrize(("weight", "most"), [(1e4, 1e-2), (1e8, 1e-6)])
def test_scores_of_a_normal_are_matched_by_one_step_of_large_weight(weight: float, most: float) -> None:
    noise = np.random.default_rng(8)
    mean, factor = np.array([1.0, -2, 0.5]), np.array([[1.0, 0, 0], [0.5, 0.8, 0], [-0.3, 0.4, 1.2]])
    spread = factor @ factor.T
    positions = noise.standard_normal((6, 3))
    gradients = -np.linalg.solve(spread, (positions - mean).T).T
    with precision.scope("float64"):
        scores = Scores(jnp.asarray(positions), jnp.asarray(gradients))
        found = matched(jnp.zeros(3), jnp.eye(3), scores, jnp.asarray(weight))
    assert np.abs(found[0] - mean).max() < most and np.abs(found[1] - spread).max() < most


def test_scores_of_a_normal_are_matched_in_some_steps() -> None:
    until = infer.ELBOPlateau(window=20)
    matching = infer.FisherDivergence(draws=8)
    fit = infer.fit(line(SEEN), infer.guides.FullRank(), objective=matching, until=until, **QUIET)
    assert fit.converged and len(fit.losses[0]) <= 200
    assert np.isclose(fit.log_evidence_bound, -9.475921940, atol=1e-8)
    assert np.allclose(location(fit), [1.487778956, 0.218916047], atol=1e-6)
    known = np.array([[0.514346440, -0.170031881], [-0.170031881, 0.089266738]])
    assert np.allclose(covariance(fit), known, atol=1e-6)


def test_a_product_is_exact_for_independent_sites_and_holds_points_at_their_mode() -> None:
    @ac.model
    def apart() -> None:
        a, b, c, d = (ac.sample(name, dist.Normal(0, 1)) for name in "abcd")
        ac.sample("sum", dist.Normal(a + b, 0.5), obs=1.0)
        ac.sample("own", dist.Normal(c, 1), obs=2.0)
        ac.sample("last", dist.Normal(d, 1), obs=0.0)

    parts = {("a", "b"): infer.guides.FullRank(), "c": infer.guides.Delta(), ...: infer.guides.MeanField()}
    fit = infer.fit(apart(), infer.guides.Product(parts), until=infer.ELBOPlateau(window=100), **QUIET)
    assert np.allclose(fit.draw(5)["c"], 1.0, atol=1e-5)
    # Evidence of the others, times the density of c and its observation at the mode.
    terms = dist.Normal(0, np.array([1.5, math.sqrt(2), 1, 1])).log_prob(np.array([1.0, 0, 1, 1]))
    assert np.isclose(fit.log_evidence_bound, float(np.sum(terms)), atol=1e-5) and fit.pareto_k < 0.2
    assert [notice.code for notice in fit.notices] == ["point_only"] and "at its point" in repr(fit)


def test_a_point_is_the_mode_without_jacobian() -> None:
    point = infer.fit(rate(), infer.guides.Delta(), **QUIET)
    assert np.isclose(point.draw(1)["rate"][0, 0], 9.0, atol=1e-5)
    assert [notice.code for notice in point.notices] == ["point_only"] and np.isnan(point.pareto_k)


def bound_of(objective: Any, num_draws: int, seed: int) -> np.ndarray:
    """Bounds of one observation by a standard normal guide, by so many estimates."""
    guide = infer.guides.MeanField()
    with precision.scope("float64"):
        density = ac.LogDensity.from_model(one_seen())
        params = {"loc": jnp.zeros(1), "log_scale": jnp.zeros(1)}

        def estimate(noise: Any) -> Any:
            return -objective.loss(guide, params, noise, sharing(density, True))

        noise = np.random.default_rng(seed).standard_normal((20_000, num_draws, 1))
        return np.asarray(jax.jit(jax.vmap(estimate))(noise))


@pytest.mark.parametrize(
    ("objective", "num_draws", "known"),
    [
        (ELBO(draws=1), 1, -1.918938533),
        (IWAE(draws=2), 2, -1.653473787),
        (IWAE(draws=3), 3, -1.594066624),
        (Renyi(0.5, draws=2), 2, -1.755357495),
        (Renyi(0.5, draws=500), 500, -1.657736975),
    ],
)
def test_bounds_of_several_draws_have_the_means_of_quadrature(
    objective: Any, num_draws: int, known: float
) -> None:
    found = bound_of(objective, num_draws, 4)
    bias = 2e-3 if num_draws == 500 else 0.0  # of order 1/draws
    assert abs(found.mean() - known) < 6 * found.std() / math.sqrt(len(found)) + bias


def test_where_the_guide_is_the_posterior_a_gradient_that_sticks_the_landing_has_no_noise() -> None:
    guide, noise = infer.guides.MeanField(), jnp.asarray(np.random.default_rng(0).standard_normal((1, 1)))
    with precision.scope("float64"):
        density = ac.LogDensity.from_model(one_seen())
        params = {"loc": jnp.asarray([0.5]), "log_scale": jnp.asarray([0.5 * math.log(0.5)])}

        def gradient(sticks: bool) -> Any:
            objective = ELBO(draws=1, sticks_the_landing=sticks)
            return jax.grad(lambda p: objective.loss(guide, p, noise, sharing(density, True)))(params)

        assert all(abs(float(each[0])) < 1e-12 for each in gradient(True).values())
        assert max(abs(float(each[0])) for each in gradient(False).values()) > 0.1
        assert np.isclose(ELBO().loss(guide, params, noise, sharing(density, True)), 1.515512123, atol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.5, -1.0])
def test_gradients_of_bounds_of_two_draws_are_those_of_quadrature(alpha: float) -> None:
    """The doubly reparameterised gradient against the derivative of the bound itself, integrated over both draws."""
    guide = infer.guides.MeanField()
    nodes, weights = np.polynomial.hermite_e.hermegauss(180)
    weights = weights / weights.sum()
    with precision.scope("float64"):
        density = ac.LogDensity.from_model(one_seen())
        objective = IWAE(draws=2) if alpha == 0 else Renyi(alpha, draws=2)
        params = {"loc": jnp.asarray([0.2]), "log_scale": jnp.asarray([-0.1])}
        pairs = jnp.asarray(np.stack(np.meshgrid(nodes, nodes, indexing="ij"), axis=-1).reshape(-1, 2, 1))
        both = jnp.asarray(np.outer(weights, weights).ravel())

        def estimated(noise: Any) -> Any:
            return jax.grad(lambda p: objective.loss(guide, p, noise, sharing(density, True)))(params)

        def exact(p: Any) -> Any:
            def bound(noise: Any) -> Any:
                def log_weight(own: Any) -> Any:
                    position, log_q = guide.draw(p, own)
                    return density(position) - log_q

                scaled = (1 - alpha) * jax.vmap(log_weight)(noise)
                return (jax.nn.logsumexp(scaled) - math.log(2)) / (1 - alpha)

            return -jnp.sum(both * jax.vmap(bound)(pairs))

        wanted = jax.grad(exact)(params)
        found = jax.tree.map(lambda leaf: jnp.tensordot(both, leaf, 1), jax.vmap(estimated)(pairs))
    for name, value in wanted.items():
        assert np.allclose(found[name], value, rtol=0, atol=1e-8), name


def test_the_tail_of_weights_is_that_of_normals() -> None:
    noise = np.random.default_rng(5).standard_normal((20, 1000))
    for variance, known in ((0.5, 0.5), (0.25, 0.75)):
        x = noise * math.sqrt(variance)
        found = [pareto_k(-0.5 * row**2 + 0.5 * row**2 / variance) for row in x]
        # The estimate is pulled towards 0.5, and has a standard deviation of 0.14.
        assert abs(np.mean(found) - known) < 6 * 0.14 / math.sqrt(20) + 0.1
    assert pareto_k(np.zeros(100)) == 0 and pareto_k(np.full(100, -np.inf)) == math.inf
    assert pareto_k(np.append(np.zeros(99), -np.inf)) < 0.5
    # Of a few draws nothing can be told.
    assert all(pareto_k(noise[0, :count]) == math.inf for count in (2, 4, 20))


@pytest.mark.parametrize("seed", range(20))
def test_fixed_draws_have_the_unit_matrix_as_covariance(seed: int) -> None:
    for dim in (2, 15, 64):
        noise = FixedDraws().fixed_noise(keys.chain_key(seed, 0), dim, dim, np.dtype(float))
        assert np.allclose(noise.T @ noise / len(noise), np.eye(dim), atol=1e-9)
        assert np.array_equal(noise[: len(noise) // 2], -noise[len(noise) // 2 :])


def test_the_effective_size_of_weights_is_that_of_normals() -> None:
    x = np.random.default_rng(6).standard_normal(100_000) * math.sqrt(2)
    assert abs(effective_size(-0.5 * x**2 + 0.25 * x**2) / 100_000 - 0.866025404) < 0.01
    assert effective_size(np.full(10, -np.inf)) == 0


def test_smoothed_weights_sum_to_one_and_keep_their_order() -> None:
    given = np.random.default_rng(7).standard_normal(500)
    found, _ = smoothed(given)
    assert np.isclose(np.exp(found).sum(), 1) and np.array_equal(np.argsort(found), np.argsort(given))


def test_a_funnel_is_judged_badly_by_a_mean_field_and_well_by_a_flow() -> None:
    @ac.model
    def funnel() -> None:
        v = ac.sample("v", dist.Normal(0, 3))
        ac.sample("x", dist.Normal(np.zeros(4), jnp.exp(v / 2)))

    narrow = infer.fit(funnel(), **QUIET)
    assert "high_pareto_k" in [notice.code for notice in narrow.notices]
    bent = infer.fit(funnel(), infer.guides.Flow(), **QUIET)
    assert bent.log_evidence_bound > narrow.log_evidence_bound + 1
    assert bent.effective_draws > 4 * narrow.effective_draws
