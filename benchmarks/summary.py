"""Measure how much sooner a summary is there than that of ArviZ, which says the same.

    python benchmarks/summary.py [--chains 4] [--draws 1000] [--scalars 2000] [--correlation 0.0] [--repeats 3]

Both take turns on the same draws, and the medians are compared: seconds of a clock, and of all cores together. Columns
that both have must agree.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from accord.report import summarise

AIM = 20


def main() -> None:
    """Print a table of the two."""
    parser = argparse.ArgumentParser(
        description="Compare the time of a summary with that of arviz_stats.summary."
    )
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--draws", type=int, default=1000, help="per chain")
    parser.add_argument("--scalars", type=int, default=2000)
    parser.add_argument("--correlation", type=float, default=0.0, help="from one draw to the next")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    draws = _autoregression(options.correlation, options.chains, options.draws, options.scalars)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ArviZ's dependencies, on import
        import arviz_stats
        from arviz_base import from_dict

    tree = from_dict({"posterior": {"x": draws}})
    ways: dict[str, Callable[[], Any]] = {
        "arviz_stats.summary": lambda: arviz_stats.summary(tree, round_to="none", ci_kind="eti", ci_prob=0.9),
        "accord": lambda: summarise({"x": draws}),
    }
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    tables = {}
    for _ in range(options.repeats):
        for name, way in ways.items():
            clock, cores = time.perf_counter(), time.process_time()
            tables[name] = way()
            seconds[name].append((time.perf_counter() - clock, time.process_time() - cores))
    for column in ("mean", "r_hat", "ess_bulk", "mcse_mean"):
        np.testing.assert_allclose(tables["accord"][column], tables["arviz_stats.summary"][column], rtol=1e-8)
    print(f"{options.chains} x {options.draws} x {options.scalars}, correlation {options.correlation:g}")
    print("| | s by the clock | s of all cores | ms of a core for a scalar |")
    print("|---|---|---|---|")
    medians = {name: [median(each) for each in zip(*found, strict=True)] for name, found in seconds.items()}
    for name, (clock, cores) in medians.items():
        print(f"| {name} | {clock:.3f} | {cores:.3f} | {1000 * cores / options.scalars:.3f} |")
    ratios = [one / other for one, other in zip(*medians.values(), strict=True)]
    verdict = "met" if ratios[0] >= AIM else "**missed**"
    print(
        f"\n{ratios[0]:.1f} times sooner by the clock ({verdict}: aim {AIM}), {ratios[1]:.1f} by all cores."
    )


def _autoregression(correlation: float, chains: int, draws: int, scalars: int) -> np.ndarray:
    """Stationary chains of unit variance, shape `(chain, draw, scalar)`."""
    found = np.random.default_rng(0).normal(size=(chains, draws, scalars))
    for draw in range(1, draws):
        found[:, draw] = correlation * found[:, draw - 1] + np.sqrt(1 - correlation**2) * found[:, draw]
    return found


if __name__ == "__main__":
    main()
