"""Hold paths against posteriors that are known, against each other, and against interruptions.

Statistical tests compare 20 numbers with closed forms or sums over grids, within 6 standard errors (2e-9 each).
"""

import ctrl_c
import jax.numpy as jnp
import numpy as np
import pytest
import ridge
from laws import each
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import InitializationError, OptionError, SamplingError, StorageError
from accord.density import LogDensity
from accord.vi.pathfinder.path import DrawStretch

SIGMA = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
EFFECTS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])


@ac.model
def line(x, y):
    with ac.plate("coefficient", 2):
        b = ac.sample("b", dist.Normal(0.0, 2.0))
    ac.deterministic("top", b[0] + 4 * b[1])
    with ac.plate("n", len(x)):
        ac.sample("y", dist.Normal(b[0] + b[1] * x, 1.0), obs=y)


@ac.model
def eight_schools(sigma, y):
    mu = ac.sample("mu", dist.Normal(0.0, 5.0))
    tau = ac.sample("tau", dist.HalfCauchy(5.0))
    with ac.plate("school", len(y)):
        z = ac.sample("z", dist.Normal(0.0, 1.0))
        ac.sample("y", dist.Normal(mu + tau * z, sigma), obs=y)


@ac.model
def centred_schools(sigma, y):
    mu = ac.sample("mu", dist.Normal(0.0, 5.0))
    tau = ac.sample("tau", dist.HalfCauchy(5.0))
    with ac.plate("school", len(y)):
        theta = ac.sample("theta", dist.Normal(mu, tau))
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


@ac.model
def two_modes():
    x = ac.sample("x", dist.Normal(0.0, 1e4))
    right = jnp.log(0.8) - 0.5 * ((x - 3) / 0.25) ** 2 - jnp.log(0.25)
    ac.factor("f", jnp.logaddexp(right, jnp.log(0.2) - 0.5 * (x + 3) ** 2))


@ac.model
def one_of_two(y):
    mu = ac.sample("mu", dist.Normal(0.0, 1.0))
    with ac.plate("n", len(y)):
        kind = ac.sample("kind", dist.Bernoulli(0.3))
        ac.sample("y", dist.Normal(mu + 2 * kind, 1.0), obs=y)


@ac.model
def nowhere():
    x = ac.sample("x", dist.Normal(0.0, 1.0))
    ac.factor("f", jnp.log(-1 - x**2))


def fitted_line():
    return line(np.arange(5.0), np.array([1, 2, 3, 2.5, 1.5]))


def found(model, **options):
    return infer.pathfinder(model, quiet=True, **options)


def same(first, second):
    assert list(first) == list(second)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])
    np.testing.assert_array_equal(first.log_weights, second.log_weights)
    assert first.bounds == second.bounds


def weighted_mean(paths, values):
    """Return the mean of values of candidates, and its standard error."""
    weights = np.exp(paths.log_weights - paths.log_weights.max())
    weights /= weights.sum()
    mean = weights @ values
    return mean, np.sqrt(np.sum((weights * (values - mean)) ** 2))


def test_a_normal_posterior_is_found_with_its_evidence():
    paths = found(fitted_line())
    mean = np.array([1.487778956, 0.218916047])
    covariance = np.array([[0.514346440, -0.170031881], [-0.170031881, 0.089266738]])
    drawn, variances = paths["b"][0], np.diag(covariance)
    candidates = len(paths.log_weights)
    assert paths.pareto_k < 0.5 and paths.complete and not paths.notices
    # Drawn again from draws: both chances count.
    per_draw = 1 / len(drawn) + 1 / paths.effective_draws
    assert np.all(np.abs(drawn.mean(axis=0) - mean) < 6 * np.sqrt(variances * per_draw))
    spread = np.sqrt((np.outer(variances, variances) + covariance**2) * per_draw)
    assert np.all(np.abs(np.cov(drawn.T) - covariance) < 6 * spread)
    log_evidence = np.log(np.mean(np.exp(paths.log_weights)))
    error = np.sqrt((candidates / paths.effective_draws - 1) / candidates)
    assert abs(log_evidence + 9.475921940) < 6 * error
    np.testing.assert_allclose(paths["top"][0], drawn[:, 0] + 4 * drawn[:, 1])


def test_a_bound_is_below_the_evidence_by_its_divergence():
    paths = found(fitted_line())
    for number, bound in paths.bounds.items():
        assert bound < -9.475921940 + 6 * paths.errors[number]
        assert bound > -9.6


def test_modes_count_by_their_mass_and_not_by_the_paths_that_came_there():
    paths = found(two_modes())
    right = [normal.mean[0] > 0 for normal in paths.normals.values()]
    assert 0 < sum(right) < 4  # of 8, for four fifths of the mass
    share, error = weighted_mean(paths, paths.candidates["x"] > 0)
    assert abs(share - 0.8) < 6 * error and error < 0.02


