"""Compare the cost of log densities with that of the textbook formula and of NumPyro, and write `docs/likelihoods.md`.

    python benchmarks/likelihoods.py [--names Poisson,Gamma] [--sizes 100,10000] [--env FOLDER]

Everything is value and gradient of a regression with one covariate, in a loop of one compiled program on one core, in
seconds of its time. Both processes, accord's and NumPyro's, also run the textbook formula; a ratio of accord to
NumPyro is the ratio of their ratios to it, so that a core that is slower in one of them does not matter. Rows are kept
in `results/likelihoods.jsonl`, where the last one of each counts, and the page is made of them.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

if hasattr(os, "sched_setaffinity"):  # before JAX counts the cores
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import LogDensity
from accord.core.precision import scope
from accord.density.ahead import split
from accord.programs.compiler import is_large_gradient, options_for
from accord.programs.loop import marked, while_loop_in_pieces
from environment import PROJECT, default_folder, kept_environment, python_of
from likelihood_cases import CASES, DIM, predictors
from likelihood_loops import compiled_loop, data_of, fastest, of_library, start, written
from tables import table

SIZES = (100, 10_000, 1_000_000)
WORKER = Path(__file__).resolve().parent / "peers" / "likelihoods_numpyro.py"
PAGE = PROJECT / "docs" / "likelihoods.md"
RESULTS = PROJECT / "benchmarks" / "results" / "likelihoods.jsonl"
TOLERANCE = 1e-9
THEIR_TOLERANCE = 1e-6  # NumPyro's negative binomial has seven digits

Seconds = dict[str, float]


def main() -> None:
    """Measure, print a table, and write the page."""
    parser = argparse.ArgumentParser(description="Compare the cost of log densities.")
    parser.add_argument("--names", default=";".join(CASES), help="separated by semicolons")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--env", type=Path, default=default_folder(), help="the peers' virtual environment")
    options = parser.parse_args()
    names, sizes = options.names.split(";"), [int(size) for size in options.sizes.split(",")]
    for (name, size), other in numpyros(python_of(options.env), names, sizes):
        row = row_of(name, size, accords(name, size), other)
        print(" | ".join(row), flush=True)
        with RESULTS.open("a") as file:
            file.write(json.dumps(row) + "\n")
    kept = {(row[0], row[1]): row for row in map(json.loads, RESULTS.read_text().splitlines())}
    order = [(name, f"{size:,}") for name in CASES for size in SIZES]
    PAGE.write_text(page([kept[key] for key in order if key in kept]))


def accords(name: str, size: int) -> Seconds:
    """Time the textbook formula and accord, alone and as a run computes it; all must give one value."""
    data = data_of(name, size)
    with scope("float64"):
        own = of_library(name, dist)
        loops = {
            "written, run": compiled_loop(written(name), data),
            "written, alone": compiled_loop(written(name), data, moves_data=True),
            "library, alone": compiled_loop(own, data, moves_data=True),
            "library, run": loop_of_a_run(name, data),
        }
        check(name, [loop(1) for loop in loops.values()])
        return fastest(loops)


def loop_of_a_run(name: str, data: dict[str, np.ndarray]) -> Callable[[int], float]:
    """Compile the gradient of a model as `mcmc.compiled` does, in a loop that does nothing else."""

    @ac.model
    def regression(x: Any, y: Any) -> None:
        with ac.plate("coefficient", DIM):
            position = ac.sample("position", dist.Normal(0, 1))
        with ac.plate("row", len(y)):
            ac.sample("y", CASES[name].make(dist, predictors(position, x)), obs=y)

    density = LogDensity.from_model(regression(**data), "float64")

    def evaluate(data: Any, position: Any) -> Any:
        return density.with_data(data).value_and_grad(position)

    closed = jax.make_jaxpr(evaluate)(density.data, start())
    parts = split(closed, len(density.data))
    constant = DIM * 0.5 * np.log(2 * np.pi)  # of the prior, which the other loops leave out

    def loop(data: Any, position: Any, shift: Any, count: Any) -> Any:
        if parts is None:
            step = marked(lambda position: evaluate(data, position))
        else:
            step = marked(parts.bound(closed.consts, jax.tree.leaves(data)))

        def body(carry: Any) -> Any:
            number, position, total = carry
            value, gradient = step(position)
            return number + 1, position + shift * gradient, total + value

        first = (jnp.int32(0), position, jnp.zeros(()))
        return while_loop_in_pieces(lambda carry: carry[0] < count, body, first)[2]

    arguments = (density.data, start(), np.float64(0), np.int32(0))
    shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), arguments)
    options = options_for(is_large_gradient(closed, 1))
    compiled = jax.jit(loop).lower(*shapes).compile(compiler_options=options)
    on_device = jax.device_put(density.data)
    zero = np.float64(0)
    return lambda count: float(compiled(on_device, start(), zero, np.int32(count))) + count * constant


def numpyros(python: Path, names: list[str], sizes: list[int]) -> Iterator[tuple[tuple[str, int], Seconds]]:
    """Time the textbook formula and NumPyro in its own environment, one case after the other."""
    environment = kept_environment(default_folder().with_name("likelihoods"), is_accord=False)
    for size in sizes:
        for name in names:
            command = [str(python), str(WORKER), json.dumps([name]), json.dumps([size])]
            ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
            found = json.loads(ran.stdout.splitlines()[-1])
            check(name, list(found["values"].values()), THEIR_TOLERANCE)
            yield (name, size), found["seconds"]


def check(name: str, values: list[float], tolerance: float = TOLERANCE) -> None:
    """Raise an error where two ways of computing one value disagree."""
    if max(values) - min(values) > tolerance * max(abs(value) for value in values):
        raise SystemExit(f"{name}: values differ: {values}")


def row_of(name: str, size: int, mine: Seconds, other: Seconds) -> list[str]:
    """Return a row of the table: microseconds of the formula in a run, and ratios."""

    def ratios(way: str) -> list[str]:
        own = mine[f"library, {way}"] / mine[f"written, {way}"]
        return [f"{own:.2f}", f"{own / (other[f'library, {way}'] / other[f'written, {way}']):.2f}"]

    return [
        name,
        f"{size:,}",
        f"{mine['written, run'] * 1e6:.3g}",
        *ratios("run"),
        f"{mine['written, alone'] * 1e6:.3g}",
        *ratios("alone"),
    ]


def page(rows: list[list[str]]) -> str:
    """Return the page."""
    header = (
        "distribution",
        "values",
        "formula in a loop, us",
        "in a run / formula",
        "in a run / NumPyro",
        "formula alone, us",
        "alone / formula",
        "alone / NumPyro",
    )
    return f"""# Cost of likelihoods

