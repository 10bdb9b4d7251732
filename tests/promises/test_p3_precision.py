"""Hold promise P3: precision belongs to the run, and a run changes no setting of the user's."""

import threading

import jax
import numpy as np
import pytest
from models import regression, schools

from accord import infer
from accord.core.errors import OptionError
from accord.density import LogDensity

RUN = dict(draws=30, warmup=30, chains=2, progress=False, quiet=True)
SETTINGS = (
    "jax_enable_x64",
    "jax_numpy_dtype_promotion",
    "jax_numpy_rank_promotion",
    "jax_default_prng_impl",
    "jax_threefry_partitionable",
    "jax_default_matmul_precision",
    "jax_debug_nans",
    "jax_debug_infs",
    "jax_disable_jit",
)


def settings():
    return {name: getattr(jax.config, name) for name in SETTINGS}


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_every_real_number_of_a_run_has_its_precision(precision):
    draws = infer.sample(schools(), precision=precision, **RUN)
    assert {array.dtype for array in draws.sites.values()} == {np.dtype(precision)}
    assert draws.warmup["position"].dtype == np.dtype(precision)


def test_the_users_settings_change_nothing_and_are_not_changed():
    reference = infer.sample(schools(), **RUN)
    scopes = [
        jax.enable_x64(False),
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("warn"),
        jax.debug_nans(True),
        jax.default_prng_impl("rbg"),
        jax.default_matmul_precision("bfloat16"),
    ]
    for scope in scopes:
        with scope:
            before = settings()
            draws = infer.sample(schools(), **RUN)
            assert settings() == before
        np.testing.assert_equal(dict(draws), dict(reference))


def test_a_run_in_another_thread_has_the_same_precision():
    reference = infer.sample(schools(), **RUN)
    found = []
    thread = threading.Thread(target=lambda: found.append(infer.sample(schools(), **RUN)))
    thread.start()
    thread.join()
    np.testing.assert_equal(dict(found[0]), dict(reference))


def test_a_callback_is_never_given_float32_by_threads_of_jax():
    """They have the setting of the process. In workers that is the run's."""
    target = LogDensity.from_function(called_back, np.zeros(2))
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(OptionError, match=r"calls Python.*float32.*JAX_ENABLE_X64=1.*Processes"):
            infer.sample(target, **RUN)
        with pytest.raises(OptionError, match="calls Python"):
            infer.find_mode(target)
        assert infer.sample(target, precision="float32", **RUN)["x"].dtype == np.float32
        assert infer.sample(target, executor=infer.Processes(1), **RUN).complete
    finally:
        jax.config.update("jax_enable_x64", before)
    assert infer.sample(target, **RUN).complete


@jax.custom_jvp
def called_back(x):
    return jax.pure_callback(
        lambda x: -0.5 * np.sum(np.asarray(x) ** 2), jax.ShapeDtypeStruct((), x.dtype), x
    )


@called_back.defjvp
def _called_back_jvp(primals, tangents):
    return called_back(*primals), -(primals[0] * tangents[0]).sum()


def test_an_unknown_precision_is_an_error():
    with pytest.raises(OptionError, match="Did you mean 'float64'"):
        infer.sample(schools(), precision="float46", **RUN)


def test_float32_and_float64_agree_on_the_posterior():
    """Means within 6 Monte Carlo errors of each other; false-alarm rate below 1e-8 a scalar, with a fixed seed."""
    options = {**RUN, "draws": 500, "warmup": 300, "chains": 4}
    low, high = (infer.sample(regression(), precision=p, **options) for p in ("float32", "float64"))
    for name in high:
        error = np.hypot(low[name].std(), high[name].std()) / np.sqrt(500)
        assert abs(low[name].mean() - high[name].mean()) < 6 * error
