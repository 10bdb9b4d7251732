"""Hold the walk on the estimates of particle filters against exact posteriors, and its promises.

Averages are compared with exact values within 6 standard errors, a false-alarm rate of 2e-9 for each: mean and standard
deviation of the slope and means of 5 states, with two numbers of particles and with some that look at the data; and 2
means of a discrete series.
"""

import jax.numpy as jnp
import numpy as np
import particle_models as models
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import ModelError, OptionError, SiteError, StorageError

SERIES = models.autoregression(models.Y)
KNOWN = infer.PMMH(4, estimate_sd=0.8)  # needs no pilot
OPTIONS = {"draws": 60, "warmup": 40, "chains": 2, "seed": 2, "progress": False, "quiet": True}


def exact_states():
    """Means of the states given the data alone: of the normal posterior for each slope, by quadrature over slopes."""
    slopes, weights = np.polynomial.legendre.leggauss(60)
    heights, means = [], []
    for slope in slopes:
        root = np.eye(5)  # each state by the noises up to it
        for t in range(1, 5):
            root[t] = slope * root[t - 1]
            root[t, t] = 1.0
        root = root * np.array([1.0, *[0.5] * 4])
        covariance = root @ root.T
        total = covariance + np.eye(5)
        heights.append(
            np.exp(-0.5 * models.Y @ np.linalg.solve(total, models.Y)) / np.sqrt(np.linalg.det(total))
        )
        means.append(covariance @ np.linalg.solve(total, models.Y))
    shares = weights * np.array(heights) / np.sum(weights * heights)
    assert abs(shares @ slopes - models.SLOPE_MEAN) < 1e-8
    return shares @ np.array(means)


def given_observation(values, x, y_t):
    """The distribution of a state given the last one and what is observed."""
    precision = 1 / 0.25 + 1.0
    return {"x": dist.Normal((values["a"] * x / 0.25 + y_t) / precision, precision**-0.5)}


def next_observation(values, x, y_t):
    return dist.Normal(values["a"] * x, 1.25**0.5).log_prob(y_t)


LOOKING = {"proposal": given_observation, "lookahead": next_observation}


@pytest.mark.slow
@pytest.mark.parametrize(("particles", "functions"), [(3, {}), (None, {}), (3, LOOKING)])
def test_parameters_and_states_have_their_exact_moments(particles, functions):
    options = OPTIONS | {"draws": 8000, "warmup": 500, "chains": 4}
    draws = infer.sample(SERIES, infer.PMMH(particles, **functions), **options)
    table = draws.summary().to_dataframe()
    row = table.loc["a"]
    assert abs(row["mean"] - models.SLOPE_MEAN) < 6 * row["mcse_mean"] and row["mcse_mean"] < 0.02
    assert abs(row["sd"] - models.SLOPE_SD) < 6 * row["mcse_sd"] and row["mcse_sd"] < 0.02
    states = table.loc[["first", *(f"x[{t}]" for t in range(4))]]
    error = states["mean"] - exact_states()
    assert np.all(np.abs(error) < 6 * states["mcse_mean"]) and np.all(states["mcse_mean"] < 0.02)
    assert {notice.code for notice in draws.notices} <= {"estimate_exact"}


@ac.model
def switching(y):
    """A hidden Markov chain of two states with an unknown chance of leaving one."""
    leaving = ac.sample("leaving", dist.Beta(2.0, 3.0))

    def step(z, y_t):
        z = ac.sample("z", dist.Bernoulli(jnp.where(z == 1, 1 - leaving, leaving)))
        ac.sample("y", dist.Normal(3.0 * z, 1.0), obs=y_t)
        return z, None

    ac.scan(step, 0, y)


