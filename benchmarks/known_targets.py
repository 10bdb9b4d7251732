"""Compare every kernel with averages that are known, over two million effective draws.

    python benchmarks/known_targets.py [--ess 2e6] [--seconds S] [--only NAME ...]
    python benchmarks/known_targets.py --page    # write docs/known_averages.md from the results

Runs are repeated with other seeds until the quantity with the fewest effective draws has enough of them, or the seconds
for a kernel are over. Each is a line of `results/known_targets.jsonl`; runs that are there are not made again.
"""

import argparse
import json
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

import accord.distributions as dist
from accord import infer
from accord.kernels import AbstractKernel
from accord.kernels.minibatches import AbstractMinibatches
from known_models import ALONE, FOUR, LABELS, LOCS, MODES, NORMAL, ROWS_OF_COUNTS, SHARES, Target
from stochastic_moments import COVARIANCE, around, too_large

FEWEST = 32  # chains, so that a standard error is known to 12%
OUTPUT = Path(__file__).resolve().parent / "results" / "known_targets.jsonl"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "known_averages.md"


@dataclass(frozen=True)
class Row:
    """A kernel and what it draws from: draws of a chain in a run, chains, and why its draws are biased, if they are."""

    target: Target
    kernel: Callable[[], AbstractKernel]
    num_draws: int
    chains: int = 4
    biased: str = ""


def _x_given_y(values: Any) -> Any:
    return dist.Normal(0.8 * values["y"], 0.6)


def _labels(at: Any) -> Any:
    logits = jnp.log(SHARES) + dist.Normal(LOCS, 1.0).log_prob(at["x"])
    return dist.Categorical(logits=logits)


ROWS = {
    "NUTS": Row(FOUR, infer.NUTS, 100_000),
    "HMC": Row(FOUR, infer.HMC, 100_000),
    "ChEES": Row(FOUR, infer.ChEES, 10_000, chains=64),
    "MALA": Row(FOUR, infer.MALA, 200_000),
    "Barker": Row(FOUR, infer.Barker, 400_000),
    "RandomWalk": Row(FOUR, infer.RandomWalk, 400_000),
    "RandomWalk, robust": Row(FOUR, lambda: infer.RandomWalk(metric="robust"), 400_000),
    "Metropolis": Row(NORMAL, lambda: infer.Metropolis(lambda at: dist.StudentT(4.0, at, 1.5)), 400_000),
    "Slice": Row(FOUR, infer.Slice, 200_000),
    "EllipticalSlice": Row(NORMAL, lambda: infer.EllipticalSlice(mean=3.0, scale=2.0), 200_000),
    "Ensemble": Row(FOUR, infer.Ensemble, 400_000),
    "Ensemble, differences": Row(FOUR, lambda: infer.Ensemble("differential"), 400_000),
    "Ensemble, slices": Row(FOUR, lambda: infer.Ensemble("slice"), 200_000),
    "Repeat": Row(FOUR, lambda: infer.Repeat(infer.RandomWalk(), 5), 200_000),
    "Mixture": Row(FOUR, lambda: infer.Mixture({infer.HMC(): 0.5, infer.RandomWalk(): 0.5}), 200_000),
    "Gibbs": Row(FOUR, lambda: infer.Gibbs({("share", "x"): infer.NUTS(), ...: infer.Slice()}), 400_000),
    "Conditional": Row(
        FOUR, lambda: infer.Gibbs({"x": infer.Conditional(_x_given_y), ...: infer.NUTS()}), 200_000
    ),
    "Conditional, labels": Row(
        LABELS, lambda: infer.Gibbs({"label": infer.Conditional(_labels), ...: infer.NUTS()}), 400_000
    ),
    "DiscreteGibbs": Row(ALONE, infer.DiscreteGibbs, 20_000),
    "DiscreteGibbs, plain": Row(ALONE, lambda: infer.DiscreteGibbs(is_metropolised=False), 100_000),
    "Gibbs and DiscreteGibbs": Row(
        LABELS, lambda: infer.Gibbs({"label": infer.DiscreteGibbs(), ...: infer.NUTS()}), 400_000
    ),
    "MixedHMC": Row(LABELS, infer.MixedHMC, 400_000),
    "Tempered": Row(MODES, lambda: infer.Tempered(infer.HMC(), temperatures=6), 200_000),
    "HMCECS": Row(
        ROWS_OF_COUNTS, infer.HMCECS, 20_000, biased="the noise of estimates is corrected for in part"
    ),
}
WALKS: dict[str, AbstractMinibatches] = {
    "SGLD": infer.SGLD(step_size=0.5, num_steps=10),
    "SGLD, control variates": infer.SGLD(step_size=0.5, num_steps=10, control_variates=True),
    "SGHMC": infer.SGHMC(step_size=0.5, num_steps=10, friction=0.3),
}
ROWS |= {
    name: Row(around(kernel), lambda kernel=kernel: kernel, 50_000 if name == "SGHMC" else 100_000)
    for name, kernel in WALKS.items()
}