<!-- Written by python benchmarks/likelihoods.py: run it again instead of changing this page. -->

Value and gradient of a regression with one covariate, by the distribution of its observed values: accord beside the
textbook formula, written by hand in JAX, and beside NumPyro. Ratios above 1 mean that accord takes longer.
Seconds of one CPU core in float64, with accord {version("accord")}, JAX {version("jax")}, {date.today().isoformat()}.

- *In a run*: in a loop over positions with the same observed values, compiled as `infer.sample` compiles its loop.
  Formula and NumPyro are compiled with JAX's defaults.
- *Alone*: `log_prob` and its gradient where nothing can be computed ahead, because the observed values change in every
  turn. All three are compiled with JAX's defaults.

The core was shared with other programs. Repeated figures differ by a few per cent up to 10,000 values, and by up to a
third at a million, where memory decides.

{table(header, rows)}

## What a run computes once

The program that draws computes terms of the data alone once for each block of draws, ahead of its loop, such as log(y!)
of counts or a standardised covariate. Nothing has to be written for it: any function of the data qualifies, in a
`ac.factor` too. Data stay arguments of the program, so new data of the same shape compile nothing. What is kept is at
most twice as large as the data, or 4 MiB.

Repeated in every step are cheap arithmetic, which is as fast as reading its result, and what depends on a parameter.
Write expensive functions of the data without parameters in them: `jnp.log(x) * beta`, not `jnp.log(x**beta)`.

## What makes a likelihood fast

- Parameters that are the same for all observations should be scalars: a function such as the log-gamma of a
  concentration is then computed once, not for each observation.
- Give `Bernoulli`, `Binomial` and `Geometric` their `logits`, and `Poisson` the rate `jnp.exp(eta)`.
- Cutpoints of `OrderedLogistic` should be one vector for all observations.

## Where accord takes longer

Accord's formulas are accurate in the tails and for large parameters ([Accuracy](accuracy.md)), where the textbook
formulas subtract large numbers or overflow. Against the formula, with 10,000 values in a run:

- `Poisson`, 1.3: as many passes as the formula, but a series in place of `k log(rate / k) - (rate - k)`, which cancels,
  and a division by the rate, where the formula has only its logarithm. They take 1.3 and 0.5 ns more for each value.
- `ZeroInflatedPoisson`, 1.5: the same, and the probability of zero where it is nearly 0 or nearly 1.
- `Weibull`, 1.6 (a fifth of NumPyro's time): the scale is an exponential, as costly as the one that both have, and the
  formula is given its logarithm. A series near the scale takes as long again: a difference of logarithms loses digits
  there.
- `OrderedLogistic`, 1.3 (half of NumPyro's time): its exponentials take as long as the formula's, and a pass more, with
  the logarithm of both sides, takes 3 ns for each value. The formula's difference of two probabilities loses all digits
  in the tails. Alone, the thresholds of the values are found in each turn, by comparing: 1.6 to 1.9.

With a million values memory decides: what is chosen between two formulas is written to memory once more, which takes
`StudentT` with constant `df`, `LogNormal` and `OrderedLogistic` up to 1.9 times as long as the formula, `Binomial` 1.4,
`Categorical`, `ZeroInflatedPoisson` and `Cauchy` 1.3 (`Cauchy` alone 2). With 100 values, alone, a pass more takes
0.05 to 0.1 us: `Exponential` 1.25, `Weibull` 1.4, `ZeroInflatedPoisson` 1.2.

Rows of `Normal`, `StudentT` with `df` 4, `Cauchy`, `Laplace`, `LogNormal`, `Exponential` and `Weibull` were measured at
another time than the others, when the core was less busy, and those from `BetaBinomial` on when it was busier: compare
ratios, not microseconds.

Up to 4,095 observations a run compiles its loop to one piece of machine code, which makes up for it.
"""


if __name__ == "__main__":
    sys.exit(main())
