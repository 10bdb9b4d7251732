"""Run nutpie at its defaults, on NumPyro's density through JAX or on PyMC's through Numba."""

import time

import numpy as np
import nutpie

from worker import CHAINS, Options, Result, measure, start_jax


def prepare(options: Options):
    """See `worker.measure`. Variants: `""`, diagonal metric, `low_rank`; `pymc`, `pymc_low_rank`, PyMC's density."""
    if options.variant.startswith("pymc"):
        import models_pymc

        def compile_model():
            return nutpie.compile_pymc_model(getattr(models_pymc, options.model)(**options.data))

        compiling = None
    else:
        import models_numpyro

        compiling = start_jax()

        def compile_model():
            return _from_numpyro(getattr(models_numpyro, options.model), options)

    counts = {} if options.draws is None else {"tune": options.draws, "draws": options.draws}

    def run() -> Result:
        began = time.perf_counter()
        compiled = compile_model()
        seconds = time.perf_counter() - began
        trace = nutpie.sample(
            compiled,
            chains=CHAINS,
            seed=options.seed,
            progress_bar=False,
            low_rank_modified_mass_matrix=options.variant.endswith("low_rank"),
            **counts,
        )
        values = {str(name): np.asarray(value) for name, value in trace["posterior"].data_vars.items()}
        draws = {name: value for name, value in values.items() if not name.endswith("__")}  # unconstrained
        gradients = {
            "warmup": int(trace["warmup_sample_stats"]["n_steps"].sum()),
            "sampling": int(trace["sample_stats"]["n_steps"].sum()),
        }
        return Result(draws, gradients, {"compile": compiling.seconds if compiling else seconds})

    return run


def _from_numpyro(model, options: Options):
    """Compile a NumPyro model for nutpie: its density over a flat vector, and the way back to its sites."""
    import jax
    from jax.flatten_util import ravel_pytree
    from numpyro.infer.util import initialize_model

    start, potential, postprocess, _ = initialize_model(
        jax.random.PRNGKey(options.seed), model, model_kwargs=options.data
    )
    flat, unravel = ravel_pytree(start.z)
    value_and_grad = jax.jit(jax.value_and_grad(lambda position: -potential(unravel(position))))
    constrain = jax.jit(lambda position: postprocess(unravel(position)))
    shapes = jax.eval_shape(constrain, flat)

    def log_density(position):
        value, gradient = value_and_grad(position)
        return float(value), np.asarray(gradient, dtype="float64", order="C")

    def expand(position):
        return {name: np.asarray(value, order="C") for name, value in constrain(position).items()}

    return nutpie.compiled_pyfunc.from_pyfunc(
        flat.size,
        lambda: log_density,
        lambda *_: expand,
        [np.dtype(leaf.dtype) for leaf in shapes.values()],
        [leaf.shape for leaf in shapes.values()],
        list(shapes),
    )


if __name__ == "__main__":
    measure(prepare)
