"""Count the chains of accord that never reach the posterior of arma11, which has a far mode that holds chains.

    python benchmarks/lost_chains.py [--seeds 20] [--output results/lost_chains.txt] [--resume]

A chain is lost if it was left out, or if the mean of its draws of any parameter is more than five of the posterior's
standard deviations away from where the reference draws of posteriordb have it: a good chain's is a tenth of one away.
`--resume` runs the seeds that the output lacks.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from accord import infer
from leftovers import lost_of
from problems import model_of

HERE = Path(__file__).resolve().parent
REFERENCES = HERE.parent / "tests" / "posteriors" / "references.json"
MODEL = "arma11"
FAR = 5.0  # standard deviations of the posterior
CHAINS = 4


def main() -> None:
    """Write a line for each seed: the seed, how many chains were lost, the largest R-hat, and gradients."""
    parser = argparse.ArgumentParser(description="Count the chains of accord that are lost on arma11.")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "lost_chains.txt")
    parser.add_argument("--resume", action="store_true", help="run the seeds that the output lacks")
    options = parser.parse_args()
    is_kept = options.resume and options.output.exists()
    lines = options.output.read_text().splitlines() if is_kept else []
    known = lost_of(options.output) if is_kept else {}
    parameters = json.loads(REFERENCES.read_text())[MODEL]["parameters"]
    model = model_of(MODEL)
    for seed in range(options.seeds):
        if seed in known:
            continue
        draws = infer.sample(model, chains=CHAINS, seed=seed, progress=False, quiet=True)
        num_lost = CHAINS - int(is_found(dict(draws.sites), parameters).sum())
        lines.append(f"{seed} {num_lost} {sum(draws.work.values())}")
        print(f"seed {seed}: {num_lost} lost, {sum(draws.work.values())} gradients", flush=True)
        options.output.write_text("\n".join(lines) + "\n")


def is_found(sites: dict[str, np.ndarray], parameters: dict[str, dict[str, float]]) -> np.ndarray:
    """Whether each chain's means lie where the posterior is; shape `(chain,)`."""
    distances = [abs(sites[name].mean(axis=1) - row["mean"]) / row["sd"] for name, row in parameters.items()]
    return np.max(distances, axis=0) < FAR


if __name__ == "__main__":
    main()
