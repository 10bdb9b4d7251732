"""Count chains that end in a mode far below the others: a chain whose median log density is 10 nats lower is lost.

A posterior with a second mode of no mass is a trap for chains that begin near it; what counts is how many are caught.
"""

import argparse

import numpy as np

from accord import infer
from problems import model_of

FAR = 10.0  # nats


def main() -> None:
    """Run a model with many seeds, and print those that lost a chain."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="arma11", help="name of an example")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--draws", type=int, default=200)
    options = parser.parse_args()
    model = model_of(options.model)
    lost = chains = 0
    for seed in range(options.seeds):
        draws = infer.sample(model, seed=seed, draws=options.draws, progress=False, quiet=True)
        medians = np.median(draws.stats["lp"], axis=1)
        far = np.flatnonzero(medians < medians.max() - FAR)
        lost, chains = lost + len(far), chains + len(medians)
        if len(far):
            print(f"seed {seed}: chains {far.tolist()}, median log densities {np.round(medians, 1).tolist()}")
    print(f"{options.model}: {lost} of {chains} chains lost in {options.seeds} seeds")


if __name__ == "__main__":
    main()