def test_discrete_unknowns_are_summed_out():
    y = np.array([0.2, 1.9, -0.4, 2.8])
    paths = found(one_of_two(y))
    grid = np.linspace(-6, 6, 4001)
    each_y = 0.7 * stats.norm.pdf(y[:, None], grid) + 0.3 * stats.norm.pdf(y[:, None], grid + 2)
    heights = stats.norm.pdf(grid) * each_y.prod(axis=0)
    mean, error = weighted_mean(paths, paths.candidates["mu"])
    assert abs(mean - np.sum(grid * heights) / np.sum(heights)) < 6 * error
    assert paths["kind"].shape == (1, 1000, 4)


def test_a_posterior_whose_mode_is_far_from_its_mass_has_a_notice_and_rough_means():
    paths = found(eight_schools(SIGMA, EFFECTS))
    assert paths.pareto_k > 0.7
    assert "high_pareto_k" in [notice.code for notice in paths.notices]
    # Posterior means and standard deviations by long runs: what Pareto k warns of is an error of this order.
    for name, mean, sd in (("mu", 4.3968, 3.3), ("tau", 3.5977, 3.2)):
        assert abs(np.mean(paths[name]) - mean) < sd


def test_many_dimensions_need_no_matrix_of_them_all():
    @ac.model
    def wide():
        with ac.plate("i", 3000):
            ac.sample("x", dist.Normal(jnp.linspace(-1, 1, 3000), 0.5))

    paths = found(wide(), paths=1, draws=50)
    assert paths.pareto_k < 0.7
    assert paths.bounds[0] == pytest.approx(0, abs=1e-3)
    assert paths.normals[0].basis.shape[1] <= 20


def test_a_path_does_not_depend_on_others_nor_on_where_it_runs():
    model = eight_schools(SIGMA, EFFECTS)
    three = found(model, paths=3, draws=300, executor=infer.Serial())
    same(three, found(model, paths=3, draws=300, executor=infer.Threads()))
    one = found(model, paths=1, draws=300)
    assert one.bounds[0] == three.bounds[0]
    for name, values in one.candidates.items():
        np.testing.assert_array_equal(values, three.candidates[name][:300])


@pytest.mark.slow
def test_processes_draw_the_same():
    model = eight_schools(SIGMA, EFFECTS)
    same(found(model, paths=3, draws=300), found(model, paths=3, draws=300, executor=infer.Processes(2)))


def test_single_precision_finds_the_same_posterior():
    paths = found(fitted_line(), precision="float32")
    assert paths["b"].dtype == np.float32
    assert paths.pareto_k < 0.5
    assert max(paths.bounds.values()) == pytest.approx(-9.4759, abs=0.05)


@each(
    {
        "nothing is left": (0, 0),
        "parts of climbs are left": (1, 2),
        "climbs are left": (..., ...),
    },
    slow=["nothing is left", "climbs are left"],
)
def test_paths_go_on_where_they_were(kept, tmp_path):
    model = centred_schools(SIGMA, EFFECTS)
    whole = found(model, paths=2, draws=300, store=infer.RunFolder(tmp_path / "run"))
    for number, count in enumerate(kept):
        segments = sorted((tmp_path / f"run/chain-{number:04d}").glob("segment-*"))
        assert len(segments) > 5  # two of draws
        for segment in segments[-2 + number if count is ... else count :]:
            segment.unlink()
    (tmp_path / "run/record-notices.json").unlink()
    part = infer.load(tmp_path / "run")
    assert not part.complete
    assert "interrupted" in [notice.code for notice in part.notices]
    resumed = infer.resume(tmp_path / "run", model, quiet=True)
    assert resumed.complete
    same(whole, resumed)
    again = infer.load(tmp_path / "run")
    same(whole, again)
    assert again.notices == whole.notices


def test_ctrl_c_returns_the_paths_that_have_draws():
    with ctrl_c.pressed_once(lambda stretch: True, kind=DrawStretch) as pressed:
        paths = found(fitted_line(), draws=100, executor=infer.Serial())
    assert pressed and not paths.complete
    assert 0 < len(paths.bounds) < 8
    assert paths["b"].shape == (1, 100, 2)
    assert "interrupted" in [notice.code for notice in paths.notices]


