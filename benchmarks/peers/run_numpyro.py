"""Run NumPyro's NUTS at its defaults, its chains vectorised.

The variant `parallel` has a device for each chain, `dense` a dense metric, `dense_parallel` both.
"""

import jax
import numpy as np
import numpyro
from numpyro.infer import MCMC, NUTS

import models_numpyro
from worker import CHAINS, Options, Result, measure, start_jax


def prepare(options: Options):
    """See `worker.measure`."""
    is_parallel = options.variant.endswith("parallel")
    if is_parallel:
        numpyro.set_host_device_count(CHAINS)  # before JAX looks for its devices
    compiling = start_jax()
    count = options.draws or 1000
    model = getattr(models_numpyro, options.model)

    def sampler(method: str) -> MCMC:
        return MCMC(
            NUTS(model, dense_mass=options.variant.startswith("dense")),
            num_warmup=count,
            num_samples=count,
            num_chains=CHAINS,
            chain_method=method,
            progress_bar=False,
        )

    def count_warmup() -> int:
        again = sampler("vectorized")
        again.warmup(
            jax.random.PRNGKey(options.seed), **options.data, collect_warmup=True, extra_fields=("num_steps",)
        )
        return int(again.get_extra_fields()["num_steps"].sum())

    def run() -> Result:
        mcmc = sampler("parallel" if is_parallel else "vectorized")
        mcmc.run(jax.random.PRNGKey(options.seed), **options.data, extra_fields=("num_steps",))
        draws = {name: np.asarray(value) for name, value in mcmc.get_samples(group_by_chain=True).items()}
        gradients = {"warmup": None, "sampling": int(np.sum(mcmc.get_extra_fields()["num_steps"]))}
        return Result(draws, gradients, {"compile": compiling.seconds}, count_warmup)

    return run


if __name__ == "__main__":
    measure(prepare)
