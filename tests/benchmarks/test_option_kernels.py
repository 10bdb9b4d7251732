"""Run what `options.py` compares: the default is NUTS itself, and options change draws, not the posterior."""

import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from accord import infer
from accord.density import LogDensity

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
# In lanes, as `options.py` runs them: alone, a chain's program is cut where its gradient is, and some options take two.
RUN = dict(
    draws=50, warmup=350, chains=2, lanes=2, seed=0, executor=infer.Serial(), quiet=True, progress=False
)


@pytest.fixture
def kernels(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    import option_kernels

    yield option_kernels
    for name in set(sys.modules) - before:
        if (BENCHMARKS / f"{name}.py").exists():
            del sys.modules[name]


def target():
    return LogDensity.from_function(lambda x: -0.5 * jnp.sum((x - 1) ** 2), np.zeros(3))


def test_without_an_option_it_is_nuts(kernels):
    default = kernels.Option()
    with kernels.switched(default):
        found = infer.sample(target(), default.kernel, **(RUN | dict(warmup=20)))
    plain = infer.sample(target(), **(RUN | dict(warmup=20)))
    np.testing.assert_allclose(found["x"], plain["x"], rtol=1e-6)


@pytest.mark.parametrize("given", [dict(balanced_from=0.0), dict(jitter=0.3), dict(first_kick=0.2)], ids=str)
def test_an_option_moves_chains_otherwise(kernels, given):
    option = kernels.Option(**given)
    with kernels.switched(option):
        found = infer.sample(target(), option.kernel, **RUN)
    plain = infer.sample(target(), **RUN)
    assert not np.allclose(found["x"], plain["x"])
    # Five standard errors of 100 independent draws, and NUTS does no worse on a normal target: 5e-6 for all of them.
    assert np.all(np.abs(found["x"].mean((0, 1)) - 1) < 5 / np.sqrt(100))