def test_another_model_is_not_taken_up(tmp_path):
    found(fitted_line(), store=infer.RunFolder(tmp_path / "run"))
    with pytest.raises(StorageError, match="started differently"):
        infer.resume(tmp_path / "run", line(np.arange(5.0), np.zeros(5)), quiet=True)
    with pytest.raises(OptionError, match=r"sampler: the run is one of infer\.pathfinder"):
        infer.resume(tmp_path / "run", fitted_line(), sampler=infer.NUTS(), quiet=True)
    whole = infer.resume(tmp_path / "run", fitted_line(), quiet=True)
    assert infer.predict(whole)["y"].shape == (1, 1000, 5)


def test_draws_are_taken_where_draws_are():
    paths = found(fitted_line(), draws=200)
    assert infer.predict(paths)["y"].shape == (1, 200, 5)
    assert infer.log_likelihood(paths)["y"].shape == (1, 200, 5)
    assert list(paths.summary()["mean"]) == pytest.approx([*paths["b"][0].mean(axis=0), paths["top"].mean()])
    assert paths.to_dataframe().shape == (200, 3)
    assert paths.to_arviz()["posterior"]["b"].shape == (1, 200, 2)
    draws = infer.sample(fitted_line(), init=paths, draws=20, warmup=20, chains=2, quiet=True)
    assert draws["b"].shape == (2, 20, 2)
    assert repr(paths) == f"<Paths of line: 8 paths, 200 draws; Pareto k {paths.pareto_k:.2g}>"


def test_chains_begin_at_draws_or_at_each_path_where_few_candidates_have_all_the_weight():
    good = found(fitted_line())
    at = [start["b"] for start in good.starts(range(4), 0)]
    assert all(any(np.array_equal(each, drawn) for drawn in good["b"][0]) for each in at)
    assert list(good.starts([0], 0)[0]) == ["b"]
    bad = found(eight_schools(SIGMA, EFFECTS))
    for chain, start in enumerate(bad.starts(range(8), 0)):
        assert start["mu"] in bad.candidates["mu"][1000 * chain : 1000 * (chain + 1)]


@ac.model
def standard():
    ac.sample("x", dist.Normal(0.0, 1.0))


def test_a_path_that_begins_at_a_mode_knows_no_curvature_and_is_left_out():
    with pytest.raises(SamplingError, match="its climb ended where it began"):
        found(standard(), init={"x": 0.0})
    paths = found(standard(), paths=2, init=[{"x": 0.0}, {"x": 1.0}])
    assert list(paths.bounds) == [1] and paths["x"].shape == (1, 1000)
    assert [notice.code for notice in paths.notices] == ["path_failed"]


def test_a_density_that_curves_nowhere_has_no_normal():
    def slope(x):
        return jnp.where(x < 3.0, x, -jnp.inf)

    with pytest.raises(SamplingError, match="curves nowhere downward"):
        found(LogDensity.from_function(slope, jnp.zeros(())))


def test_a_log_density_of_ones_own_is_a_target():
    precise = np.array([[2.0, 1.2], [1.2, 1.0]])
    paths = found(LogDensity.from_function(lambda x: -0.5 * x @ precise @ x, jnp.zeros(2)))
    assert paths["x"].shape == (1, 1000, 2) and paths.pareto_k < 0.5
    for place, variance in enumerate(np.diag(np.linalg.inv(precise))):
        mean, error = weighted_mean(paths, paths.candidates["x"][:, place] ** 2)
        assert abs(mean - variance) < 6 * error


def test_no_finite_start_is_explained():
    with pytest.raises(InitializationError, match=r"(?s)path 0: no starting point.*'f'"):
        found(nowhere())


@each(
    {
        "no path": ({"paths": 0}, ["paths", "at least 1", "0"]),
        "half a draw": ({"draws": 1.5}, ["draws", "whole number", "1.5"]),
        "seed": ({"seed": -1}, ["seed", "-1"]),
        "executor": (
            {"executor": infer.Devices()},
            ["infer.pathfinder", "Devices", "Each path", "Threads()"],
        ),
        "unknown": ({"path": 2}, ["'path'", "Did you mean 'paths'?"]),
        "init": ({"init": 3}, ["init", "3"]),
        "store": ({"store": "run"}, ["store", "RunFolder"]),
    }
)
def test_bad_options_are_refused(case):
    options, words = case
    with pytest.raises(OptionError) as raised:
        found(fitted_line(), **options)
    for word in words:
        assert word in str(raised.value)


def test_a_model_that_was_not_called_is_refused():
    with pytest.raises(OptionError, match="Call it with its data"):
        found(line)


@pytest.mark.slow
def test_paths_follow_a_ridge_to_the_mode():
    paths = infer.pathfinder(ridge.trend(ridge.YEAR, ridge.Y), executor=infer.Serial(), quiet=True)
    bounds = [*paths.bounds.values()]
    assert np.ptp(bounds) < 1 and paths.pareto_k < 0.7
