"""Run Stan's NUTS at its defaults, through PyStan."""

import re
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import stan
from worker import CHAINS, Data, Options, Result, measure

PROGRAMS = Path(__file__).parent / "stan"


def prepare(options: Options):
    """See `worker.measure`. The C++ compiler is part of what is timed."""
    code = (PROGRAMS / f"{options.model}.stan").read_text()
    values = stan_data(options.data)
    counts = {} if options.draws is None else {"num_warmup": options.draws, "num_samples": options.draws}

    def run() -> Result:
        began = time.perf_counter()
        model = stan.build(code, data=values, random_seed=options.seed + 1)
        seconds = time.perf_counter() - began
        # Warm-up is saved to count its gradients; the draws are the same.
        fit = model.sample(num_chains=CHAINS, save_warmup=True, **counts)
        num_warmup = fit.num_warmup
        steps = fit["n_leapfrog__"][0].reshape(-1, CHAINS)
        draws = {}
        for name, dims in zip(fit.param_names, fit.dims, strict=True):
            kept = fit[name].reshape(*dims, -1, CHAINS)[..., num_warmup:, :]
            draws[name] = np.moveaxis(kept, (-1, -2), (0, 1))
        gradients = {"warmup": int(steps[:num_warmup].sum()), "sampling": int(steps[num_warmup:].sum())}
        return Result(draws, gradients, {"compile": seconds, "own_clock": own_clock(fit.stan_outputs)})

    return run


def stan_data(data: Data) -> Data:
    """The arguments of a model with the sizes of arrays, `X_0` and `X_1` for `X`, as Stan's programs want them."""
    sizes = {f"{name}_{axis}": n for name, array in data.items() for axis, n in enumerate(np.shape(array))}
    values = {
        name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in data.items()
    }
    return values | sizes


def own_clock(outputs: Sequence[bytes]) -> float | None:
    """Seconds of warm-up and sampling of all chains together by Stan's own clock, if it says: no JSON, no waiting."""
    # Of the lines that say so, each chain has one for its logger.
    found = re.findall(rb'"logger","values":\["info: *([0-9.e+-]+) seconds \(Total\)', b"".join(outputs))
    return sum(map(float, found)) if len(found) == CHAINS else None


if __name__ == "__main__":
    measure(prepare)
