"""Share out data over CPU devices that this process does not have: child processes have them."""

import jax
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import OptionError
from accord.executors import surroundings_here

X = np.random.default_rng(0).normal(size=(40, 2))
Y = X @ [1.0, -1.0]
ALL = {"x": 0, "y": 0}
pytestmark = pytest.mark.skipif(jax.default_backend() != "cpu", reason="accelerators are not made")
RUN = dict(draws=20, warmup=20, chains=2, progress=False, quiet=True)


@ac.model
def line(x, y):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(x @ b, 1.0), obs=y)


def test_a_worker_has_as_many_devices_as_share_the_data():
    more = jax.local_device_count() + 2
    pool = infer.Devices(data=more, shard=ALL).open(1, surroundings_here("float64"))
    try:
        assert pool.submit(jax.local_device_count).result() == more
    finally:
        pool.close()


@pytest.mark.slow
def test_draws_have_the_bits_of_one_device_and_a_run_is_resumed(tmp_path):
    apart = infer.Devices(data=2, shard=ALL)
    store = infer.RunFolder(tmp_path / "run")
    found = infer.sample(line(X, Y), executor=apart, store=store, **RUN)
    here = infer.Devices(shard=ALL)
    np.testing.assert_array_equal(found["b"], infer.sample(line(X, Y), executor=here, **RUN)["b"])
    longer = infer.resume(tmp_path / "run", line(X, Y), executor=apart, progress=False, quiet=True).extend(10)
    whole = infer.sample(line(X, Y), executor=here, **RUN | {"draws": 30})
    np.testing.assert_array_equal(longer["b"], whole["b"])


def test_fits_have_no_use_for_it():
    with pytest.raises(OptionError, match="Devices is for chains"):
        infer.fit(line(X, Y), executor=infer.Devices(data=2, shard=ALL))


@pytest.mark.slow
def test_a_check_sums_as_the_devices_would():
    assert infer.check(line(X, Y), executor=infer.Devices(data=2, shard=ALL)).ok
