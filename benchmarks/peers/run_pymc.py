"""Run PyMC's NUTS at its defaults, on all cores, a thread of BLAS each; the variant `dense` has a dense metric."""

import os
import time

# Before NumPy is imported: chains in processes, each with BLAS on all cores, take ten times as long on `gp_regr`.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import pymc as pm

import models_pymc
from worker import CHAINS, Options, Result, measure


def prepare(options: Options):
    """See `worker.measure`. Chains run in processes, as many at once as there are cores."""
    init = "jitter+adapt_full" if options.variant == "dense" else "auto"
    counts = {} if options.draws is None else {"tune": options.draws, "draws": options.draws}

    def run() -> Result:
        began = time.perf_counter()
        with getattr(models_pymc, options.model)(**options.data):
            trace = pm.sample(
                chains=CHAINS,
                cores=len(os.sched_getaffinity(0)),  # its default takes half of them for hyper-threads
                init=init,
                random_seed=options.seed,
                progressbar=False,
                discard_tuned_samples=False,  # to count the gradients of warm-up; the draws are the same
                compute_convergence_checks=False,
                **counts,
            )
        draws = {str(name): np.asarray(value) for name, value in trace["posterior"].data_vars.items()}
        gradients = {
            "warmup": int(trace["warmup_sample_stats"]["n_steps"].sum()),
            "sampling": int(trace["sample_stats"]["n_steps"].sum()),
        }
        sampling = float(trace["posterior"].attrs["sampling_time"])
        return Result(
            draws, gradients, {"compile": time.perf_counter() - began - sampling, "sampling": sampling}
        )

    return run


if __name__ == "__main__":
    measure(prepare)
