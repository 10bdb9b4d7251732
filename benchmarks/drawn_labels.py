"""Measure what a sweep costs that draws labels at once, one after the other, or not at all.

    python benchmarks/drawn_labels.py [--rows 1000] [--draws 1000] [--chains 2]

A mixture of three normal distributions with unknown means and shares, blocks of labels and of all else (NUTS): labels
in a plate are drawn at once, and those of one event are visited one after the other, since no table is made of an
event. Beside them, the sum over the labels. Each is run once to compile, and then measured: milliseconds of wall clock
a draw, warm-up included, and the smallest bulk ESS of means and shares by second of draws.
"""

import argparse
import time
from typing import Any

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

MEANS, SHARES = np.array([-2.5, 0.0, 2.5]), np.array([0.3, 0.3, 0.4])
BY_BLOCKS = infer.Gibbs({"z": infer.DiscreteGibbs(), ...: infer.NUTS()})
PLAIN = infer.Gibbs({"z": infer.DiscreteGibbs(is_metropolised=False), ...: infer.NUTS()})


@ac.model
def mixture(x: Any, is_event: bool) -> None:
    """Write labels in a plate, or as one event."""
    share = ac.sample("share", dist.Dirichlet(np.ones(3)))
    mean = ac.sample("mean", dist.ordered(dist.Normal(0, 5).expand((3,)).to_event(1)))
    label, row = dist.Categorical(share), ac.plate("row", len(x))
    if is_event:
        z = ac.sample("z", label.expand((len(x),)).to_event(1))
    else:
        with row:
            z = ac.sample("z", label)
    with row:
        ac.sample("x", dist.Normal(mean[z], 1.0), obs=x)


WAYS: dict[
    str, tuple[bool, Any, int]
] = {  # whether labels are one event, the sampler, and for how many draws one is
    "one after the other": (True, BY_BLOCKS, 5),
    "at once": (False, BY_BLOCKS, 1),
    "at once, plain": (False, PLAIN, 1),
    "summed out": (False, infer.NUTS(), 1),
}


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--chains", type=int, default=2)
    arguments = parser.parse_args()
    rng = np.random.default_rng(1)
    x = rng.normal(MEANS[rng.choice(3, arguments.rows, p=SHARES)], 1)
    print("| labels | ms a draw | ESS | ESS by second |")
    print("|---|---|---|---|")
    for name, (is_event, sampler, divisor) in WAYS.items():
        model, draws = mixture(x, is_event=is_event), arguments.draws // divisor
        options: dict[str, Any] = dict(executor=infer.Serial(), progress=False, quiet=True)
        infer.sample(model, sampler, draws=2, warmup=2, chains=1, seed=0, **options)
        began = time.perf_counter()
        found = infer.sample(
            model, sampler, draws=draws, warmup=draws, chains=arguments.chains, seed=1, **options
        )
        seconds = time.perf_counter() - began
        ess = found.summary(["mean", "share"])["ess_bulk"].min()
        each = seconds / (2 * draws * arguments.chains)
        print(f"| {name} | {1000 * each:.3f} | {ess:.0f} | {2 * ess / seconds:.3g} |", flush=True)


if __name__ == "__main__":
    main()
