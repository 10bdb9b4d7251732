"""Compare ChEES with NUTS in lanes: many chains of the same posteriors, in one program, on the CPU.

    python benchmarks/many_chains.py [--models a,b] [--chains 64,256] [--draws 100] [--out FILE.jsonl]

Both sides run the same chains in one group and one program (`lanes` is the number of chains), by one worker. What is
compiled is compiled before. Effective draws are the smallest of bulk and tail over all scalars, for both by the spread
of chains' means; seconds are those of the processor, of warm-up, sampling and all that goes with them. The difference
column is the largest of posterior means between both, in Monte Carlo errors of the two.
"""

import argparse
import json
import time
from dataclasses import asdict, dataclass

import numpy as np

from accord import infer
from accord.drivers.draws import Draws
from accord.kernels import AbstractKernel
from accord.report import ess_bulk, ess_tail, mcse_mean, nested_r_hat
from problems import model_of

MODELS = ("eight_schools", "kidscore_interaction", "blr", "arK", "garch11")


@dataclass(frozen=True)
class Result:
    """One run: effective draws, gradients of warm-up and sampling, CPU seconds, and nested R-hat at its worst."""

    model: str
    sampler: str
    chains: int
    draws: int
    effective: float
    warmup_gradients: int
    gradients: int
    seconds: float
    r_hat: float
    diverging: int

    @property
    def row(self) -> str:
        """Of a table in Markdown."""
        per_gradient, per_second = 1000 * self.effective / self.gradients, self.effective / self.seconds
        warm = self.warmup_gradients / self.chains
        return (
            f"| {self.model} | {self.sampler} | {self.chains} | {self.effective:.0f} | {per_gradient:.1f} | "
            f"{warm:.0f} | {self.gradients / self.chains:.0f} | {self.seconds:.1f} | {per_second:.0f} | "
            f"{self.r_hat:.3f} | {self.diverging} |"
        )


HEAD = (
    "| model | sampler | chains | ESS | ESS / 1000 gradients | warm-up gradients / chain | gradients / chain | "
    "CPU s | ESS / CPU s | nested R-hat | divergences |\n" + "|---" * 11 + "|"
)


def main() -> None:
    """Run every cell and print its row when it is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--chains", default="64,256")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--samplers", default="ChEES,NUTS")
    parser.add_argument("--out")
    asked = parser.parse_args()
    print(HEAD, flush=True)
    for name in asked.models.split(","):
        for chains in map(int, asked.chains.split(",")):
            means: list[tuple[np.ndarray, np.ndarray]] = []
            for kind in asked.samplers.split(","):
                draws, seconds = run(name, getattr(infer, kind)(), chains, asked.draws)
                result = judged(name, kind, draws, seconds)
                print(result.row, flush=True)
                if asked.out:
                    with open(asked.out, "a") as file:
                        file.write(json.dumps(asdict(result)) + "\n")
                x = scalars(draws)
                means.append((x.mean((0, 1)), mcse_mean(x)))
            if len(means) == 2:
                (a, error_a), (b, error_b) = means
                print(
                    f"<!-- means differ by up to {np.nanmax(np.abs(a - b) / np.hypot(error_a, error_b)):.1f} errors -->"
                )


def run(name: str, sampler: AbstractKernel, chains: int, num_draws: int) -> tuple[Draws, float]:
    """The draws, and the processor's seconds that they took once everything was compiled."""
    options = dict(chains=chains, lanes=chains, executor=infer.Serial(), quiet=True)
    infer.sample(model_of(name), sampler, draws=1, warmup=0, **options)
    began = time.process_time()
    draws = infer.sample(model_of(name), sampler, draws=num_draws, seed=1, **options)
    return draws, time.process_time() - began


def judged(name: str, kind: str, draws: Draws, seconds: float) -> Result:
    """The figures of a run."""
    x = scalars(draws)
    return Result(
        name,
        kind,
        len(draws.chains),
        draws.num_draws,
        float(np.nanmin([ess_bulk(x), ess_tail(x)])),
        draws.work["warmup"],
        draws.work["sample"],
        seconds,
        float(np.nanmax(nested_r_hat(x))),
        int(draws.counts["divergence"]["sample"].sum()),
    )


def scalars(draws: Draws) -> np.ndarray:
    """All of them, shape `(chain, draw, scalar)`."""
    shape = len(draws.chains), draws.num_draws, -1
    return np.concatenate([np.asarray(draws[name], float).reshape(shape) for name in draws], axis=2)


if __name__ == "__main__":
    main()
