"""Regress linearly with normal errors: earnings, test scores, mesquite bushes, party identification (Gelman & Hill)."""

from collections.abc import Callable
from typing import Any

import numpy as np

import accord as ac
import accord.distributions as dist
from entry import Data, Entry, example, take


@ac.model
def linear(X, y):
    """Flat priors; `X`: a column of ones and the predictors, shape (n, d)."""
    with ac.plate("coefficient", X.shape[1]):
        beta = ac.sample("beta", dist.ImproperUniform(dist.constraints.real, (), ()))
    sigma = ac.sample("sigma", dist.ImproperUniform(dist.constraints.positive, (), ()))
    ac.sample("y", dist.Normal(X @ beta, sigma), obs=y)


@ac.model
def linear_cauchy(X, y):
    """The same, with a half-Cauchy prior on the standard deviation of the errors."""
    with ac.plate("coefficient", X.shape[1]):
        beta = ac.sample("beta", dist.ImproperUniform(dist.constraints.real, (), ()))
    sigma = ac.sample("sigma", dist.HalfCauchy(2.5))
    ac.sample("y", dist.Normal(X @ beta, sigma), obs=y)


def design(
    response: Callable[[Data], Any], *predictors: Callable[[Data], Any]
) -> Callable[[Data], dict[str, Any]]:
    """Make the function from data to a response and a matrix whose first column is ones."""

    def arguments(data: Data) -> dict[str, Any]:
        y = response(data)
        return {"X": np.column_stack([np.ones(len(y)), *(column(data) for column in predictors)]), "y": y}

    return arguments


def of(name: str) -> Callable[[Data], Any]:
    """Take a column as it is."""
    return lambda data: data[name]


def log(*names: str) -> Callable[[Data], Any]:
    """Take the logarithm of a column, or of a product of columns."""
    return lambda data: np.log(np.prod([data[name] for name in names], axis=0))


def product(one: Callable[[Data], Any], other: Callable[[Data], Any]) -> Callable[[Data], Any]:
    """Take the interaction of two columns."""
    return lambda data: one(data) * other(data)


def less(name: str, centre: float) -> Callable[[Data], Any]:
    """Take a column less a number."""
    return lambda data: data[name] - centre


def centred(name: str) -> Callable[[Data], Any]:
    """Take a column less its mean."""
    return lambda data: data[name] - np.mean(data[name])


def standard(name: str, num_sds: int) -> Callable[[Data], Any]:
    """Take a column less its mean, in units of so many standard deviations."""
    return lambda data: centred(name)(data) / (num_sds * np.std(data[name], ddof=1))


def equals(name: str, level: int) -> Callable[[Data], Any]:
    """Take the indicator of a level."""
    return lambda data: np.asarray(data[name] == level, float)


def with_interaction(response: str, one: Callable[[Data], Any], other: Callable[[Data], Any]):
    """Make the arguments of two columns and their product."""
    return design(of(response), one, other, product(one, other))


_LOG_EARN = log("earn")
_LOG_WEIGHT = log("weight")
_VOLUME = log("diam1", "diam2", "canopy_height")
_AREA = log("diam1", "diam2")
_GROUP = of("group")


def _shape(data: Data) -> Any:
    return np.log(data["diam1"] / data["diam2"])


_BUSH = ("diam1", "diam2", "canopy_height", "total_height", "density", "group")

ENTRIES = {
    "earn_height": Entry(linear, design(of("earn"), of("height"))),
    "log10earn_height": Entry(linear, design(lambda data: np.log10(data["earn"]), of("height"))),
    "logearn_height": Entry(linear, design(_LOG_EARN, of("height"))),
    "logearn_height_male": Entry(linear, design(_LOG_EARN, of("height"), of("male"))),
    "logearn_logheight_male": Entry(linear, design(_LOG_EARN, log("height"), of("male"))),
    "logearn_interaction": Entry(example("logearn_interaction"), take("earn", "height", "male")),
    "logearn_interaction_z": Entry(
        linear,
        design(_LOG_EARN, standard("height", 1), of("male"), product(standard("height", 1), of("male"))),
    ),
    "kidscore_interaction": Entry(example("kidscore_interaction"), take("kid_score", "mom_hs", "mom_iq")),
    "kidscore_interaction_c": Entry(
        linear, with_interaction("kid_score", centred("mom_hs"), centred("mom_iq"))
    ),
    "kidscore_interaction_c2": Entry(
        linear, with_interaction("kid_score", less("mom_hs", 0.5), less("mom_iq", 100))
    ),
    "kidscore_interaction_z": Entry(
        linear, with_interaction("kid_score", standard("mom_hs", 2), standard("mom_iq", 2))
    ),
    "kidscore_mom_work": Entry(
        linear, design(of("kid_score"), *(equals("mom_work", level) for level in (2, 3, 4)))
    ),
    "kidscore_momhs": Entry(linear_cauchy, design(of("kid_score"), of("mom_hs"))),
    "kidscore_momiq": Entry(linear_cauchy, design(of("kid_score"), of("mom_iq"))),
    "kidscore_momhsiq": Entry(linear_cauchy, design(of("kid_score"), of("mom_hs"), of("mom_iq"))),
    "mesquite": Entry(linear, design(of("weight"), *map(of, _BUSH))),
    "logmesquite": Entry(example("logmesquite"), take("weight", *_BUSH)),
    "logmesquite_logva": Entry(linear, design(_LOG_WEIGHT, _VOLUME, _AREA, _GROUP)),
    "logmesquite_logvas": Entry(
        linear,
        design(_LOG_WEIGHT, _VOLUME, _AREA, _shape, log("total_height"), log("density"), _GROUP),
    ),
    "logmesquite_logvash": Entry(
        linear, design(_LOG_WEIGHT, _VOLUME, _AREA, _shape, log("total_height"), _GROUP)
    ),
    "logmesquite_logvolume": Entry(linear, design(_LOG_WEIGHT, _VOLUME)),
    "nes": Entry(
        example("nes"),
        take("partyid7", "real_ideo", "race_adj", "age_discrete", "educ1", "gender", "income"),
    ),
    "sesame_one_pred_a": Entry(linear, design(of("watched"), of("encouraged"))),
    "blr": Entry(example("blr"), take("X", "y")),
    "kilpisjarvi": Entry(example("kilpisjarvi"), take("x", "y", "pmualpha", "psalpha", "pmubeta", "psbeta")),
    "diamonds": Entry(example("diamonds"), take("X", "Y")),
}