@pytest.mark.slow
def test_states_may_be_discrete():
    y = np.array([0.1, 2.2, 3.1, 2.8, 0.3, -0.5, 1.4])
    draws = infer.sample(switching(y), infer.PMMH(10), **(OPTIONS | {"draws": 8000, "warmup": 500}))
    # The chain is summed out for each chance of a grid.
    grid = (np.arange(2000) + 0.5) / 2000
    forward = np.array([np.ones_like(grid), np.zeros_like(grid)])
    joint = grid * (1 - grid) ** 2
    for y_t in y:
        moved = np.array(
            [
                forward[0] * (1 - grid) + forward[1] * grid,
                forward[0] * grid + forward[1] * (1 - grid),
            ]
        )
        forward = moved * np.exp(-0.5 * (y_t - np.array([0.0, 3.0])) ** 2)[:, None]
        last = forward
    weights = joint * last.sum(axis=0)
    mean = np.sum(weights * grid) / np.sum(weights)
    row = draws.summary().to_dataframe().loc["leaving"]
    assert abs(row["mean"] - mean) < 6 * row["mcse_mean"] and row["mcse_mean"] < 0.01
    last_state = np.sum(joint * last[1]) / np.sum(weights)
    assert draws["z"].dtype.kind == "i" and set(np.unique(draws["z"])) == {0, 1}
    found = draws.summary().to_dataframe().loc[f"z[{len(y) - 1}]"]
    assert abs(found["mean"] - last_state) < 6 * found["mcse_mean"] and found["mcse_mean"] < 0.02


def test_an_estimate_and_a_trajectory_stay_until_a_proposal_is_accepted():
    draws = infer.sample(SERIES, KNOWN, **OPTIONS)
    kept = np.asarray(draws.stats["log_density_estimate"])
    has_moved = draws["a"][:, 1:] != draws["a"][:, :-1]
    assert 10 < has_moved.sum() < has_moved.size - 10
    np.testing.assert_array_equal(kept[:, 1:] != kept[:, :-1], has_moved)
    np.testing.assert_array_equal(np.any(draws["x"][:, 1:] != draws["x"][:, :-1], axis=2), has_moved)
    np.testing.assert_array_equal(draws["first"][:, 1:] != draws["first"][:, :-1], has_moved)
    assert draws.tuning["proposal_scale"].shape == (2, 1)  # of the parameter alone


@pytest.mark.slow
def test_the_estimate_is_of_prior_jacobian_and_likelihood():
    # With many particles it is nearly exact.
    many = infer.sample(SERIES, infer.PMMH(3000, estimate_sd=0.03), **(OPTIONS | {"draws": 3, "chains": 1}))
    a, found = many["a"][0, -1], many.stats["log_density_estimate"][0, -1]
    exact = infer.filter(SERIES, {"a": float(a)}, particles=20_000, seed=1).log_likelihood
    assert abs(found - (exact + np.log(0.5) + np.log((1 + a) * (1 - a) / 2))) < 0.3


@pytest.mark.slow
def test_draws_are_the_same_wherever_and_after_a_stop(tmp_path):
    whole = infer.sample(SERIES, KNOWN, **OPTIONS)
    others = {
        "processes": infer.sample(SERIES, KNOWN, **(OPTIONS | {"executor": infer.Processes(2)})),
        "alone": infer.sample(SERIES, KNOWN, **(OPTIONS | {"chains": [1], "executor": infer.Serial()})),
    }
    infer.sample(SERIES, KNOWN, **(OPTIONS | {"draws": 20, "store": infer.RunFolder(tmp_path / "run")}))
    others["later"] = infer.resume(tmp_path / "run", SERIES, progress=False, quiet=True).extend(40)
    for name in whole:
        for key, other in others.items():
            np.testing.assert_array_equal(whole[name][1:] if key == "alone" else whole[name], other[name])
    stats = [np.asarray(each.stats["log_density_estimate"]) for each in (whole, others["later"])]
    np.testing.assert_array_equal(*stats)
    wide = [
        infer.sample(SERIES, KNOWN, **(OPTIONS | {"chains": 3, "lanes": 2, "executor": where}))
        for where in (infer.Serial(), infer.Threads(2))
    ]
    np.testing.assert_array_equal(wide[0]["x"], wide[1]["x"])


