"""List the samplers, fits and tools of inference of NumPyro."""

from ..row import Row, adapted, missing, same

_LEARNT = "warm-up learns step size and metric by accord's rules; options that fix them are errors"
_OWN_UPDATES = (
    "updates of your own are blocks of `accord.infer.Gibbs`: write the model by `ac.model`, and "
    "`infer.Gibbs({'site': infer.Conditional(formula), ...: infer.NUTS()})`."
)
_STEIN = (
    "write `accord.infer.fit(model, accord.infer.guides.Particles())`, with the model by `ac.model`: Stein variational "
    "gradient descent with its discrepancy as a diagnosis."
)

TABLES: dict[str, dict[str, Row]] = {
    "numpyro.infer": {
        **same(
            "ELBO",
            "RenyiELBO",
            "SVI",
            "TraceMeanField_ELBO",
            "Trace_ELBO",
            "autoguide",
            "init_to_feasible",
            "init_to_mean",
            "init_to_median",
            "init_to_sample",
            "init_to_uniform",
            "init_to_value",
            "log_likelihood",
            "reparam",
        ),
        **adapted(_LEARNT, "BarkerMH", "NUTS"),
        **adapted(f"{_LEARNT}; trajectories of length pi / 2 unless you give another, jittered", "HMC"),
        **adapted("draws are accord's, and a function of the key; `mcmc.draws` is a `Draws`", "MCMC"),
        **adapted("as `accord.infer.Ensemble`", "AIES", "ESS"),
        **adapted("discrete unknowns by Gibbs draws of each given the rest", "DiscreteHMCGibbs"),
        **adapted("as `accord.infer.MixedHMC`", "MixedHMC"),
        **adapted("as `accord.infer.HMCECS`, with control variates around the mode", "HMCECS"),
        **adapted("`infer_discrete` draws are a function of each draw", "Predictive"),
        **adapted("without discrete unknowns", "initialize_model"),
        **missing(
            "write guide and model by `ac.model`, and `accord.infer.fit(model, guide)`, which takes discrete draws of "
            "the guide. Discrete unknowns of the model alone are summed out.",
            "TraceEnum_ELBO",
        ),
        **missing(
            "draws without slopes: write guide and model by `ac.model`, and `accord.infer.fit(model, guide)`, which "
            "takes the score function where it must.",
            "TraceGraph_ELBO",
        ),
        **missing(
            "sample adaptive MCMC follows no gradient. Use `NUTS`, or `AIES` where there is none.", "SA"
        ),
        **missing(_OWN_UPDATES, "CustomGibbs", "Gibbs", "HMCGibbs"),
        **missing("use `DiscreteHMCGibbs(NUTS(model))`.", "DiscreteGibbs"),
        **missing("write `accord.infer.calibrate(model, guide)`.", "calibration"),
        **missing("every fit of `accord.infer.fit` has `pareto_k`.", "psis_diagnostic"),
    },
    "numpyro.infer.util": {
        **same(
            "ModelInfo",
            "ParamInfo",
            "Predictive",
            "compute_log_probs",
            "constrain_fn",
            "find_valid_initial_params",
            "get_potential_fn",
            "get_transforms",
            "initialize_model",
            "log_density",
            "log_likelihood",
            "transform_fn",
            "unconstrain_fn",
        ),
        **adapted("without discrete unknowns", "potential_energy"),
    },
    "numpyro.infer.initialization": same(
        "init_to_feasible",
        "init_to_mean",
        "init_to_median",
        "init_to_sample",
        "init_to_uniform",
        "init_to_value",
    ),
    "numpyro.infer.reparam": {
        **same(
            "CircularReparam",
            "ExplicitReparam",
            "HaarReparam",
            "LocScaleReparam",
            "NeuTraReparam",
            "ProjectedNormalReparam",
            "Reparam",
            "TransformReparam",
            "UnitJacobianReparam",
        ),
        **adapted("without `smooth`", "DiscreteCosineReparam"),
    },
    "numpyro.infer.hmc": missing(
        "write `MCMC(NUTS(model), ...)`; for steps in a loop of your own, `accord.infer.steps`.", "hmc"
    ),
    "numpyro.infer.mcmc": same("MCMC", "MCMCKernel"),
    "numpyro.contrib.einstein": missing(
        _STEIN,
        "ASVGD",
        "GraphicalKernel",
        "IMQKernel",
        "LinearKernel",
        "MixtureGuidePredictive",
        "MixtureKernel",
        "ProbabilityProductKernel",
        "RBFKernel",
        "RandomFeatureKernel",
        "SVGD",
        "SteinLoss",
        "SteinVI",
    ),
    "numpyro.contrib.nested_sampling": missing(
        "write `accord.infer.sample(model, accord.infer.Tempered())`, and `accord.infer.evidence(draws)`.",
        "NestedSampler",
    ),
    "numpyro.contrib.stochastic_support": missing(
        "sample sites that some runs leave out are an error; write one model for each set of sites.",
        "DCC",
        "SDVI",
    ),
    "numpyro.contrib.ecs_proxies": missing("`HMCECS` expands around the mode by itself.", "taylor_proxy"),
    "numpyro.contrib.hsgp.approximation": missing(
        "write the model by `ac.model`, with `accord.gp`.",
        "hsgp_matern",
        "hsgp_periodic_non_centered",
        "hsgp_rational_quadratic",
        "hsgp_squared_exponential",
        "linear_approximation",
    ),
    "numpyro.contrib.render": missing(
        "draw the graph by `accord.numpyro.as_model(model, *args).graph().save('model.svg')`.", "render_model"
    ),
}
