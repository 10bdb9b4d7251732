"""Compare errors of log evidences with their spread over repetitions, and the mean evidence with the exact one.

    python benchmarks/evidence_errors.py [--repeats 60] [--models normal share ...] [--methods bridge warp3 ...]
    python benchmarks/evidence_errors.py --unbiased 10000

Five models have exact evidences, by conjugate algebra or quadrature. A repetition is a run of 4 chains of 1000 draws,
with its evidence by each method; of `infer.smc`, 4 populations of 1000 particles, and of nested sampling, 2 runs of 500
points. *Spread* is the standard deviation of the values, and *error* the root mean square of the reported standard
errors: their ratio should be 1, and has itself a standard error of about 1 / sqrt(2 repeats). *Off* is the distance of
the mean value from the exact one, in standard errors of that mean.

`--unbiased` runs as many small populations of `infer.smc` in which nothing is learnt (powers, scales and step sizes are
given), whose evidences have the exact one as their mean; and as many in which all is learnt, as usual.
"""

import argparse
import itertools
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
from scipy import integrate, stats

import accord as ac
import accord.distributions as dist
from accord import infer

QUIET: dict[str, Any] = dict(quiet=True, progress=False)
Y = np.array([1, 2, 3, 2.5, 1.5])


@ac.model
def normal(y: Any) -> None:
    """Measure a mean five times."""
    m = ac.sample("m", dist.Normal(0.0, 10.0))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(m, 1.0), obs=y)


@ac.model
def share() -> None:
    """Count two heads in ten throws."""
    p = ac.sample("p", dist.Uniform(0.0, 1.0))
    ac.sample("heads", dist.Binomial(10, p), obs=2)


@ac.model
def line(y: Any) -> None:
    """Fit a line through five points."""
    b = ac.sample("b", dist.Normal(0.0, 2.0).expand((2,)).to_event(1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(b[0] + b[1] * np.arange(5.0), 1.0), obs=y)


@ac.model
def logistic(x: Any, y: Any) -> None:
    """Fit a slope to three outcomes."""
    b = ac.sample("b", dist.Normal(0.0, 1.0))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Bernoulli(logits=b * x), obs=y)


@ac.model
def schools(sigma: Any, y: Any) -> None:
    """Pool eight schools, in the non-centred form."""
    mu = ac.sample("mu", dist.Normal(0.0, 5.0))
    tau = ac.sample("tau", dist.HalfCauchy(5.0))
    with ac.plate("school", len(y)):
        z = ac.sample("z", dist.Normal(0.0, 1.0))
        ac.sample("y", dist.Normal(mu + tau * z, sigma), obs=y)


SIGMA = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
EFFECTS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
TIMES = np.array([-1, 0.5, 2])


def of_schools() -> float:
    """Integrate over the scale; the rest is normal."""

    def height(tau: float) -> float:
        covariance = np.diag(SIGMA**2 + tau**2) + 25.0
        return stats.halfcauchy.pdf(tau, 0, 5) * np.exp(
            stats.multivariate_normal(np.zeros(8), covariance).logpdf(EFFECTS)
        )

    return float(np.log(integrate.quad(height, 0, np.inf, epsabs=0, epsrel=1e-9, limit=500)[0]))


def of_logistic() -> float:
    """Integrate over the slope."""

    def height(b: float) -> float:
        signs = np.array([-1, 1, 1])
        return stats.norm.pdf(b) / np.prod(1 + np.exp(-signs * b * TIMES))

    return float(np.log(integrate.quad(height, -12, 12, epsabs=0, epsrel=1e-11)[0]))


def of_normal(y: np.ndarray, design: np.ndarray, sd: float) -> float:
    """Return the log density of observations with variance 1 about a design with normal coefficients."""
    return float(stats.multivariate_normal(np.zeros(5), np.eye(5) + sd**2 * design @ design.T).logpdf(y))


MODELS: dict[str, tuple[Callable[[], Any], Callable[[], float]]] = {
    "normal": (lambda: normal(Y), lambda: of_normal(Y, np.ones((5, 1)), 10.0)),
    "share": (share, lambda: -np.log(11)),
    "line": (lambda: line(Y), lambda: of_normal(Y, np.stack([np.ones(5), np.arange(5.0)], axis=1), 2.0)),
    "logistic": (lambda: logistic(TIMES, np.array([0, 1, 1])), of_logistic),
    "schools": (lambda: schools(SIGMA, EFFECTS), of_schools),
}


def by_chains(method: Any) -> Callable[[Any, int], Any]:
    """Estimate from a run of chains, which all methods of one seed share."""
    return lambda model, seed: infer.evidence(run_of(model, infer.NUTS(), seed), method)


