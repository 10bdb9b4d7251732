"""Hold promise P3 in workers: a masked model that float32 cannot bear has one answer in every thread and process.

A user's own joblib workers inherit neither JAX's settings nor a list of handlers kept in one global place; in systems
that rely on these, such a model is fitted in float32 without a word, or its sites are mixed up between threads.
"""

import functools
import os

import jax
import joblib
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.report.diagnostics import r_hat

RUN = dict(draws=1000, warmup=400, chains=4, seed=2, progress=False, quiet=True)
SHORT = {**RUN, "draws": 40, "warmup": 40}
OFFSET = 1e5


@ac.model
def masked(x, y):
    a = ac.sample("a", dist.Normal(OFFSET, 10))
    b = ac.sample("b", dist.Normal(0, 10))
    s = ac.sample("s", dist.HalfNormal(1))
    with ac.plate("row", x.shape[0]), handlers.mask(mask=np.isfinite(y)):
        ac.sample("y", dist.Normal(a + b * x, s), obs=y)


def with_missing():
    """Sixty rows, of which 30% are missing."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=60)
    y = OFFSET + 2 * x + 0.1 * rng.normal(size=60)
    y[rng.choice(60, 18, replace=False)] = np.nan
    return masked(x, y)


def fit(options, **more):
    """In a worker of the user's: the arrays of a run."""
    draws = infer.sample(with_missing(), **options, **more)
    return {**draws.sites, **draws.stats}


@functools.cache
def serial(is_short):
    return fit(SHORT if is_short else RUN, executor=infer.Serial())


def assert_is_serial(found, is_short=True):
    np.testing.assert_equal(found, serial(is_short))
    assert {array.dtype for name, array in found.items() if name in "abs"} == {np.dtype("float64")}


def test_the_reference_has_converged_to_the_truth():
    """R-hat below 1.01; each mean within 5 posterior sds of the values that made the data."""
    found = serial(False)
    truth = {"a": OFFSET, "b": 2.0, "s": 0.1}
    assert all(r_hat(found[name][..., None]) < 1.01 for name in truth)
    assert all(abs(found[name].mean() - value) < 5 * found[name].std() for name, value in truth.items())
    assert not found["diverging"].any() and not found["non_finite"].any()


def test_processes_draw_the_same():
    assert_is_serial(fit(RUN, executor=infer.Processes(2)), is_short=False)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_workers_of_the_users_draw_the_same(backend):
    """A whole run in each worker, each with another chain, and two at a time."""
    tasks = [joblib.delayed(fit)({**SHORT, "chains": [chain]}) for chain in range(4)]
    found = joblib.Parallel(n_jobs=2, backend=backend)(tasks)
    joined = {name: np.concatenate([each[name] for each in found]) for name in found[0]}
    assert_is_serial(joined)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_whole_fits_in_joblib_workers_converge(backend):
    tasks = [joblib.delayed(fit)(RUN)] * 2
    for found in joblib.Parallel(n_jobs=2, backend=backend)(tasks):
        assert_is_serial(found, is_short=False)


@pytest.mark.slow
def test_the_users_settings_reach_no_worker(monkeypatch):
    """Neither those of the calling thread, nor those that a process would inherit by its environment."""
    for name, value in {"JAX_ENABLE_X64": "0", "JAX_DEFAULT_MATMUL_PRECISION": "bfloat16"}.items():
        monkeypatch.setenv(name, value)
    before = dict(os.environ)
    with jax.enable_x64(False), jax.debug_nans(True), jax.default_prng_impl("rbg"):
        assert_is_serial(fit(SHORT, executor=infer.Processes(2)))
        assert not jax.config.jax_enable_x64 and jax.config.jax_debug_nans
    assert dict(os.environ) == before


def test_float32_on_purpose_is_told_that_the_data_do_not_fit():
    draws = infer.sample(with_missing(), precision="float32", **{**SHORT, "chains": 2})
    notice = next(notice for notice in draws.notices if notice.code == "data_exceeds_precision")
    assert "'y' does not fit float32" in notice.message and "float64" in notice.remedy
    assert draws["a"].dtype == np.float32


def test_a_mask_is_worth_what_leaving_the_rows_out_is():
    """Up to rounding, which warm-up magnifies: its first draws are compared."""
    model = with_missing()
    x, y = model.arguments["x"], model.arguments["y"]
    is_seen = np.isfinite(y)
    runs = [infer.sample(each, **{**SHORT, "draws": 1}) for each in (model, masked(x[is_seen], y[is_seen]))]
    first, second = (draws.warmup["position"][:, :3] for draws in runs)
    np.testing.assert_allclose(first, second, rtol=1e-6)