@dataclass(frozen=True)
class Result:
    """Means of chains of all runs, `(chain, quantity)`, and what they took."""

    means: np.ndarray
    num_draws: int
    seconds: float

    def scored(self, target: Target) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the fewest effective draws, scores, and departures in standard deviations of the quantity."""
        errors = self.means.std(0, ddof=1) / np.sqrt(len(self.means))
        departures = self.means.mean(0) - np.array(target.means)
        variances = np.array(target.variances)
        return float(np.min(variances / errors**2)), departures / errors, departures / np.sqrt(variances)


def stored(name: str) -> list[dict[str, Any]]:
    """Return the runs of a row that were made, of the length that it has now."""
    lines, row = OUTPUT.read_text().splitlines() if OUTPUT.exists() else [], ROWS[name]
    size = row.chains * row.num_draws
    return [run for run in map(json.loads, lines) if run["kernel"] == name and run["draws"] == size]


def together(runs: list[dict[str, Any]]) -> Result:
    """Join runs."""
    means = np.concatenate([run["means"] for run in runs])
    return Result(means, sum(run["draws"] for run in runs), sum(run["seconds"] for run in runs))


def run(name: str, wanted: float, seconds: float) -> None:
    """Make the runs of a row that are missing."""
    row, began = ROWS[name], time.perf_counter()
    while True:
        runs = stored(name)
        is_over = time.perf_counter() - began > seconds
        if len(runs) * row.chains >= FEWEST and (is_over or together(runs).scored(row.target)[0] > wanted):
            return
        seed = max((made["seed"] for made in runs), default=-1) + 1
        start = time.perf_counter()
        draws = infer.sample(
            row.target.model(),
            row.kernel(),
            draws=row.num_draws,
            chains=row.chains,
            seed=seed,
            progress=False,
            quiet=True,
        )
        means = np.stack([np.mean(each, 1) for each in row.target.quantities(draws)], -1)
        made: dict[str, Any] = {
            "kernel": name,
            "seed": seed,
            "draws": row.chains * row.num_draws,
            "means": [[float(f"{each:.8g}") for each in chain] for chain in means],
            "seconds": round(time.perf_counter() - start, 1),
        }
        if name in WALKS:
            made["too_large"] = too_large(WALKS[name], draws).tolist()
        with OUTPUT.open("a") as file:
            file.write(json.dumps(made) + "\n")


def lines() -> Iterator[str]:
    """Yield the tables of what was run."""
    yield "| kernel | draws | effective draws, at least | largest score | largest departure, sd | seconds |"
    yield "|---|---|---|---|---|---|"
    for name in _made(ROWS.keys() - WALKS.keys()):
        row, result = ROWS[name], together(stored(name))
        _, _, departures = result.scored(row.target)
        yield (
            f"| {name}{', **biased**: ' + row.biased if row.biased else ''} | {_figures(name, result)} | "
            f"{np.abs(departures).max():.1e} | {result.seconds:.0f} |"
        )
    if walks := _made(WALKS.keys()):
        yield WALKS_INTRODUCTION
        yield (
            "| kernel | draws | effective draws, at least | largest score | variances too large by, exactly | found | "
            "seconds |"
        )
        yield "|---|---|---|---|---|---|---|"
        for name in walks:
            runs = stored(name)
            result = together(runs)
            exact = np.concatenate([run["too_large"] for run in runs]).mean(0)
            found = exact + result.means.mean(0)[2:4] / np.diagonal(COVARIANCE)
            yield (
                f"| {name} | {_figures(name, result)} | {_shares(exact)} | {_shares(found)} | {result.seconds:.0f} |"
            )
    if missing := ROWS.keys() - set(_made(ROWS.keys())):
        yield f"\nNot run yet: {'; '.join(sorted(missing))}."


def _made(names: Collection[str]) -> list[str]:
    """Return the rows among these, in their order, of which enough chains were run."""
    return [name for name, row in ROWS.items() if name in names and len(stored(name)) * row.chains >= FEWEST]


def _figures(name: str, result: Result) -> str:
    """Write draws, effective draws and the largest score of a row."""
    least, scores, _ = result.scored(ROWS[name].target)
    return f"{result.num_draws:.1e} | {least:.1e} | {np.abs(scores).max():.1f} of {len(scores)}"


def _shares(values: np.ndarray) -> str:
    return ", ".join(f"{each:.2%}" for each in values)


INTRODUCTION = """# Kernels beside averages that are known

<!-- Written by python benchmarks/known_targets.py --page: run it again instead of changing this page. -->

Kernels draw from a posterior whose averages are known: of a beta, a gamma and two correlated normal unknowns, a
normal posterior, two far modes with weights 0.2 and 0.8, labels with four values and a normal number given each, a
label alone, or a rate of 400 counts of which a step takes 20. Means, variances, covariances and the probabilities below
the true 5%, 50% and 95% points are compared with the truth.

- A *score* is the distance of an average from the truth in standard errors, which come from the spread of the means of
  independent chains. Of the scores in a row the largest is shown. It should be 2 to 3, and 1 of 10,000 sound rows has
  one above 4.7.
- *Effective draws* are those of the quantity that has the fewest. Two million are wanted; where there are fewer, time
  was over.
- A *departure* is that distance in standard deviations of the quantity. Of a kernel without a bias, it falls as draws
  are added; of one with a bias, it is the bias.
- *Seconds* are by the clock of machines that did other things too, so they compare little.

"""
WALKS_INTRODUCTION = """
## Biased by construction

Steps along gradients from a part of the data, without acceptance, give variances that are too large. On a normal
posterior the excess is known exactly, for any step size. Here it is that of a regression with an intercept and a slope:
40 rows of which a step takes 20, `step_size=0.5`, `num_steps=10`, and for SGHMC `friction=0.3`. Steps are much longer
than by default, so that the excess is plain to see. It depends on the scales that a chain learns in warm-up, so it is
computed for each chain. A score is the distance of means, variances and the covariance from those that such steps have.
"""


def main() -> None:
    """Run what is missing and print the table, or write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ess", type=float, default=2e6)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for a kernel")
    parser.add_argument("--only", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    if options.page:
        PAGE.write_text(INTRODUCTION + "\n".join(lines()) + "\n")
        return
    for name in options.only:
        run(name, options.ess, options.seconds)
    print("\n".join(lines()))


if __name__ == "__main__":
    main()
