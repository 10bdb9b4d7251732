"""List the families of outcomes: links, distribution, and the prior of each further parameter.

Names of families and parameters are those of Bambi. `psi` is the probability that an observation is not an extra zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ...core.errors import OptionError, suggest

INVERSES: Mapping[str, str] = MappingProxyType(
    {
        "identity": "eta",
        "log": "jnp.exp(eta)",
        "inverse": "1 / eta",
        "logit": "jax.nn.sigmoid(eta)",
        "probit": "jax.scipy.stats.norm.cdf(eta)",
        "cloglog": "-jnp.expm1(-jnp.exp(eta))",
        "softmax": "",
    }
)
"""Code of the mean as a function of the linear predictor, by link."""

PARAMETERS: Mapping[str, str] = MappingProxyType(
    {
        "sigma": "dist.HalfStudentT(4, {sd})",
        "nu": "dist.Gamma(2, 0.1)",
        "alpha": "dist.HalfCauchy(1)",
        "kappa": "dist.HalfCauchy(1)",
        "psi": "dist.Beta(2, 2)",
    }
)
"""Default priors of further parameters; `sd` is the standard deviation of the outcome, or of its logarithm."""


@dataclass(frozen=True)
class Family:
    """A family of outcomes.

    **Fields**
    - `support`: a key of `outcome.SUPPORTS`, or "categories" or "ordered".
    - `links`: the default first.
    - `distribution`: code, of the mean `mu`, the linear predictor `eta`, `trials`, and the parameters.
    - `parameters`: further ones, keys of `PARAMETERS`.
    - `by_link`: code for links for which a function of `eta` is more accurate.
    - `scale`: what the linear predictor is compared with: the "outcome", its "log", or a "unit" scale.
    """

    support: str
    links: tuple[str, ...]
    distribution: str
    parameters: tuple[str, ...] = ()
    by_link: Mapping[str, str] = field(default_factory=dict)
    scale: str = "unit"


_ODDS = ("logit", "probit", "cloglog")
_REAL = ("identity", "log", "inverse")
_COUNT = ("log", "identity")
_BERNOULLI = {"logit": "dist.Bernoulli(logits=eta)"}
_BINOMIAL = {"logit": "dist.Binomial({trials}, logits=eta)"}
_POISSON = {"log": "dist.LogPoisson(eta)"}
_INFLATED = "dist.ZeroInflatedDistribution({base}, gate=1 - psi)"

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "gaussian": Family("real", _REAL, "dist.Normal(mu, sigma)", ("sigma",), scale="outcome"),
        "t": Family("real", _REAL, "dist.StudentT(nu, mu, sigma)", ("sigma", "nu"), scale="outcome"),
        "bernoulli": Family("binary", (*_ODDS, "identity"), "dist.Bernoulli(probs=mu)", (), _BERNOULLI),
        "binomial": Family("count", (*_ODDS, "identity"), "dist.Binomial({trials}, probs=mu)", (), _BINOMIAL),
        "poisson": Family("count", _COUNT, "dist.Poisson(mu)", (), _POISSON),
        "negativebinomial": Family("count", _COUNT, "dist.NegativeBinomial2(mu, alpha)", ("alpha",)),
        "gamma": Family(
            "positive", ("log", "inverse", "identity"), "dist.Gamma(alpha, alpha / mu)", ("alpha",)
        ),
        "beta": Family("unit", _ODDS, "dist.BetaProportion(mu, kappa)", ("kappa",)),
        "lognormal": Family("positive", ("identity",), "dist.LogNormal(mu, sigma)", ("sigma",), scale="log"),
        "categorical": Family("categories", ("softmax",), "dist.Categorical(logits=logits)"),
        "cumulative": Family("ordered", ("logit",), "dist.OrderedLogistic(eta, threshold)"),
        "zero_inflated_poisson": Family("count", _COUNT, _INFLATED.format(base="dist.Poisson(mu)"), ("psi",)),
        "zero_inflated_negativebinomial": Family(
            "count", _COUNT, _INFLATED.format(base="dist.NegativeBinomial2(mu, alpha)"), ("alpha", "psi")
        ),
        "zero_inflated_binomial": Family(
            "count", _ODDS, _INFLATED.format(base="dist.Binomial({trials}, probs=mu)"), ("psi",)
        ),
        "hurdle_poisson": Family("count", _COUNT, "dist.HurdlePoisson(1 - psi, mu)", ("psi",)),
        "hurdle_negativebinomial": Family(
            "count", _COUNT, "dist.HurdleNegativeBinomial2(mu, alpha, gate=1 - psi)", ("alpha", "psi")
        ),
        "hurdle_gamma": Family(
            "non_negative",
            ("log", "identity"),
            "dist.HurdleGamma(1 - psi, alpha, alpha / mu)",
            ("alpha", "psi"),
        ),
        "hurdle_lognormal": Family(
            "non_negative",
            ("identity",),
            "dist.HurdleLogNormal(1 - psi, mu, sigma)",
            ("sigma", "psi"),
            scale="log",
        ),
    }
)


def family_of(name: str, link: str | None) -> tuple[Family, str]:
    """Return a family and the name of its link.

    **Raises** `OptionError` for names that are not in the table.
    """
    if not isinstance(name, str) or name not in FAMILIES:
        hint = suggest(name, FAMILIES) if isinstance(name, str) else ""
        raise OptionError(f"accord.glm: there is no family {name!r}.{hint} There are: {', '.join(FAMILIES)}.")
    family = FAMILIES[name]
    if link is not None and link not in family.links:
        raise OptionError(
            f"accord.glm: the family {name!r} has no link {link!r}. Its links: {', '.join(family.links)}."
        )
    return family, link or family.links[0]
