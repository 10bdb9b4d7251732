"""List the samplers, fits and tools of inference of NumPyro."""

from ..row import Row, adapted, missing, same

_LEARNT = "warm-up learns step size and metric by accord's rules; options that fix them are errors"
_MIXTURE = (
    "slopes of all guides at once, and the density of the mixture at the parameters of each guide, onto whose "
    "constraints NumPyro maps them twice"
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
        **adapted(
            "discrete unknowns of the model are summed out by accord's density, without funsor; those of the guide are "
            "drawn, and their scores taken",
            "TraceEnum_ELBO",
        ),
        **adapted("which terms depend on a draw is seen from the traced programs", "TraceGraph_ELBO"),
        **adapted("as `accord.infer.RandomWalk`, whose covariance is learnt from acceptances", "SA"),
        **adapted("as `accord.infer.Gibbs`, in which blocks move in the order given", "Gibbs", "HMCGibbs"),
        **adapted("what `gibbs_fn` returns is taken as it is", "CustomGibbs"),
        **adapted("as `accord.infer.DiscreteGibbs`", "DiscreteGibbs"),
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
    "numpyro.infer.hmc": adapted(
        "`init_kernel` runs accord's warm-up, with a diagonal metric; `sample_kernel` stays while draws of warm-up are "
        "counted",
        "hmc",
    ),
    "numpyro.infer.mcmc": same("MCMC", "MCMCKernel"),
    "numpyro.contrib.einstein": {
        **same(
            "GraphicalKernel",
            "IMQKernel",
            "LinearKernel",
            "MixtureGuidePredictive",
            "MixtureKernel",
            "ProbabilityProductKernel",
            "RBFKernel",
            "RandomFeatureKernel",
        ),
        **adapted(_MIXTURE, "SteinLoss", "SteinVI"),
        **adapted("with the Jacobian of constraints, which NumPyro leaves out", "ASVGD", "SVGD"),
    },
    "numpyro.contrib.nested_sampling": adapted(
        "the evidence and weighted draws, by `accord.infer.NestedSampling`", "NestedSampler"
    ),
    "numpyro.contrib.stochastic_support": missing(
        "write `accord.infer.divide(model)`, which runs each program by an exact method and weighs it by its evidence.",
        "DCC",
        "SDVI",
    ),
    "numpyro.contrib.ecs_proxies": missing("`HMCECS` expands around the mode by itself.", "taylor_proxy"),
    "numpyro.contrib.hsgp.approximation": {
        **same("hsgp_rational_quadratic", "hsgp_squared_exponential", "linear_approximation"),
        **adapted("of order 1/2, 3/2 and 5/2", "hsgp_matern"),
        **missing(
            "write the model by `ac.model`, with `accord.gp.HarmonicBasis`.", "hsgp_periodic_non_centered"
        ),
    },
    "numpyro.contrib.render": adapted("returns accord's graph, without graphviz", "render_model"),
}
