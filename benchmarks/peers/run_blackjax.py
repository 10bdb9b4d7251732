"""Run BlackJAX's NUTS after its window adaptation, as one vectorised program, on NumPyro's density.

The variant `dense` has a dense metric, `dense_parallel` a device for each chain as well.
"""

import jax
import numpy as np
import numpyro
from numpyro.infer.util import initialize_model

import models_numpyro
from worker import CHAINS, Options, Result, measure, start_jax

NUM_WARMUP = NUM_DRAWS = 1000


def prepare(options: Options):
    """See `worker.measure`."""
    is_parallel = options.variant.endswith("parallel")
    if is_parallel:
        numpyro.set_host_device_count(CHAINS)  # before JAX looks for its devices
    compiling = start_jax()
    import blackjax  # which looks for devices itself
    from blackjax.adaptation.base import get_filter_adapt_info_fn

    model = getattr(models_numpyro, options.model)
    num_warmup = options.draws or NUM_WARMUP
    num_draws = options.draws or NUM_DRAWS

    def run() -> Result:
        key_init, key_run = jax.random.split(jax.random.PRNGKey(options.seed))
        start, potential, postprocess, _ = initialize_model(
            jax.random.split(key_init, CHAINS), model, model_kwargs=options.data
        )

        def log_density(position):
            return -potential(position)

        keep = get_filter_adapt_info_fn(info_keys={"num_integration_steps"})
        warmup = blackjax.window_adaptation(
            blackjax.nuts,
            log_density,
            is_mass_matrix_diagonal=not options.variant.startswith("dense"),
            adaptation_info_fn=keep,
        )

        def chain(key, position):
            key_warmup, key_sample = jax.random.split(key)
            (state, parameters), info = warmup.run(key_warmup, position, num_warmup)
            step = blackjax.nuts(log_density, **parameters).step

            def draw(state, key):
                state, info = step(key, state)
                return state, (state.position, info.num_integration_steps)

            keys = jax.random.split(key_sample, num_draws)
            _, (positions, num_steps) = jax.lax.scan(draw, state, keys)
            return positions, info.info.num_integration_steps, num_steps

        in_all = jax.pmap(chain) if is_parallel else jax.jit(jax.vmap(chain))
        positions, warm, steps = in_all(jax.random.split(key_run, CHAINS), start.z)
        sites = jax.jit(jax.vmap(jax.vmap(postprocess)))(positions)
        draws = {name: np.asarray(value) for name, value in sites.items()}
        gradients = {"warmup": int(np.sum(warm)), "sampling": int(np.sum(steps))}
        return Result(draws, gradients, {"compile": compiling.seconds})

    return run


if __name__ == "__main__":
    measure(prepare)