@pytest.mark.slow
def test_a_pilot_is_made_once_and_depends_on_the_seed_alone(tmp_path, monkeypatch):
    store = infer.RunFolder(tmp_path / "run")
    first = infer.sample(SERIES, infer.PMMH(), **(OPTIONS | {"draws": 20, "store": store}))
    other = infer.sample(
        SERIES, infer.PMMH(), **(OPTIONS | {"draws": 20, "chains": [1], "executor": infer.Serial()})
    )
    sampler = first.manifest["sampler"]
    assert sampler == other.manifest["sampler"] and 2 <= sampler["particles"] <= 16
    np.testing.assert_array_equal(first["x"][1:], other["x"])
    whole = infer.sample(SERIES, infer.PMMH(), **OPTIONS)

    def never(*_):
        raise AssertionError("a run that is taken up has its pilot's findings")

    monkeypatch.setattr("accord.mcmc.pilot._measured", never)
    for given in ({}, {"sampler": infer.PMMH()}):
        later = infer.resume(tmp_path / "run", SERIES, progress=False, quiet=True, **given)
        assert later.manifest["sampler"] == sampler
    np.testing.assert_array_equal(later.extend(40)["x"], whole["x"])


@ac.model
def precise(y):
    """Observations with little noise, of which few particles are near."""
    level = ac.sample("level", dist.Normal(0.0, 1.0))

    def step(x, y_t):
        x = ac.sample("x", dist.Normal(level + 0.5 * (x - level), 1.0))
        ac.sample("y", dist.Normal(x, 0.3), obs=y_t)
        return x, None

    ac.scan(step, 0.0, y)


PRECISE = precise(0.8 * np.random.default_rng(3).normal(size=30))


@pytest.mark.slow
def test_the_pilot_takes_as_many_particles_as_the_noise_asks_for():
    draws = infer.sample(PRECISE, infer.PMMH(), **OPTIONS)
    sampler = draws.manifest["sampler"]
    assert 0.85 < sampler["estimate_sd"] < 1.65 and sampler["particles"] > 8
    assert draws.manifest["settings"]["init"] == {"kind": "from_pilot"}
    finer = infer.sample(PRECISE, infer.PMMH(4 * sampler["particles"]), **(OPTIONS | {"chains": 1}))
    # The variance is inverse to the number of particles; 60 estimates tell it within a third or so.
    assert 0.3 < finer.manifest["sampler"]["estimate_sd"] / sampler["estimate_sd"] < 0.75


@pytest.mark.slow
def test_particles_that_look_at_the_data_make_the_estimate_less_noisy():
    def looking(values, x, y_t):
        mean, precision = values["level"] + 0.5 * (x - values["level"]), 1 + 1 / 0.09
        return {"x": dist.Normal((mean + y_t / 0.09) / precision, precision**-0.5)}

    draws = infer.sample(PRECISE, infer.PMMH(proposal=looking), **(OPTIONS | {"draws": 10}))
    alone = infer.sample(PRECISE, infer.PMMH(), **(OPTIONS | {"draws": 10}))
    # Four thirds is how near a pilot comes.
    assert draws.manifest["sampler"]["particles"] < alone.manifest["sampler"]["particles"] / 2


@pytest.mark.slow
def test_a_run_with_functions_is_taken_up_with_them_alone(tmp_path):
    sampler = infer.PMMH(4, estimate_sd=0.8, **LOOKING)
    whole = infer.sample(SERIES, sampler, **OPTIONS)
    infer.sample(SERIES, sampler, **(OPTIONS | {"draws": 20, "store": infer.RunFolder(tmp_path / "run")}))
    with pytest.raises(StorageError, match="proposal given_observation, and"):
        infer.resume(tmp_path / "run", SERIES, progress=False, quiet=True)
    later = infer.resume(tmp_path / "run", SERIES, sampler=sampler, progress=False, quiet=True)
    np.testing.assert_array_equal(later.extend(40)["x"], whole["x"])


