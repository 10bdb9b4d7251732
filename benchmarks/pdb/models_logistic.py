"""Regress a choice on predictors: households that switch wells, and votes (Gelman & Hill, 2007, chapter 5)."""

from collections.abc import Callable
from typing import Any

import numpy as np

import accord as ac
import accord.distributions as dist
from entry import Data, Entry


@ac.model
def logistic(x, y):
    """Flat priors; `x`: shape (n, d), `y`: 0 or 1, shape (n,)."""
    alpha = ac.sample("alpha", dist.ImproperUniform(dist.constraints.real, (), ()))
    with ac.plate("coefficient", x.shape[1]):
        beta = ac.sample("beta", dist.ImproperUniform(dist.constraints.real, (), ()))
    ac.sample("y", dist.Bernoulli(logits=alpha + x @ beta), obs=y)


@ac.model
def wells_dist(switched, distance):
    """Flat priors on the intercept and the slope; `distance`: metres to the nearest safe well, shape (n,)."""
    with ac.plate("coefficient", 2):
        beta = ac.sample("beta", dist.ImproperUniform(dist.constraints.real, (), ()))
    ac.sample("switched", dist.Bernoulli(logits=beta[0] + beta[1] * distance), obs=switched)


def wells(*columns: Callable[[Data], Any]) -> Callable[[Data], dict[str, Any]]:
    """Make the arguments of `logistic` from functions of the data."""
    return lambda data: {
        "x": np.column_stack([column(data) for column in columns]),
        "y": data["switched"],
    }


def _dist100(data: Data) -> Any:
    return data["dist"] / 100


def _arsenic(data: Data) -> Any:
    return data["arsenic"]


def _assoc(data: Data) -> Any:
    return data["assoc"]


def _educ4(data: Data) -> Any:
    return data["educ"] / 4


def _centred(column: Callable[[Data], Any]) -> Callable[[Data], Any]:
    return lambda data: column(data) - np.mean(column(data))


def _product(one: Callable[[Data], Any], other: Callable[[Data], Any]) -> Callable[[Data], Any]:
    return lambda data: one(data) * other(data)


_DIST, _ARSENIC, _EDUC = _centred(_dist100), _centred(_arsenic), _centred(_educ4)
_DIST_ARSENIC = _product(_DIST, _ARSENIC)

ENTRIES = {
    "wells_dist": Entry(wells_dist, lambda data: {"switched": data["switched"], "distance": data["dist"]}),
    "wells_dist100_model": Entry(logistic, wells(_dist100)),
    "wells_dist100ars_model": Entry(logistic, wells(_dist100, _arsenic)),
    "wells_interaction_model": Entry(logistic, wells(_dist100, _arsenic, _product(_dist100, _arsenic))),
    "wells_interaction_c_model": Entry(logistic, wells(_DIST, _ARSENIC, _DIST_ARSENIC)),
    "wells_dae_model": Entry(logistic, wells(_dist100, _arsenic, _educ4)),
    "wells_dae_c_model": Entry(logistic, wells(_DIST, _ARSENIC, _DIST_ARSENIC, _educ4)),
    "wells_daae_c_model": Entry(logistic, wells(_DIST, _ARSENIC, _DIST_ARSENIC, _assoc, _educ4)),
    "wells_dae_inter_model": Entry(
        logistic,
        wells(_DIST, _ARSENIC, _EDUC, _DIST_ARSENIC, _product(_DIST, _EDUC), _product(_ARSENIC, _EDUC)),
    ),
    "nes_logit_model": Entry(
        logistic, lambda data: {"x": np.asarray(data["income"], float)[:, None], "y": data["vote"]}
    ),
}
