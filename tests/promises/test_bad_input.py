"""Bad input is a clear error before anything is compiled or drawn; promises P5 and P10."""

import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import AccordError, DataError, InitializationError, ModelError, OptionError, SiteError
from accord.distributions import constraints

Y = np.array([1.0, 2.0, 3.0])


@ac.model
def plain(y):
    m = ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(m, 1), obs=y)


@ac.model
def twice(y):
    ac.sample("m", dist.Normal(0, 1))
    ac.sample("m", dist.Normal(0, 1))


@ac.model
def wide_plate(y):
    m = ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", 4):
        ac.sample("y", dist.Normal(m, 1), obs=y)


@ac.model
def column(x, y):
    b = ac.sample("b", dist.Normal(0, 1))
    ac.sample("y", dist.Normal(b * x, 1), obs=y)


@ac.model
def scalar_for_vector(y):
    m = ac.sample("m", dist.Normal(0, 1))
    ac.sample("y", dist.Normal(m, 1), obs=y)


@ac.model
def derived(y):
    m = ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", 3):
        ac.sample("log_y", dist.Normal(m, 1), obs=jnp.log(y))


@ac.model
def discrete(y):
    k = ac.sample("k", dist.Poisson(3.0))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(k, 1.0), obs=y)


@ac.model
def improper():
    ac.sample("m", dist.ImproperUniform(constraints.real, (), ()))


@ac.model
def nothing_latent(y):
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(0, 1), obs=y)


@ac.model
def branches(y):
    m = ac.sample("m", dist.Normal(0, 1))
    s = 1.0 if m > 0 else 2.0
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(m, s), obs=y)


@ac.model
def outside(y):
    s = ac.sample("s", dist.HalfNormal(1))
    with ac.plate("row", 3):
        ac.sample("y", dist.Exponential(s), obs=y)


@ac.model
def below_an_unknown(y):
    s = ac.sample("s", dist.HalfNormal(1))
    with ac.plate("row", 3):
        ac.sample("y", dist.Uniform(-s, s), obs=y)


@ac.model
def negative_scale(y):
    ac.sample("m", dist.Normal(0, -1))


@ac.model
def raises(y):
    ac.sample("m", dist.Normal(0, 1))
    raise ZeroDivisionError("of the user's own")


def sample(model, **options):
    return infer.sample(model, **{"draws": 10, "warmup": 10, "chains": 1, "quiet": True, **options})


def nan_at(*rows):
    y = Y.copy()
    y[list(rows)] = np.nan
    return y


CASES = {
    "duplicate sites": (lambda: sample(twice(Y)), SiteError, ["'m'", "unique"]),
    "plate of another size": (lambda: sample(wide_plate(Y)), SiteError, ["'y'", "(3,)", "'row'", "4"]),
    "a row against a column": (lambda: sample(column(Y[:, None], Y)), SiteError, ["'y'", "(3,)", "(3, 1)"]),
    "a column against a row": (lambda: sample(column(Y, Y[:, None])), SiteError, ["'y'", "(3, 1)", "(3,)"]),
    "a vector without a plate": (lambda: sample(scalar_for_vector(Y)), SiteError, ["'y'", "with ac.plate("]),
    "NaN observed": (lambda: sample(plain(nan_at(0, 2))), SiteError, ["'y'", "2 of 3", "NaN"]),
    "NaN by computation": (lambda: sample(derived(nan_at(1))), SiteError, ["'log_y'", "1 of 3"]),
    "a discrete latent": (lambda: sample(discrete(Y)), SiteError, ["'k'", "discrete"]),
    "a misspelt option": (lambda: sample(plain(Y), warmpu=3), OptionError, ["'warmpu'", "'warmup'"]),
    "a misspelt option of the sampler": (
        lambda: infer.NUTS(target_acept=0.9),
        OptionError,
        ["'target_acept'", "'target_accept'"],
    ),
    "a form of metric that there is not": (
        lambda: infer.HMC(metric="lowrank"),
        OptionError,
        ["HMC", "'lowrank'", "Did you mean 'low_rank'?"],
    ),
    "a sampler not built": (lambda: sample(plain(Y), sampler=infer.NUTS), OptionError, ["parentheses"]),
    "a model without its data": (lambda: sample(plain), OptionError, ["Call it with its data"]),
    "an improper prior, nothing observed": (lambda: sample(improper()), ModelError, ["'m'", "improper"]),
    "no latent site": (lambda: sample(nothing_latent(Y)), ModelError, ["'nothing_latent'", "no latent"]),
    "a branch on a latent": (lambda: sample(branches(Y)), ModelError, ["'m'", "jnp.where"]),
    "data missing": (lambda: sample(plain()), DataError, ["'y'", "missing"]),
    "data unknown": (lambda: sample(plain(z=Y)), DataError, ["'z'", "'y'"]),
    "data of strings": (lambda: sample(plain(np.array(["a", "b", "c"]))), DataError, ["'y'", "numbers"]),
    "data of objects": (lambda: sample(plain(np.array([None, 1, 2]))), DataError, ["'y'", "numbers"]),
    "an observation outside the support": (
        lambda: sample(outside(np.array([1.0, -2.0, 3.0]))),
        SiteError,
        ["'y'", "-2 at index 1", "support of Exponential"],
    ),
    "a negative scale": (lambda: sample(negative_scale(Y)), ValueError, ["Normal", "scale", "-1"]),
    "no draws": (lambda: sample(plain(Y), draws=0), OptionError, ["draws", "0"]),
    "half a draw": (lambda: sample(plain(Y), draws=10.5), OptionError, ["draws", "10.5"]),
    "chains twice": (lambda: sample(plain(Y), chains=[1, 1]), OptionError, ["chains"]),
    "a negative seed": (lambda: sample(plain(Y), seed=-1), OptionError, ["seed", "-1"]),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_an_error_that_names_it(case, monkeypatch):
    call, error, words = CASES[case]
    if case != "NaN by computation":
        monkeypatch.setattr("accord.mcmc.method.compile_programs", _refuse)
    with pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def _refuse(*args):
    raise AssertionError("compiled before the input was checked")


def test_an_unknown_site_of_the_draws_suggests_the_nearest():
    draws = sample(plain(Y))
    with pytest.raises(OptionError, match="Did you mean 'm'"):
        draws["mm"]


def test_a_run_that_never_started_leaves_its_folder_free(tmp_path):
    store = infer.RunFolder(tmp_path / "run")
    with pytest.raises(InitializationError):
        sample(below_an_unknown(np.array([1.0, -1e9, 3.0])), store=store)
    assert sample(outside(Y), store=store).complete


def test_an_exception_in_the_model_reaches_the_user_as_it_is():
    with pytest.raises(ZeroDivisionError, match="of the user's own"):
        sample(raises(Y))


def test_an_error_names_the_sites_for_programs_too():
    with pytest.raises(InitializationError) as caught:
        sample(below_an_unknown(np.array([1.0, -1e9, 3.0])))
    assert caught.value.sites["y"] == -np.inf
    assert isinstance(caught.value, AccordError)
