"""Run Stan's NUTS at its defaults, through PyStan."""

import time
from pathlib import Path

import numpy as np

import stan
from worker import CHAINS, Options, Result, measure

PROGRAMS = Path(__file__).parent / "stan"


def prepare(options: Options):
    """See `worker.measure`. The C++ compiler is part of what is timed."""
    code = (PROGRAMS / f"{options.model}.stan").read_text()
    sizes = {
        f"{name}_{axis}": n for name, array in options.data.items() for axis, n in enumerate(np.shape(array))
    }
    values = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in options.data.items()
    }

    def run() -> Result:
        began = time.perf_counter()
        model = stan.build(code, data=values | sizes, random_seed=options.seed + 1)
        seconds = time.perf_counter() - began
        fit = model.sample(
            num_chains=CHAINS, save_warmup=True
        )  # to count its gradients; the draws are the same
        num_warmup = fit.num_warmup
        steps = fit["n_leapfrog__"][0].reshape(-1, CHAINS)
        draws = {}
        for name, dims in zip(fit.param_names, fit.dims, strict=True):
            kept = fit[name].reshape(*dims, -1, CHAINS)[..., num_warmup:, :]
            draws[name] = np.moveaxis(kept, (-1, -2), (0, 1))
        gradients = {"warmup": int(steps[:num_warmup].sum()), "sampling": int(steps[num_warmup:].sum())}
        return Result(draws, gradients, {"compile": seconds})

    return run


if __name__ == "__main__":
    measure(prepare)