def by_ladder(method: Any) -> Callable[[Any, int], Any]:
    """Estimate from a run of replicas."""
    ladder = infer.Tempered(infer.HMC(), temperatures=8)
    return lambda model, seed: infer.evidence(run_of(model, ladder, seed), method)


METHODS: dict[str, Callable[[Any, int], Any]] = {
    "bridge": by_chains(infer.BridgeSampling()),
    "warp3": by_chains(infer.BridgeSampling("warp3")),
    "stones": by_ladder(None),
    "thermodynamic": by_ladder(infer.ThermodynamicIntegration()),
    "smc": lambda model, seed: infer.smc(model, seed=seed, **QUIET).log_evidence,
    "nested": lambda model, seed: infer.evidence(model, infer.NestedSampling(seed=seed, **QUIET)),
}

_RUNS: dict[Any, Any] = {}


def run_of(model: Any, sampler: Any, seed: int) -> Any:
    """Return the run of a sampler with a seed; the last one of each sampler is kept."""
    kept = _RUNS.get(type(sampler))
    if kept is None or kept[:2] != (model.name, seed):
        kept = _RUNS[type(sampler)] = (model.name, seed, infer.sample(model, sampler, seed=seed, **QUIET))
    return kept[2]


def compared(names: list[str], methods: list[str], repeats: int) -> None:
    """Print a row for each model and method."""
    print(f"{repeats} repetitions: a ratio has a standard error of {1 / np.sqrt(2 * repeats):.2f}\n")
    print("| model | method | off | spread | error | ratio | seconds |\n|---|---|---|---|---|---|---|")
    for name in names:
        make, exact = MODELS[name]
        model = make()
        found: dict[str, list[tuple[float, float]]] = {method: [] for method in methods}
        spent = dict.fromkeys(methods, 0.0)
        for seed in range(repeats):
            for method in methods:
                began = time.perf_counter()
                estimate = METHODS[method](model, seed)
                spent[method] += time.perf_counter() - began
                found[method].append((estimate.value, estimate.standard_error))
        for method, pairs in found.items():
            values, errors = np.array(pairs).T
            spread, error = values.std(ddof=1), np.sqrt(np.mean(errors**2))
            off = (values.mean() - exact()) / (spread / np.sqrt(repeats))
            row = f"{off:+.1f} | {spread:.4f} | {error:.4f} | {error / spread:.2f} | {spent[method]:.0f}"
            print(f"| {name} | {method} | {row} |", flush=True)


def unbiased(count: int) -> None:
    """Print the mean evidence of small populations, over the exact one."""
    from accord.adaptation.metric import Metric
    from accord.smc import machine

    ladder = [0.02, 0.1, 0.4, 1.0]
    after, now = dict(itertools.pairwise([0.0, *ladder])), [0.0]

    def next_power(log_likelihood: Any, power: float, share: float) -> float:
        now[0] = after[power]
        return now[0]

    def metric_of(*_: Any) -> Any:
        return Metric.diagonal(np.full(1, 1 / np.sqrt(0.01 + 5 * now[0])) if now[0] else np.ones(1), 0)

    given = dict(
        next_power=next_power,
        metric_of=metric_of,
        step_size_by_probes=lambda *_: 2.0,
        next_step_size=lambda *_: 2.0,
    )
    options: dict[str, Any] = dict(particles=80, moves=8, populations=count, executor=infer.Serial(), **QUIET)
    exact = MODELS["normal"][1]()
    for words, patches in (("nothing is learnt", given), ("all is learnt", {})):
        began = time.perf_counter()
        with mock.patch.multiple(machine, **patches) if patches else mock.patch.object(machine, "__doc__"):
            run = infer.smc(normal(Y), infer.RandomWalk(), **options)
        ratios = np.exp([stages["log_ratio"].sum() - exact for stages in run.stages.values()])
        error = ratios.std(ddof=1) / np.sqrt(count)
        seconds = time.perf_counter() - began
        print(
            f"{count} populations of 80 particles, {words}: mean evidence over the exact one {ratios.mean():.4f} +- "
            f"{error:.4f}; standard deviation of one {ratios.std():.3f}; {seconds:.0f} s",
            flush=True,
        )


def main() -> None:
    """Read the options and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--unbiased", type=int, metavar="POPULATIONS")
    options = parser.parse_args()
    if options.unbiased:
        unbiased(options.unbiased)
    else:
        compared(options.models, options.methods, options.repeats)


if __name__ == "__main__":
    main()