@pytest.mark.slow
def test_too_noisy_and_too_exact_estimates_are_told():
    def codes(particles, **options):
        draws = infer.sample(PRECISE, infer.PMMH(particles), **(OPTIONS | {"draws": 150} | options))
        return {notice.code for notice in draws.notices}

    assert "estimate_noisy" in codes(6)
    assert "estimate_exact" in codes(3000, chains=1)


@ac.model
def undefined_above(y):
    """A likelihood that is NaN above one half."""
    m = ac.sample("m", dist.Normal(0.0, 1.0))

    def step(x, y_t):
        x = ac.sample("x", dist.Normal(m, 1.0))
        ac.factor("f", jnp.where(x > 0.5, jnp.nan, dist.Normal(x, 1.0).log_prob(y_t)))
        return x, None

    ac.scan(step, 0.0, y)


@pytest.mark.slow
def test_a_weight_that_is_no_number_is_zero_and_told():
    draws = infer.sample(undefined_above(np.array([0.3, 0.9])), infer.PMMH(20, estimate_sd=1.0), **OPTIONS)
    assert draws["x"].max() <= 0.5 and len(np.unique(draws["m"])) > 10
    assert "weight_not_finite" in {notice.code for notice in draws.notices}


@ac.model
def impossible(y):
    low = ac.sample("low", dist.Uniform(0.0, 1.0))

    def step(x, y_t):
        x = ac.sample("x", dist.Uniform(low, 1.0))
        ac.sample("y", dist.Uniform(0.0, x), obs=y_t)
        return x, None

    ac.scan(step, 0.0, y)


@ac.model
def counted(y):
    kind = ac.sample("kind", dist.Bernoulli(0.5))
    ac.sample("m", dist.Normal(0.0, 1.0))
    ac.scan(lambda x, y_t: (ac.sample("x", dist.Normal(x + kind, 1.0)), None), 0.0, y)


@ac.model
def no_series(y):
    m = ac.sample("m", dist.Normal(0.0, 1.0))
    ac.sample("y", dist.Normal(m, 1.0), obs=y[0])


REFUSED = {
    "one particle": (lambda: infer.PMMH(1), OptionError, ["at least 2"]),
    "a proposal": (
        lambda: infer.PMMH(proposal="normal"),
        OptionError,
        ["proposal", "(values, carry, x)", "normal"],
    ),
    "target": (lambda: infer.PMMH(target_accept=1.5), OptionError, ["target_accept", "(0, 1)"]),
    "no parameter": (
        lambda: infer.sample(models.autoregression(models.Y, 0.9), KNOWN, **OPTIONS),
        OptionError,
        ["'x'", "no parameter"],
    ),
    "no series": (lambda: infer.sample(no_series(models.Y), KNOWN, **OPTIONS), SiteError, ["ac.scan", "'m'"]),
    "a discrete parameter": (
        lambda: infer.sample(counted(models.Y), KNOWN, **OPTIONS),
        OptionError,
        ["'kind'", "discrete"],
    ),
    "a block": (
        lambda: infer.Gibbs({"a": KNOWN, ...: infer.NUTS()}),
        OptionError,
        ["PMMH", "Use it alone"],
    ),
}


@each(REFUSED)
def test_what_does_not_fit_is_refused(case):
    call, error, words = case
    with pytest.raises(error) as raised:
        call()
    assert all(word in str(raised.value) for word in words), str(raised.value)


@pytest.mark.slow
def test_a_pilot_that_finds_no_possible_place_says_so():
    with pytest.raises(ModelError, match="all became impossible"):
        infer.sample(impossible(np.array([0.1, 2.0])), infer.PMMH(20), **OPTIONS)
