"""Compare lengths of warm-up on the examples: effective draws per gradient, agreement of chains, divergences.

Lengths are paired by model and seed; the first one is what the others are compared with. Gradients of warm-up count.
"""

import argparse
import collections

import numpy as np
from arviz_stats.base import array_stats

from accord import infer
from accord.mcmc.draws import Draws
from problems import MODELS, model_of


def main() -> None:
    """Run every model with every seed and length, and print a row for each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--lengths", nargs="*", default=["500", "default"], help="draws, or `default`")
    options = parser.parse_args()
    ratios: dict[str, list[float]] = collections.defaultdict(list)
    print(
        "| model | length | ESS per 1000 gradients | of the first | warm-up gradients | R-hat | divergences |"
    )
    print("|---|---|---|---|---|---|---|")
    for name in options.models:
        model, found = model_of(name), collections.defaultdict(list)
        for seed in range(options.seeds):
            for length in options.lengths:
                warmup = None if length == "default" else int(length)
                draws = infer.sample(model, seed=seed, warmup=warmup, progress=False, quiet=True)
                found[length].append(_figures(draws))
        first = np.log([row[0] for row in found[options.lengths[0]]])
        for length in options.lengths:
            rows = np.array(found[length])
            ratio = np.log(rows[:, 0]) - first
            ratios[length] += ratio.tolist()
            gradients, r_hat = rows[:, 1].mean(), rows[:, 2].max()
            cells = f"{np.exp(np.log(rows[:, 0]).mean()):.1f} | {np.exp(ratio.mean()):.2f} | {gradients:.0f}"
            print(f"| {name} | {length} | {cells} | {r_hat:.3f} | {rows[:, 3].sum():.0f} |", flush=True)
    for length, logs in ratios.items():
        error = np.std(logs) / np.sqrt(len(logs))
        print(f"\n{length}: {np.exp(np.mean(logs)):.3f} +- {error:.3f} of the first, {len(logs)} runs")


def _figures(draws: Draws) -> tuple[float, float, float, float]:
    """Smallest bulk ESS per 1000 gradients, gradients of warm-up per chain, largest R-hat, divergences."""
    scalars = [
        column.reshape(*column.shape[:2])
        for array in draws.values()
        for column in np.split(array.reshape(*array.shape[:2], -1), max(array[0, 0].size, 1), axis=2)
        if column.std() > 0
    ]
    ess = min(float(array_stats.ess(each, method="bulk")) for each in scalars)
    r_hat = max(float(array_stats.rhat(each)) for each in scalars)
    gradients = draws.work["warmup"] + draws.work["sample"]
    return (
        1000 * ess / gradients,
        draws.work["warmup"] / len(draws.chains),
        r_hat,
        float(draws.stats["diverging"].sum()),
    )


if __name__ == "__main__":
    main()
