"""Measure how much sooner chains finish in threads than one after the other, and that they draw the same.

    python benchmarks/threads.py [--models a,b] [--draws 1000] [--repeats 5]

The programs are compiled before the clock starts. Both executors take turns, and the medians are compared.
"""

import argparse
import time
from statistics import median

from accord import infer
from accord.executors import available_cores
from accord.mcmc.draws import Draws
from problems import MODELS, model_of

AIM = 1.7  # on two cores


def main() -> None:
    """Print a table of the models."""
    parser = argparse.ArgumentParser(
        description="Measure the speed-up of threads over one chain after the other."
    )
    parser.add_argument("--models", default="diamonds,low_dim_gauss_mix", help=f"of {', '.join(MODELS)}")
    parser.add_argument("--draws", type=int, default=1000, help="per chain")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    cores = available_cores()
    print(
        f"| model | Serial(), s | Threads(), s | speed-up | best possible | aim {AIM} on 2 cores | same bits |"
    )
    print("|---|---|---|---|---|---|---|")
    for name in options.models.split(","):
        executors = {"serial": infer.Serial(), "threads": infer.Threads()}
        seconds: dict[str, list[float]] = {each: [] for each in executors}
        reference = _sample(name, infer.Serial(), options.draws)[1]
        is_same = True
        for _ in range(options.repeats):
            for each, executor in executors.items():
                elapsed, draws = _sample(name, executor, options.draws)
                seconds[each].append(elapsed)
                is_same = is_same and _bits(draws) == _bits(reference)
        serial, threads = (median(seconds[each]) for each in executors)
        verdict = ("met" if serial / threads >= AIM else "**missed**") if cores == 2 else f"{cores} cores"
        print(
            f"| {name} | {serial:.2f} | {threads:.2f} | {serial / threads:.2f} | {_ideal(reference, cores):.2f} | "
            f"{verdict} | {'yes' if is_same else '**no**'} |",
            flush=True,
        )


def _sample(name: str, executor: infer.Serial | infer.Threads, draws: int) -> tuple[float, Draws]:
    """Seconds from the call to the draws, all of them in warm-up and sampling once the programs are compiled."""
    began = time.perf_counter()
    result = infer.sample(model_of(name), draws=draws, executor=executor, progress=False, quiet=True)
    return time.perf_counter() - began, result


def _bits(draws: Draws) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in {**draws.sites, **draws.stats}.items()}


def _ideal(draws: Draws, cores: int) -> float:
    """The speed-up if only the gradients cost time, and each core took the next chain when it is free."""
    work = draws.stats["n_steps"].sum(axis=1) + draws.warmup["n_steps"].sum(axis=1)
    busy = [0] * cores
    for amount in work:
        busy[busy.index(min(busy))] += int(amount)
    return float(work.sum()) / max(busy)


if __name__ == "__main__":
    main()
