"""Put off the search for cycles, and give it back as it was."""

import gc

import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.collection import collection_put_off


@pytest.fixture(autouse=True)
def _as_before():
    yield
    gc.enable()


@pytest.mark.parametrize("is_on", [True, False])
def test_it_is_afterwards_what_it_was(is_on):
    if not is_on:
        gc.disable()

    def fail():
        with collection_put_off():
            assert not gc.isenabled()
            raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        fail()
    assert gc.isenabled() == is_on


@pytest.mark.parametrize("is_on", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_a_run_leaves_it_as_it_was(is_on, fails):
    seen = []

    @ac.model
    def model(y):
        m = ac.sample("m", dist.Normal(0, 1))
        seen.append(gc.isenabled())
        if fails and len(seen) > 1:
            raise ValueError("the model's own")
        ac.sample("y", dist.Normal(m, 1), obs=y)

    if not is_on:
        gc.disable()
    run = dict(draws=10, warmup=10, chains=1, progress=False, quiet=True)
    if fails:
        with pytest.raises(ValueError, match="the model's own"):
            infer.sample(model(np.array(0.5)), **run)
    else:
        infer.sample(model(np.array(0.5)), **run)
    assert gc.isenabled() == is_on
    assert not all(seen)  # it was off while programs were traced
