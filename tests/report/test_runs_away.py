"""Check what is said of draws that run away under a flat prior, and that other wide draws are left alone."""

import numpy as np
import pytest
from scipy.signal import lfilter

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.notice import Notice
from accord.distributions import constraints
from accord.report import examine

SHAPE = 4, 500


def notices(draws: np.ndarray, flat: tuple[str, ...] = ("a",)) -> dict[str, Notice]:
    """Notices of a run with these draws of a site, shape `(chain, draw)`, by code."""
    found = examine({"a": draws}, {"lp": np.zeros(draws.shape)}, latents=("a",), flat=flat)
    return {each.code: each for each in found}


def ways_apart(shape: tuple[int, int] = SHAPE) -> np.ndarray:
    """Random walks in which steps have the size of a trillion."""
    return 1e12 * np.cumsum(np.random.default_rng(0).normal(size=shape), axis=1)


def test_sizes_of_many_orders_are_told_with_their_chains() -> None:
    rng = np.random.default_rng(1)
    draws = rng.normal(size=SHAPE)
    draws[[1, 3]] = np.exp(rng.uniform(0, 40, (2, 500)))
    found = notices(draws)
    assert found["runs_away"].severity == "error" and found["runs_away"].sites == ("a",)
    assert "in chains 1, 3: in chain" in found["runs_away"].message
    assert "Give 'a' a proper prior" in found["runs_away"].remedy
    assert found["r_hat"].remedy == "Draws of 'a' run away: more of them do not help."


@pytest.mark.parametrize("num_chains", [4, 128])
def test_chains_that_go_their_own_ways_are_in_no_modes(num_chains: int) -> None:
    found = notices(ways_apart((num_chains, 500)) + 1e15 * np.arange(num_chains)[:, None])
    assert "apart, and the chains disagree (R-hat" in found["runs_away"].message
    assert "chains_apart" not in found


def test_what_else_is_wrong_is_said_beside_it() -> None:
    rng = np.random.default_rng(2)
    other = rng.normal(size=SHAPE) + 100 * np.array([0, 0, 1, 1])[:, None]
    sites = {"a": ways_apart(), "m": other}
    found = {each.code: each for each in examine(sites, {"lp": np.zeros(SHAPE)}, latents=sites, flat=("a",))}
    assert found["runs_away"].sites == ("a",) and found["chains_apart"].sites == ("m",)
    assert "Each chain by itself is the same throughout" in found["r_hat"].remedy


def sound() -> dict[str, np.ndarray]:
    """Draws that are wide, far away or apart, and do not run away."""
    rng = np.random.default_rng(3)
    normal = rng.normal(size=SHAPE)
    slow = np.stack([lfilter([1.0], [1.0, -0.9], row) for row in normal])
    return {
        "far units": 3e8 + 1e5 * normal,
        "large units": 1e12 * normal,
        "large units, few draws": 1e12 * normal[:, :10],
        "large units, slow": 1e12 * slow[:, :200],
        "Cauchy": rng.standard_cauchy(SHAPE),
        "1/x^2": 1 / rng.uniform(size=SHAPE),
        "wide scale": 1e-8 * np.exp(3 * normal),
        "zero": np.zeros(SHAPE),
        "counts": rng.poisson(1.0, SHAPE),
        "modes": normal + 100 * np.arange(4)[:, None],
        "NaN": np.full(SHAPE, np.nan),
        "no chains": np.zeros((0, 500)),
        "no draws": np.zeros((4, 0)),
    }


@pytest.mark.parametrize("kind", sound())
def test_other_draws_are_left_alone(kind: str) -> None:
    """The ends of 90% of the sizes differ 160 times for a Cauchy, and 400 times for 1/x^2."""
    assert "runs_away" not in notices(sound()[kind])


def test_whole_numbers_may_often_be_zero() -> None:
    counts = np.random.default_rng(5).poisson(1.0, SHAPE).astype(float)
    found = examine({"a": counts}, {"lp": np.zeros(SHAPE)}, latents=("a",), flat=("a",), discrete=("a",))
    assert "runs_away" not in {each.code for each in found}


def test_a_proper_prior_is_left_alone() -> None:
    assert "runs_away" not in notices(ways_apart(), flat=())


def test_modes_under_a_flat_prior_do_not_ask_for_what_would_refuse_it() -> None:
    draws = np.random.default_rng(4).normal(size=SHAPE) + 100 * np.array([0, 0, 1, 1])[:, None]
    assert "infer.sample(model, infer.Tempered())" in notices(draws, flat=())["chains_apart"].remedy
    remedy = notices(draws)["chains_apart"].remedy
    assert "Give 'a' a proper prior, with which `infer.Tempered()` moves between modes" in remedy


@ac.model
def priors(y):
    ac.sample("anywhere", dist.ImproperUniform(constraints.real, (), ()))
    with ac.plate("part", 2):
        ac.sample("above", dist.ImproperUniform(constraints.greater_than(1.0), (), ()))
        ac.sample("within", dist.ImproperUniform(constraints.interval(0.0, 2.0), (), ()))
    ac.sample("correlation", dist.ImproperUniform(constraints.corr_cholesky, (), (2, 2)))
    slope = ac.sample("slope", dist.Normal(0, 1))
    ac.sample("y", dist.Normal(slope, 1), obs=y)


def test_a_layout_tells_which_priors_are_flat_without_an_end() -> None:
    entries = priors(0.5).log_density().layout.sites
    assert {entry.name for entry in entries if entry.is_flat} == {"anywhere", "above"}


@ac.model
def constant_likelihood():
    a = ac.sample("a", dist.ImproperUniform(constraints.real, (), ()))
    ac.factor("nothing", 0.0 * a)


def test_a_run_and_its_store_name_the_unknown_that_nothing_bounds(tmp_path) -> None:
    """Where nothing bends a trajectory, steps grow without end: draws ran away with all of 40 seeds."""
    options = dict(draws=100, warmup=100, seed=1, progress=False, quiet=True)
    draws = infer.sample(constant_likelihood(), store=infer.RunFolder(tmp_path / "run"), **options)
    told = [each for each in draws.notices if each.code == "runs_away"]
    assert [each.sites for each in told] == [("a",)]
    assert draws.manifest["layout"]["sites"][0]["is_flat"]
    assert infer.load(tmp_path / "run").notices == draws.notices
