"""Check the names and labels of axes that statements give."""

import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import ModelError, SiteError

COVARIATES = ["age", "height"]
X = np.arange(6.0).reshape(3, 2)


@ac.model
def regression(x, y):
    """Coefficients by name."""
    slopes = ac.sample(
        "slopes", dist.MultivariateNormal(jnp.zeros(2), jnp.eye(2)), dims={"covariate": COVARIATES}
    )
    with ac.plate("row", len(x), coords=list("abc")):
        ac.deterministic("parts", x * slopes, dims="covariate")
        ac.sample("y", dist.Normal(x @ slopes, 1.0), obs=y)
    ac.deterministic("by_row", x @ slopes, dims="row")
    ac.sample("pair", dist.Normal(jnp.zeros((2, 4)), 1.0), dims=("covariate", "quarter"))


def dims_of(function):
    return {entry.name: entry.dims for entry in ac.model(function)().log_density().layout.sites}


def test_axes_have_the_names_and_labels_that_statements_give():
    layout = regression(X, np.zeros(3)).log_density().layout
    assert {entry.name: entry.dims for entry in layout.sites} == {
        "slopes": ("covariate",),
        "parts": ("row", "covariate"),
        "y": ("row",),
        "by_row": ("row",),
        "pair": ("covariate", "quarter"),
    }
    assert layout.coords["covariate"].tolist() == COVARIATES
    assert layout.coords["quarter"].tolist() == [0, 1, 2, 3]


def test_they_reach_arviz_and_the_summary():
    draws = infer.sample(
        regression(X, np.zeros(3)), draws=20, warmup=20, chains=1, progress=False, quiet=True
    )
    posterior = draws.to_arviz()["posterior"]
    assert posterior["parts"].dims == ("chain", "draw", "row", "covariate")
    assert posterior["pair"].sel(covariate="age", quarter=2).shape == (1, 20)
    assert "slopes[age]" in str(draws.summary())


def test_axes_between_plates_can_be_named():
    def model():
        with ac.plate("group", 2, dim=-2):
            ac.sample("x", dist.Normal(jnp.zeros((2, 3)), 1.0), dims="member")

    assert dims_of(model)["x"] == ("group", "member")


def test_a_prefix_renames_dims():
    def model():
        handlers.scope(lambda: ac.sample("x", dist.Normal(jnp.zeros(3), 1.0), dims="k"), prefix="a")()

    assert dims_of(model)["a/x"] == ("a/k",)


def _sample(**options):
    ac.sample("x", dist.Normal(jnp.zeros(3), 1.0), **options)


def _two_sizes():
    _sample(dims="k")
    ac.sample("z", dist.Normal(jnp.zeros(4), 1.0), dims="k")


def _two_labels():
    _sample(dims={"k": list("abc")})
    ac.sample("z", dist.Normal(jnp.zeros(3), 1.0), dims={"k": list("abd")})


MISTAKES = {
    "too many": (
        lambda: _sample(dims=("a", "b")),
        SiteError,
        r"'x'.*dims names 2 axes.*\(3,\).*no plate has 1",
    ),
    "labels": (lambda: _sample(dims={"a": [1, 2]}), SiteError, "'a' has 2 labels for 3 entries"),
    "no names": (lambda: _sample(dims=3), SiteError, "site 'x': dims names axes.*got 3"),
    "a site's name": (lambda: _sample(dims="x"), SiteError, "'x' has the name of a site.*x_dim"),
    "two sizes": (_two_sizes, ModelError, "'k' has size 4 here and 3 elsewhere"),
    "two sets of labels": (_two_labels, SiteError, "'k' has other labels here than before"),
}


@pytest.mark.parametrize(("function", "error", "words"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_says_what_to_write(function, error, words):
    with pytest.raises(error, match=words):
        dims_of(function)
