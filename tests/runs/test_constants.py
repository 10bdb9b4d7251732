"""Change a number in a model's code by 1e-9: a stored run is not continued with it, and the words name the number."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import LogDensity, infer
from accord.core.errors import ModelError, StorageError
from accord.core.precision import scope
from accord.runs.constants import Constants, check_constants, check_repeats

NOT_MUCH = 1e-9
RUN = dict(draws=20, warmup=10, chains=1, quiet=True)
TABLE = np.linspace(0, 1, 100)


@jax.jit
def jitted(x, shift):
    return x * 2.0 + shift


def constants_of(density):
    with scope("float64"):
        return Constants.of(jax.make_jaxpr(density.value_and_grad)(np.zeros(density.dim)))


def normal(loc=0.5, scale=5.0, factor=1.5, table=TABLE, shift=0.25):
    """A log density whose code has these numbers."""
    table = np.asarray(table)

    def log_density(x):
        mean = factor * x[1] + jitted(x[0], shift) + jnp.sum(x[0] * table)
        return -0.5 * ((x[0] - loc) / scale) ** 2 - 0.5 * (mean - x[1]) ** 2

    return LogDensity.from_function(log_density, np.zeros(2))


CHANGES = {
    "loc": (dict(loc=0.5 + NOT_MUCH), "0.500000001 is new (0.5 was there)"),
    "scale": (dict(scale=5 + NOT_MUCH), "5.0 became 5.000000001"),
    "factor": (dict(factor=1.5 - NOT_MUCH), "1.5 became 1.499999999"),
    "inside of a jitted function": (dict(shift=0.25 + 1e-11), "0.25 became 0.25000000001"),
    "an array": (dict(table=TABLE + NOT_MUCH * (TABLE == 1)), "an array has other values (float64[100])"),
}


@each(CHANGES)
def test_a_number_that_changed_by_little_is_named(change):
    options, words = change
    before, now = constants_of(normal()), constants_of(normal(**options))
    check_repeats(before, constants_of(normal()))
    with pytest.raises(ModelError, match="change from one trace to the next") as caught:
        check_repeats(before, now)
    assert words in str(caught.value)


def posterior(scale):
    @ac.model
    def model(y):
        mu = ac.sample("mu", dist.Normal(0.0, scale))
        ac.sample("y", dist.Normal(mu, 1.0), obs=y)

    return model(0.5)


def test_a_prior_that_changed_by_little_is_refused_on_resume_and_named(tmp_path):
    folder = tmp_path / "run"
    infer.sample(posterior(5.0), store=infer.RunFolder(folder), **RUN)
    assert infer.resume(folder, posterior(5.0), quiet=True).extend(10).num_draws == 30
    longer = infer.resume(folder, posterior(5.0 + NOT_MUCH), quiet=True)  # complete: only read
    with pytest.raises(StorageError, match=r"in its code, .*5\.0.* became .*5\.000000001.*Nothing was drawn"):
        longer.extend(10)
    assert infer.load(folder).num_draws == 30
    assert infer.resume(folder, posterior(5.0), quiet=True).num_draws == 40  # as was asked for


def test_a_run_without_the_record_goes_on_and_has_it_from_then_on(tmp_path):
    folder = tmp_path / "run"
    infer.sample(posterior(5.0), store=infer.RunFolder(folder), **RUN)
    record = folder / "record-program.json"
    assert record.exists()
    record.unlink()
    assert infer.resume(folder, posterior(5.0), quiet=True).extend(5).num_draws == 25
    assert record.exists()


MANIFEST: dict = {"particulars": {"fixed": {}}}


@pytest.mark.parametrize("name", ["accord", "jax", "platform"])
def test_numbers_of_another_release_are_not_compared(name):
    found = constants_of(normal(scale=4.0))
    stored = constants_of(normal())
    check_constants(replace(stored, releases=stored.releases | {name: "0"}), found, MANIFEST, normal())  # type: ignore[arg-type]
    with pytest.raises(StorageError, match=r"5\.0 became 4\.0"):
        check_constants(stored, found, MANIFEST, normal())  # type: ignore[arg-type]


def test_rounding_of_another_machine_is_no_difference():
    stored = constants_of(normal())
    numbers = tuple(repr(float(np.nextafter(float(text), np.inf))) for text in stored.numbers if float(text))
    zero = tuple(text for text in stored.numbers if not float(text))
    check_repeats(stored, replace(stored, numbers=(*numbers, *zero)))
    elsewhere = constants_of(normal(table=TABLE * (1 + 1e-16) + 1e-17))
    check_repeats(stored, replace(elsewhere, machine=stored.machine | {"numpy": "0"}))
    assert Constants.from_json(json.loads(json.dumps(stored.as_json()))) == stored


@pytest.mark.parametrize(
    "record",
    [
        7,
        [],
        {},
        {"numbers": 3, "arrays": [], "releases": {}, "machine": {}},
        {"numbers": ["x"], "arrays": [], "releases": {}, "machine": {}},
        {"numbers": [], "arrays": [], "releases": 3, "machine": {}},
    ],
)
def test_a_record_that_accord_did_not_write_is_refused(record):
    with pytest.raises(StorageError, match=r"record-program\.json"):
        Constants.from_json(record)


PROGRAM = """
import json, sys
sys.path[:0] = sys.argv[1:]
from test_constants import constants_of, normal
print(json.dumps(constants_of(normal()).as_json()))
"""


@pytest.mark.slow
def test_numbers_depend_on_no_address_and_no_order_of_sets():
    here = os.path.dirname(__file__)
    paths = [here, os.path.dirname(here)]
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *paths],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        )
        assert Constants.from_json(json.loads(done.stdout)) == constants_of(normal())
