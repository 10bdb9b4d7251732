"""List the statements, handlers and settings of NumPyro."""

from ..row import Row, adapted, missing, same

_STATEMENTS = (
    "deterministic",
    "factor",
    "get_mask",
    "module",
    "param",
    "plate_stack",
    "prng_key",
    "sample",
    "subsample",
)

TABLES: dict[str, dict[str, Row]] = {
    "numpyro": {
        **same(*_STATEMENTS, "diagnostics", "distributions", "handlers", "infer", "ops", "optim", "util"),
        **same("contrib", "enable_x64", "primitives", "set_platform"),
        **adapted("in runs of `MCMC`, a plate with a part of its entries needs `HMCECS`", "plate"),
        **adapted("has no effect: parameters are always checked", "enable_validation", "validation_enabled"),
        **adapted("has no effect: chains run in threads", "set_host_device_count"),
        **adapted("the release of NumPyro whose meaning is kept", "__version__"),
        **adapted("returns accord's graph, without graphviz", "render_model"),
        **missing(
            "it makes programs of Pyro run, with other names. Write them with the names of NumPyro.", "compat"
        ),
        **missing("networks are in `equinox` and `flax`; see `numpyro.contrib.module`.", "nn"),
    },
    "numpyro.primitives": {
        **same(*_STATEMENTS, "CondIndepStackFrame", "Messenger", "apply_stack", "mutable", "plate"),
        **missing("it is what `apply_stack` does at its end.", "default_process_message"),
    },
    "numpyro.handlers": {
        **same(
            "block",
            "condition",
            "do",
            "infer_config",
            "lift",
            "mask",
            "reparam",
            "replay",
            "scale",
            "scope",
            "seed",
            "substitute",
            "trace",
            "uncondition",
        ),
        **missing(
            "discrete unknowns are summed out without it; for conjugate pairs, write the model by `ac.model` and use "
            "`accord.handlers.collapse`.",
            "collapse",
        ),
    },
    "numpyro.diagnostics": {
        **same(
            "autocorrelation",
            "autocovariance",
            "effective_sample_size",
            "gelman_rubin",
            "hpdi",
            "print_summary",
            "split_gelman_rubin",
            "summary",
        )
    },
    "numpyro.util": {
        **same(
            "enable_x64",
            "fori_collect",
            "fori_loop",
            "format_shapes",
            "is_prng_key",
            "not_jax_tracer",
            "set_host_device_count",
            "set_platform",
            "set_rng_seed",
            "soft_vmap",
            "while_loop",
        ),
        **missing(
            "use `jax.lax.cond`, or `numpyro.contrib.control_flow.cond` for branches with sites.", "cond"
        ),
        **missing("write the function out: it is `lambda x: x`.", "identity"),
        **missing("use `jax.jit`.", "maybe_jit"),
    },
    "numpyro.ops.indexing": same("Vindex", "vindex"),
    "numpyro.contrib.control_flow": {
        **same("cond"),
        **adapted("discrete states of any history are summed out, so that `history` has no effect", "scan"),
    },
    "numpyro.contrib.funsor": {
        **adapted(
            "leaves the model as it is: discrete unknowns are summed out without it", "config_enumerate"
        ),
        **adapted("leaves loops as they are", "markov"),
        **missing("use `Predictive(model, samples, infer_discrete=True)`.", "infer_discrete"),
        **missing(
            "write `accord.LogDensity.from_model(accord.numpyro.as_model(model, *args))`.", "log_density"
        ),
        **missing(
            "discrete unknowns are summed out by accord's own density, without funsor.",
            "enum",
            "plate",
            "plate_to_enum_plate",
            "to_data",
            "to_funsor",
            "trace",
            "config_kl",
        ),
    },
    "numpyro.contrib.module": {
        **same("ParamShape", "eqx_module", "flax_module", "nnx_module"),
        **same("random_eqx_module", "random_flax_module", "random_nnx_module"),
    },
    "numpyro.examples.datasets": {
        **missing(
            "it downloads data at run time. Read the files yourself, and pass arrays to the model.",
            "load_dataset",
            "dset",
            "iter_dataset",
            "load_bart_od",
        )
    },
}
_DATA = (
    "BASEBALL",
    "BART",
    "BOSTON_HOUSING",
    "COVTYPE",
    "DIPPER_VOLE",
    "HIGGS",
    "JSB_CHORALES",
    "LYNXHARE",
    "MNIST",
    "MORTALITY",
    "NINE_MERS",
    "SP500",
    "UCBADMIT",
)
for _name in _DATA:
    TABLES["numpyro.examples.datasets"][_name] = TABLES["numpyro.examples.datasets"]["load_dataset"]
