"""Draw with many chains in one program, by one library: a worker of `../many_chains.py`.

    python many_chains.py LIBRARY MODEL OUTPUT DATA CHAINS PRECISION WARMUP DRAWS SEED

Writes `OUTPUT.npz` with `scalars`, up to 40 numbers of each site, shape `(chain, draw, scalar)`, and `OUTPUT.json` with
times, gradients, memory of the device, and versions.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from worker import read_data, start_jax

MOST_OF_A_SITE = 40

Sites = Mapping[str, Any]
Answer = tuple[Sites, dict[str, int | None]]
"""Draws by site, shape `(chain, draw, *site)`, and gradients by phase, of all chains."""


@dataclass(frozen=True)
class Job:
    """What to run: the model by its name, its data, and the counts."""

    library: str
    model: str
    data: dict[str, Any]
    chains: int
    precision: str
    warmup: int
    draws: int
    seed: int


def by_accord(job: Job) -> Callable[[], Answer]:
    """Prepare `infer.NUTS`, or `infer.ChEES` for the library "chees"."""
    import jax

    # Accord itself, and the models beside the benchmarks.
    sys.path += [
        str(Path(__file__).resolve().parents[1]),
        *os.environ["ACCORD_BENCHMARK_PATH"].split(os.pathsep),
    ]
    from accord import infer
    from problems import function_of

    model = function_of(job.model)
    is_ensemble = job.library == "chees"
    options: dict[str, Any] = dict(chains=job.chains, warmup=job.warmup, draws=job.draws, seed=job.seed)
    if not is_ensemble and jax.default_backend() == "cpu":
        options["lanes"] = job.chains  # else each chain would have a program of one lane

    def run() -> Answer:
        sampler = infer.ChEES() if is_ensemble else infer.NUTS()
        draws = infer.sample(model(**job.data), sampler, precision=job.precision, quiet=True, **options)
        return draws, {"warmup": draws.work["warmup"], "sampling": draws.work["sample"]}

    return run


def by_numpyro(job: Job) -> Callable[[], Answer]:
    """Prepare NumPyro's NUTS at its defaults, its chains vectorised."""
    import jax
    from numpyro.infer import MCMC, NUTS

    import models_numpyro

    def run() -> Answer:
        mcmc = MCMC(
            NUTS(getattr(models_numpyro, job.model)),
            num_warmup=job.warmup,
            num_samples=job.draws,
            num_chains=job.chains,
            chain_method="vectorized",
            progress_bar=False,
        )
        mcmc.run(jax.random.PRNGKey(job.seed), **job.data, extra_fields=("num_steps",))
        steps = int(np.sum(mcmc.get_extra_fields()["num_steps"]))
        return mcmc.get_samples(group_by_chain=True), {"warmup": None, "sampling": steps}

    return run


def by_blackjax(job: Job) -> Callable[[], Answer]:
    """Prepare BlackJAX's NUTS after its window adaptation, a lane for each chain, on NumPyro's density."""
    import blackjax
    import jax
    from blackjax.adaptation.base import get_filter_adapt_info_fn
    from numpyro.infer.util import initialize_model

    import models_numpyro

    def run() -> Answer:
        key_init, key_run = jax.random.split(jax.random.PRNGKey(job.seed))
        model = getattr(models_numpyro, job.model)
        keys = jax.random.split(key_init, job.chains)
        start, potential, postprocess, _ = initialize_model(keys, model, model_kwargs=job.data)

        def log_density(position: Any) -> Any:
            return -potential(position)

        keep = get_filter_adapt_info_fn(info_keys={"num_integration_steps"})
        warmup = blackjax.window_adaptation(blackjax.nuts, log_density, adaptation_info_fn=keep)

        def chain(key: Any, position: Any) -> Any:
            key_warmup, key_sample = jax.random.split(key)
            (state, parameters), info = warmup.run(key_warmup, position, job.warmup)
            step = blackjax.nuts(log_density, **parameters).step

            def draw(state: Any, key: Any) -> Any:
                state, info = step(key, state)
                return state, (state.position, info.num_integration_steps)

            _, (positions, steps) = jax.lax.scan(draw, state, jax.random.split(key_sample, job.draws))
            return positions, info.info.num_integration_steps, steps

        every = jax.jit(jax.vmap(chain))
        positions, warm, steps = every(jax.random.split(key_run, job.chains), start.z)
        sites = jax.jit(jax.vmap(jax.vmap(postprocess)))(positions)
        return sites, {"warmup": int(np.sum(warm)), "sampling": int(np.sum(steps))}

    return run


PREPARE = {"nuts": by_accord, "chees": by_accord, "numpyro": by_numpyro, "blackjax": by_blackjax}


def scalars_of(sites: Sites) -> np.ndarray:
    """Return some numbers of each site, evenly spread; shape `(chain, draw, scalar)`."""
    columns = []
    for name in sites:
        array = np.asarray(sites[name])
        flat = array.reshape(*array.shape[:2], -1)
        size = flat.shape[2]
        columns.append(flat[..., np.unique(np.linspace(0, size - 1, min(size, MOST_OF_A_SITE)).astype(int))])
    return np.concatenate(columns, axis=2)


def main() -> None:
    """Run what the command line asks for, and write what came of it."""
    library, model, output, data, chains, precision, warmup, draws, seed = sys.argv[1:]
    counts = int(chains), precision, int(warmup), int(draws), int(seed)
    compiling = start_jax(is_wide=precision == "float64")
    import jax

    run = PREPARE[library](Job(library, model, read_data(Path(data)), *counts))
    began, cpu_began = time.perf_counter(), time.process_time()
    sites, gradients = run()
    sites = {name: np.asarray(sites[name]) for name in sites}
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
    device = jax.devices()[0]
    memory = (device.memory_stats() or {}).get("peak_bytes_in_use")
    used = [name for name in ("jax", "accord", "numpyro", "blackjax") if name in sys.modules]
    versions = [f"{name} {sys.modules[name].__version__}" for name in used]
    record = {
        "seconds": seconds - compiling.seconds,
        "compile": compiling.seconds,
        "cpu_seconds": cpu_seconds,
        "gradients": gradients,
        "memory": memory,
        "device": f"{len(jax.devices())} x {device.device_kind}",
        "versions": ", ".join(versions),
    }
    np.savez(Path(output).with_suffix(".npz"), scalars=scalars_of(sites))
    Path(output).with_suffix(".json").write_text(json.dumps(record))


if __name__ == "__main__":
    main()
