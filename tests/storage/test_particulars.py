"""What makes a target another one than that of a stored run is told in words."""

import json

import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import LogDensity
from accord.runs.particulars import FIELD, differences, of_code, particulars
from accord.storage import Manifest

SIGMA, Y = np.ones(8), np.arange(8.0)


@ac.model
def school(sigma, y=None, df=3, prior=None):
    mu = ac.sample("mu", dist.Normal(0.0, 5))
    with ac.plate("school", len(sigma), coords=None):
        ac.sample("y", dist.StudentT(df, mu, sigma) if df < 9 else dist.Normal(mu, sigma), obs=y)
    if prior == "wide":
        ac.sample("tau", dist.HalfNormal(1.0))


def manifest(density: LogDensity, **fields) -> Manifest:
    """That of a run, as far as its target decides it."""
    sites = [
        {
            "name": entry.name,
            "kind": entry.kind,
            "shape": list(entry.shape),
            "dtype": entry.dtype,
            "dims": list(entry.dims),
        }
        for entry in density.layout.sites
    ]
    required = ("sampler", "seed", "precision", "lanes", "chains", "draws", "warmup", "thinning")
    return Manifest.new(
        {
            **dict.fromkeys(required, 0),
            "model": density.program.name,
            "target": {"dim": density.dim},
            "layout": {"sites": sites, "coords": {}},
            "data_hashes": {name: str(np.asarray(value).tobytes()) for name, value in density.data.items()},
            FIELD: particulars(density),
            **fields,
        }
    )


def with_value(array, index, value):
    """A copy with another value in one place."""
    changed = array.copy()
    changed[index] = value
    return changed


LONG = np.arange(6000.0).reshape(3000, 2)


@ac.model
def table(x):
    ac.sample("mu", dist.Normal(x.mean(), 1.0))


FLOATS = "was of shape (8,) and dtype float64"
CHANGED = {
    "a value": (
        school(SIGMA, Y),
        school(SIGMA, with_value(Y, 3, 9.0)),
        ["argument 'y' has other values: 1 of 8 differ, the first at index 3"],
    ),
    "a shape": (
        school(SIGMA, Y),
        school(np.ones(9), np.ones(9)),
        [f"argument 'sigma' {FLOATS} and is of shape (9,)", "shape of site 'y' was (8,) and is (9,)"],
    ),
    "a dtype": (
        school(SIGMA, Y),
        school(SIGMA, Y.astype(int)),
        [f"argument 'y' {FLOATS} and is of shape (8,) and dtype int64"],
    ),
    "no data": (
        school(SIGMA, Y),
        school(SIGMA),
        ["argument 'y' was given in the stored run", "kind of site 'y' was observed and is latent"],
    ),
    "a long table": (
        table(LONG),
        table(with_value(LONG, (1500, 1), -1.0)),
        ["the first that differs is between index (1500, 0) and (1505, 1)", "1 of 500 blocks of 12 values"],
    ),
    "another distribution": (
        school(SIGMA, Y),
        school(SIGMA, Y, df=9),
        ["site 'y' had the distribution StudentT and has Normal"],
    ),
    "another site": (school(SIGMA, Y), school(SIGMA, Y, prior="wide"), ["site 'tau' is new"]),
}


@each(CHANGED)
def test_what_differs_is_named_with_what_it_was(case: tuple) -> None:
    before, now, words = case
    found = "; ".join(differences(manifest(before.log_density()), manifest(now.log_density())))
    for word in words:
        assert word in found, found
    assert "data_hashes" not in found and "target" not in found


def test_a_target_that_is_the_same_differs_in_nothing() -> None:
    one = manifest(school(SIGMA, Y).log_density())
    assert differences(one, manifest(school(SIGMA, Y).log_density())) == []
    assert differences(one, manifest(school(SIGMA, Y).log_density(), nproc=7)) == [
        "nproc: nothing stored, 7 given"
    ]


def test_arguments_that_are_no_arrays_explain_another_log_density() -> None:
    stored = manifest(school(SIGMA, Y).log_density())
    assert "argument 'df' was 3 and is 4" in of_code(stored, school(SIGMA, Y, df=4).log_density())
    assert "numbers in its code" in of_code(stored, school(SIGMA, Y).log_density())
    function = LogDensity.from_function(lambda x: -jnp.sum(x**2), np.zeros(3))
    assert "numbers in its code" in of_code(manifest(function), function)


@pytest.mark.parametrize("count", [1, 100])
def test_what_is_kept_is_a_few_kilobytes(count: int) -> None:
    @ac.model
    def many(arrays):
        ac.sample("mu", dist.Normal(sum(each.mean() for each in arrays), 1.0))

    assert len(json.dumps(particulars(many([LONG] * count).log_density()))) < 20_000
