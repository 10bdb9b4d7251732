"""List other libraries' distribution names that differ from accord's. NumPyro's names are accord's."""

from .word import Word

_PYMC = {
    "AR": "ac.scan",
    "Bound": "dist.TruncatedDistribution",
    "Censored": "dist.CensoredDistribution",
    "ChiSquared": "dist.Chi2",
    "CustomDist": "dist.AbstractDistribution",
    "DensityDist": "dist.AbstractDistribution",
    "DiracDelta": "dist.Delta",
    "ExGaussian": "dist.ExponentiallyModifiedGaussian",
    "HalfFlat": "dist.FlatPos(0.0)",
    "HyperGeometric": "dist.Hypergeometric",
    "LKJCholeskyCov": "dist.LKJCholesky",
    "LKJCorr": "dist.LKJ",
    "MvGaussianRandomWalk": "dist.GaussianStateSpace",
    "MvNormal": "dist.MultivariateNormal",
    "MvStudentT": "dist.MultivariateStudentT",
    "NormalMixture": "dist.MixtureSameFamily",
    "Rice": "dist.Rician",
    "StickBreakingWeights": "dist.StickBreakingProcess",
    "Truncated": "dist.TruncatedDistribution",
    "Wald": "dist.InverseGaussian",
}
_STAN = {
    "bernoulli_logit": "dist.BernoulliLogits",
    "beta_neg_binomial": "dist.BetaNegativeBinomial",
    "beta_proportion": "dist.BetaProportion",
    "binomial_logit": "dist.BinomialLogits",
    "categorical_logit": "dist.CategoricalLogits",
    "chi_square": "dist.Chi2",
    "double_exponential": "dist.Laplace",
    "exp_mod_normal": "dist.ExponentiallyModifiedGaussian",
    "gaussian_dlm_obs": "dist.LinearGaussianStateSpace",
    "inv_gamma": "dist.InverseGamma",
    "inv_wishart": "dist.InverseWishart",
    "lkj_corr": "dist.LKJ",
    "lkj_corr_cholesky": "dist.LKJCholesky",
    "multi_normal": "dist.MultivariateNormal",
    "multi_normal_cholesky": "dist.MultivariateNormal(loc, scale_tril=L)",
    "multi_normal_prec": "dist.MultivariateNormal(loc, precision_matrix=P)",
    "multi_student_t": "dist.MultivariateStudentT(df, loc, scale_tril=L)",
    "neg_binomial": "dist.GammaPoisson",
    "neg_binomial_2": "dist.NegativeBinomial2",
    "ordered_logistic": "dist.OrderedLogistic",
    "poisson_log": "dist.LogPoisson",
    "skew_double_exponential": "dist.AsymmetricLaplaceQuantile(mu, sigma / 2, tau)",
    "std_normal": "dist.Normal(0, 1)",
    "student_t": "dist.StudentT",
    "von_mises": "dist.VonMises",
}
_TURING = {
    "ArcSine": "dist.Arcsine",
    "BernoulliLogit": "dist.BernoulliLogits",
    "Chisq": "dist.Chi2",
    "Dirac": "dist.Delta",
    "FDist": "dist.FisherSnedecor",
    "MvLogNormal": "dist.MultivariateLogNormal",
    "MvTDist": "dist.MultivariateStudentT",
    "NegativeBinomialLogit": "dist.NegativeBinomialLogits",
    "PoissonLog": "dist.LogPoisson",
    "TDist": "dist.StudentT",
    "TriangularDist": "dist.Triangular",
    "arraydist": 'ac.plate("row", 10)',
    "filldist": 'ac.plate("row", 10)',
    "truncated": "dist.TruncatedDistribution",
}
_NOTES = {
    "LKJCholeskyCov": "Multiply the factor by standard deviations: `sigma[:, None] * factor`.",
}

DISTRIBUTIONS = tuple(
    Word(library, "distribution", theirs, ours, note=_NOTES.get(theirs, ""))
    for library, words in (("PyMC", _PYMC), ("Stan", _STAN), ("Turing", _TURING))
    for theirs, ours in words.items()
)
