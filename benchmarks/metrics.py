"""Measure effective draws per gradient of every form of metric, and of the one that the run chooses.

    python benchmarks/metrics.py [--models a,b] [--forms auto,diagonal] [--seeds 3] [--file results/metrics.json]

Effective draws are the smallest bulk ESS over all scalars of all sites, from 4 chains of 350 + 1000 draws; gradients
are those of warm-up and sampling. A run whose R-hat is 1.05 or more anywhere is marked with a star, and counts.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.language.model import Model
from accord.mcmc.draws import Draws
from accord.report import ess_bulk, r_hat
from problems import EXAMPLES, model_of

FORMS = ("auto", "diagonal", "low_rank", "dense", "marginal")
SLOW = ("lotka_volterra", "one_comp_mm_elim_abs")  # a differential equation for every gradient: only by name


@ac.model
def spiked(spikes):
    """A normal that is white but for the columns of `spikes`."""
    dim = spikes.shape[0]
    z = ac.sample("z", dist.LowRankMultivariateNormal(jnp.zeros(dim), spikes, jnp.ones(dim)))
    del z


@ac.model
def hierarchical(x, group, num_groups: int, y=None):
    """A regression whose intercepts and slopes belong to groups, all centred, since the data say much of each."""
    loc = ac.sample("loc", dist.Normal(jnp.zeros(2), 5.0).to_event(1))
    scale = ac.sample("scale", dist.LogNormal(jnp.zeros(2), 0.5).to_event(1))
    with ac.plate("group", num_groups):
        effect = ac.sample("effect", dist.Normal(loc, scale).to_event(1))
    sigma = ac.sample("sigma", dist.LogNormal(0.0, 0.5))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(effect[group, 0] + effect[group, 1] * x, sigma), obs=y)


def spiked_model() -> Model:
    """300 dimensions, five directions with standard deviations of 6 to 100."""
    directions = np.linalg.qr(np.random.default_rng(0).standard_normal((300, 5)))[0]
    return spiked(directions * np.geomspace(6, 100, 5))


def hierarchical_model() -> Model:
    """80 groups of 10 rows, whose covariate is far from zero: 165 dimensions, intercepts and slopes correlated."""
    generator = np.random.default_rng(1)
    group = np.repeat(np.arange(80), 10)
    x = 3 + generator.standard_normal(800)
    effect = np.array([1.0, -0.5]) + generator.standard_normal((80, 2)) * np.array([1.0, 0.5])
    y = effect[group, 0] + effect[group, 1] * x + 0.7 * generator.standard_normal(800)
    return hierarchical(x, group, ac.static(80), y=y)


SYNTHETIC: dict[str, Callable[[], Model]] = {
    "spiked_300": spiked_model,
    "hierarchical_165": hierarchical_model,
}
MODELS = (
    *(each.name for each in sorted(EXAMPLES.iterdir()) if each.is_dir() and each.name not in SLOW),
    *SYNTHETIC,
)


def main() -> None:
    """Print a table of all models."""
    parser = argparse.ArgumentParser(description="Measure effective draws per gradient by form of metric.")
    parser.add_argument("--models", default=",".join(MODELS), help="separated by commas")
    parser.add_argument("--forms", default=",".join(FORMS), help="separated by commas")
    parser.add_argument("--seeds", type=int, default=3, help="how many")
    parser.add_argument("--file", type=Path, help="where to keep every figure, as JSON")
    options = parser.parse_args()
    forms = options.forms.split(",")
    print(f"| model | dim | {' | '.join(forms)} | auto / best other | chosen | s |")
    print("|" + "---|" * (len(forms) + 5))
    kept = {}
    for name in options.models.split(","):
        began = time.perf_counter()
        model = SYNTHETIC[name]() if name in SYNTHETIC else model_of(name)
        runs = {form: [measure(model, form, seed) for seed in range(options.seeds)] for form in forms}
        kept[name] = runs
        if options.file:
            options.file.write_text(json.dumps(kept))
        print(row(name, runs, time.perf_counter() - began), flush=True)


def measure(model: Model, form: str, seed: int) -> dict:
    """One run."""
    draws = infer.sample(model, infer.NUTS(metric=form), seed=seed, progress=False, quiet=True)
    return {
        "value": 1000 * _least_effective(draws) / (draws.work["warmup"] + draws.work["sample"]),
        "rhat": max(float(np.nanmax(r_hat(_columns(array)))) for array in draws.sites.values()),
        "work": dict(draws.work),
        "metric": draws.tuning["metric"].tolist(),
        "reason": draws.tuning["metric_reason"].tolist(),
        "dim": draws.tuning["inverse_mass"].shape[1],
    }


def row(name: str, runs: dict[str, list[dict]], seconds: float) -> str:
    """Of the table: geometric means over seeds, in effective draws per thousand gradients."""
    means = {
        form: float(np.exp(np.mean([np.log(run["value"]) for run in each]))) for form, each in runs.items()
    }
    stars = {form: "*" * any(run["rhat"] >= 1.05 for run in each) for form, each in runs.items()}
    others = [value for form, value in means.items() if form != "auto"]
    ratio = means["auto"] / max(others) if "auto" in means and others else np.nan
    chosen = [form for run in runs.get("auto", []) for form in run["metric"]]
    counts = ", ".join(f"{form} {chosen.count(form)}" for form in sorted(set(chosen)))
    values = " | ".join(f"{value:.3g}{stars[form]}" for form, value in means.items())
    dim = next(iter(runs.values()))[0]["dim"]
    return f"| {name} | {dim} | {values} | {ratio:.2f} | {counts} | {seconds:.0f} |"


def _least_effective(draws: Draws) -> float:
    return min(float(np.nanmin(ess_bulk(_columns(array)))) for array in draws.sites.values())


def _columns(array: np.ndarray) -> np.ndarray:
    return array.reshape(*array.shape[:2], -1)


if __name__ == "__main__":
    main()
