"""Let one chain fail, at its start or later: the others draw what they would have drawn."""

import jax.numpy as jnp
import numpy as np
import pytest
from fault_models import (
    QUIET,
    Child,
    needs_signals,
    resume,
    sample,
    wall,
    watched_target,
    watcher,
)

from accord import infer
from accord.core.errors import InitializationError
from accord.density import LogDensity
from accord.mcmc.start.uniform import UniformPoints

SEED = 4
RUN = dict(draws=300, warmup=100, seed=SEED, **QUIET)


def starts(chains) -> np.ndarray:
    """Every point at which these chains would look for a start."""
    return np.stack([
        UniformPoints().position(SEED, chain, attempt, 3)
        for chain in chains
        for attempt in range(100)
    ])  # fmt: skip


def without_start(*chains) -> LogDensity:
    """`wall`, which is not a number wherever these chains could start."""
    bad = starts(chains)

    def density(x):
        return jnp.where(jnp.any(jnp.all(x[None] == bad, axis=1)), jnp.nan, wall(x))

    return LogDensity.from_function(density, np.zeros(3))


@pytest.fixture(scope="module")
def expected():
    return sample(without_start(1), chains=[0, 2], **RUN)


def assert_one_failed(draws, expected, words):
    assert draws.chains == (0, 2)
    for name, array in expected.sites.items():
        np.testing.assert_array_equal(draws[name], array)
    for name, array in expected.stats.items():
        np.testing.assert_array_equal(draws.stats[name], array)
    (failure,) = draws.lost_chains
    assert failure["chains"] == [1] and words in failure["error"]
    assert not draws.complete


@pytest.mark.parametrize("executor", [infer.Serial(), infer.Threads(3)], ids=["serial", "threads"])
def test_a_chain_without_a_start_harms_no_other(tmp_path, expected, executor):
    folder = tmp_path / "run"
    store = infer.RunFolder(folder)
    draws = sample(without_start(1), chains=3, executor=executor, store=store, **RUN)
    assert_one_failed(draws, expected, "no starting point")
    (notice,) = [notice for notice in draws.notices if notice.code == "chain_failed"]
    assert notice.severity == "error" and "chain 1" in notice.message and "chains=[1]" in notice.remedy
    loaded = infer.load(folder)
    assert_one_failed(loaded, expected, "no starting point")
    assert [notice.code for notice in loaded.notices] == [notice.code for notice in draws.notices]
    assert_one_failed(resume(folder, without_start(1), **QUIET), expected, "no starting point")


def test_the_failure_is_reproduced_by_running_that_chain_alone():
    with pytest.raises(InitializationError, match="chain 1: no starting point"):
        sample(without_start(1), chains=[1], **RUN)


def test_chains_that_have_all_failed_raise(tmp_path):
    with pytest.raises(InitializationError, match="chain 0: no starting point"):
        sample(without_start(0, 1), chains=2, store=infer.RunFolder(tmp_path / "run"), **RUN)


def test_what_is_left_can_be_extended(expected):
    draws = sample(without_start(1), chains=3, **(RUN | dict(draws=200))).extend(100)
    assert_one_failed(draws, expected, "no starting point")


def test_failures_of_two_resumptions_are_both_known(tmp_path, expected):
    """The record of failures grows: a chain that failed before is not forgotten."""
    folder = tmp_path / "run"
    sample(without_start(1), chains=[0, 1], store=infer.RunFolder(folder), **RUN)
    run = infer.RunFolder(folder).reopen()
    run.record(
        "lost_chains", [*run.records["lost_chains"], {"chains": [7], "draw": 0, "error": "of another time"}]
    )
    run.record("extended", 400)
    run.close()
    draws = resume(folder, without_start(1), **QUIET)
    assert [failure["chains"] for failure in draws.lost_chains] == [[1], [7]]


def test_a_chain_without_a_start_harms_none_that_shares_its_program():
    draws = sample(without_start(1), chains=4, lanes=2, **RUN)
    assert draws.chains == (0, 2, 3)
    assert [failure["chains"] for failure in draws.lost_chains] == [[1]]
    alone = sample(without_start(1), chains=[0, 2, 3], lanes=2, **RUN)
    np.testing.assert_array_equal(draws["x"], alone["x"])


@needs_signals
def test_a_failed_start_is_explained_whatever_the_precision_of_the_user(tmp_path):
    """In a process where JAX computes in float32, as it does unless told otherwise."""
    child = Child.start(tmp_path / "programs", explain_in_float32)
    assert child.hear()[::2] == ("done", [True, True])
    child.end()


def explain_in_float32():
    draws = sample(without_start(1), chains=2, **RUN)
    (notice,) = [notice for notice in draws.notices if notice.code == "chain_failed"]
    try:
        sample(without_start(1), chains=[1], **RUN)
    except InitializationError as error:
        return ["nan" in notice.message, "nan" in str(error)]


# Later


@pytest.fixture(autouse=True)
def _nobody_watches():
    yield
    watcher[0] = lambda position: None


@pytest.fixture(scope="module")
def watched_draws():
    watcher[0] = lambda position: None
    return sample(watched_target(), chains=3, **RUN)


@pytest.mark.parametrize("place", ["start", "warm-up", "sampling"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_chain_whose_callback_raises_harms_no_other(tmp_path, watched_draws, place):
    """It raises at one position, that of one draw of chain 1, whenever it comes there."""
    fatal = {
        "start": UniformPoints().position(SEED, 1, 0, 2),
        "warm-up": watched_draws.warmup["position"][1, 60],
        "sampling": watched_draws["x"][1, 280],
    }[place]
    num_raised = 0

    def watch(position):
        nonlocal num_raised
        if np.array_equal(position, fatal):
            num_raised += 1
            raise RuntimeError(f"the {place} is cursed")

    watcher[0] = watch
    folder = tmp_path / "run"
    draws = sample(watched_target(), chains=3, store=infer.RunFolder(folder), **RUN)
    assert num_raised == 2  # it was given a second chance
    for found in (draws, infer.load(folder)):
        assert_one_failed(found, _of_chains(watched_draws, [0, 2]), "is cursed")
    drawn = draws.lost_chains[0]["draw"]
    assert {"start": drawn == 0, "warm-up": drawn <= 60, "sampling": drawn <= 380}[place]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_callback_that_raises_once_costs_nothing(watched_draws):
    fatal, has_raised = watched_draws["x"][1, 280], False

    def watch(position):
        nonlocal has_raised
        if np.array_equal(position, fatal) and not has_raised:
            has_raised = True
            raise RuntimeError("a passing cloud")

    watcher[0] = watch
    draws = sample(watched_target(), chains=3, **RUN)
    assert has_raised and draws.complete and not draws.lost_chains
    np.testing.assert_array_equal(draws["x"], watched_draws["x"])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_chains_that_all_raise_raise_what_they_raised():
    def watch(position):
        raise RuntimeError("nothing works")

    watcher[0] = watch
    with pytest.raises(Exception, match="nothing works"):
        sample(watched_target(), chains=2, **RUN)


class _Only:
    """Some chains of draws."""

    def __init__(self, sites, stats):
        self.sites, self.stats = sites, stats


def _of_chains(draws, rows):
    return _Only(*({name: a[rows] for name, a in part.items()} for part in (draws.sites, draws.stats)))
