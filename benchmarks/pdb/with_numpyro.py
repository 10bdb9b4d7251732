"""Run NumPyro's NUTS at its defaults in float64.

Chains are parallel, which is NumPyro's default, on a device each, as it proposes for a CPU; the variant `vectorized`
has all in one program. Models are those of this folder: the package `accord` that they import here is the stand-in
of `peers/standin`.
"""

import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro.infer import MCMC, NUTS

from child import CHAINS, Outcome, Run, main

sys.path.append(str(Path(__file__).resolve().parents[1] / "peers"))
from worker import CompileClock

COUNT, FEW = 1000, 2  # draws of warm-up, and again of sampling; of a run that compiles as much


def prepare(model: Any, seed: int, variant: str) -> Run:
    """See `child.main`."""
    clock = CompileClock().listen()
    # JAX's arrays, since one of NumPy's cannot be indexed by a traced one.
    arguments = {
        name: jnp.asarray(value) if isinstance(value, np.ndarray) else value
        for name, value in model.arguments.items()
    }

    def run(is_short: bool) -> Outcome:
        before, count = clock.seconds, FEW if is_short else COUNT
        mcmc = MCMC(
            NUTS(model.function),
            num_warmup=count,
            num_samples=count,
            num_chains=CHAINS,
            chain_method=variant,
            progress_bar=False,
        )
        mcmc.run(jax.random.PRNGKey(seed), **arguments, extra_fields=("num_steps", "diverging"))
        sites = mcmc.get_samples(group_by_chain=True)
        draws = {name: np.asarray(sites[name]) for name in mcmc.last_state.z}
        fields = {name: np.asarray(value) for name, value in mcmc.get_extra_fields().items()}
        compiling = clock.seconds - before
        facts = {
            "phases": {"compile": compiling},
            "gradients": {"warmup": None, "sampling": int(fields["num_steps"].sum())},
            "divergences": int(fields["diverging"].sum()),
        }
        return Outcome(draws, facts, compiling)

    return run


if __name__ == "__main__":
    numpyro.set_host_device_count(CHAINS)  # before JAX looks for its devices
    jax.config.update("jax_enable_x64", True)
    jax.devices()
    main(prepare, is_retraced=True)
