"""List other libraries' distribution parameters. NumPyro's are accord's; Stan and Turing pass them by position."""

from .word import Word

_LOC_SCALE = {"mu": "loc", "sigma": "scale", "sd": "scale", "tau": "scale=1 / sqrt(tau)"}
_BETA = {"alpha": "concentration1", "beta": "concentration0"}
_PROBABILITY = {"p": "probs", "logit_p": "logits"}
_ENDS = {"lower": "low", "upper": "high"}
_COVARIANCE = {
    "mu": "loc",
    "cov": "covariance_matrix",
    "tau": "precision_matrix",
    "chol": "scale_tril",
}

# PyMC's words by accord's distribution.
_PYMC: dict[str, dict[str, str]] = {
    "AsymmetricLaplace": {"mu": "loc", "kappa": "asymmetry", "b": "scale=1 / b"},
    "Bernoulli": _PROBABILITY,
    "Beta": {**_BETA, "mu": "concentration1=mu * nu", "nu": "concentration0=(1 - mu) * nu"},
    "BetaBinomial": {**_BETA, "n": "total_count"},
    "Binomial": {"n": "total_count", **_PROBABILITY},
    "Categorical": _PROBABILITY,
    "Cauchy": {"alpha": "loc", "beta": "scale"},
    "Chi2": {"nu": "df"},
    "Dirichlet": {"a": "concentration"},
    "DirichletMultinomial": {"n": "total_count", "a": "concentration"},
    "DiscreteUniform": _ENDS,
    "Exponential": {"lam": "rate", "scale": "rate=1 / scale"},
    "ExponentiallyModifiedGaussian": {"mu": "loc", "sigma": "scale", "nu": "rate=1 / nu"},
    "Gamma": {
        "alpha": "concentration",
        "beta": "rate",
        "mu": "concentration=mu**2 / sigma**2",
        "sigma": "rate=mu / sigma**2",
    },
    "GaussianRandomWalk": {"sigma": "scale", "steps": "num_steps"},
    "Geometric": _PROBABILITY,
    "Gumbel": {"mu": "loc", "beta": "scale"},
    "HalfCauchy": {"beta": "scale"},
    "HalfNormal": {"sigma": "scale", "sd": "scale", "tau": "scale=1 / sqrt(tau)"},
    "HalfStudentT": {"nu": "df", "sigma": "scale"},
    "InverseGamma": {"alpha": "concentration", "beta": "rate"},
    "InverseGaussian": {"mu": "loc", "lam": "concentration"},
    "Kumaraswamy": {"a": "concentration1", "b": "concentration0"},
    "LKJ": {"n": "dimension", "eta": "concentration"},
    "LKJCholesky": {"n": "dimension", "eta": "concentration"},
    "Laplace": {"mu": "loc", "b": "scale"},
    "LogNormal": _LOC_SCALE,
    "Logistic": {"mu": "loc", "s": "scale"},
    "LogitNormal": _LOC_SCALE,
    "Moyal": {"mu": "loc", "sigma": "scale"},
    "Multinomial": {"n": "total_count", "p": "probs"},
    "MultivariateNormal": _COVARIANCE,
    "MultivariateStudentT": {"nu": "df", "mu": "loc", "chol": "scale_tril"},
    "NegativeBinomial": {"n": "total_count", "p": "probs=1 - p"},
    "NegativeBinomial2": {"mu": "mean", "alpha": "concentration"},
    "Normal": _LOC_SCALE,
    "OrderedLogistic": {"eta": "predictor"},
    "Pareto": {"m": "scale"},
    "Poisson": {"mu": "rate"},
    "SkewNormal": {"mu": "loc", "sigma": "scale", "alpha": "skewness"},
    "StudentT": {"nu": "df", **_LOC_SCALE},
    "Triangular": {**_ENDS, "c": "peak"},
    "TruncatedNormal": {"mu": "loc", "sigma": "scale", **_ENDS},
    "Uniform": _ENDS,
    "VonMises": {"mu": "loc", "kappa": "concentration"},
    "Weibull": {"alpha": "concentration", "beta": "scale"},
    "Wishart": {"nu": "concentration", "V": "scale_matrix"},
    "ZeroInflatedPoisson": {"mu": "rate", "psi": "gate=1 - psi"},
    "ZeroSumNormal": {"sigma": "scale"},
}
_NOTES = {("Geometric", "p"): "Accord counts failures, from 0. PyMC counts trials, from 1."}

# Parameters of any distribution that are not numbers; `dist.Normal(0, 1)` stands for any distribution.
_REPEATED = "In a model, `ac.plate` repeats a site."
_OF_ALL = (
    Word("PyMC", "parameter", "shape", "dist.Normal(0, 1).expand([3])", note=_REPEATED),
    Word("PyMC", "parameter", "size", "dist.Normal(0, 1).expand([3])", note=_REPEATED),
    Word("PyMC", "parameter", "dims", "ac.sample(name, distribution, dims=...)"),
    Word("PyMC", "parameter", "observed", "ac.sample(name, distribution, obs=...)"),
    Word("NumPyro", "parameter", "sample_shape", "dist.Normal(0, 1).expand([3])"),
    Word("NumPyro", "parameter", "validate_args", "dist.Normal(0, 1)", note="Parameters are always checked."),
)

PARAMETERS = (
    *(
        Word("PyMC", "parameter", theirs, ours, f"dist.{family}", _NOTES.get((family, theirs), ""))
        for family, words in _PYMC.items()
        for theirs, ours in words.items()
    ),
    # PyMC's `NegativeBinomial` takes either pair; accord has one distribution for each.
    Word("PyMC", "parameter", "mu", "dist.NegativeBinomial2(mean, concentration)", "dist.NegativeBinomial"),
    Word(
        "PyMC", "parameter", "alpha", "dist.NegativeBinomial2(mean, concentration)", "dist.NegativeBinomial"
    ),
    *_OF_ALL,
)
