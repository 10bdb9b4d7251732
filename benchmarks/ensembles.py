"""Compare samplers for many chains with ChEES over the reference posteriors: effective draws per gradient, in pairs.

The rule was set before the first run: a sampler is built into the library only if the lower end of the 95 % interval
of the geometric mean ratio exceeds 1.1, and no posterior falls below 0.7. Gradients are those of one chain: all chains
of a run take equally many.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from accord import infer
from accord.core import precision
from accord.density import LogDensity
from accord.report import ess_bulk, ess_tail, mcse_mean, mcse_sd, nested_r_hat
from ensemble_runs import MEADS, WARMUP, Programs, Run, Trajectories
from problems import model_of

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "posteriors"))

from posteriors import REFERENCES, scalar  # noqa: E402

CHEES, NORMAL = "ChEES", "normal"
CHAINS, DRAWS = 128, 200
OPTIONS: dict[str, Trajectories | MEADS | None] = {
    CHEES: None,  # the library's own
    "ChEES again": Trajectories(),
    "ChEES, at any cost": Trajectories(is_at_any_cost=True),
    "MAMS": Trajectories(is_microcanonical=True, target_accept=0.9, is_length_by_ess=True),
    "MAMS, refreshed": Trajectories(
        is_microcanonical=True, target_accept=0.9, is_length_by_ess=True, decay=1.25
    ),
    "MAMS, as ChEES": Trajectories(is_microcanonical=True, is_at_any_cost=True),
    "MAMS, per time": Trajectories(is_microcanonical=True),
    "MEADS": MEADS(),
    "MEADS, metric": MEADS(learns_metric=True),
}
MODELS = (
    *(NORMAL, "eight_schools", "kidscore_interaction", "logearn_interaction", "nes", "blr", "garch11"),
    *("low_dim_gauss_mix", "logmesquite", "arK", "gp_regr", "arma11", "kilpisjarvi", "hmm_example"),
)
LOST = 1.05  # nested R-hat from which a run counts as failed, and its effective draws as nothing
_DEVIATIONS = np.logspace(-1, 1, 100)  # of the normal, along directions that are turned against its axes
_TURN = np.linalg.qr(np.random.default_rng(0).normal(size=(100, 100)))[0]
_SDS = np.sqrt(np.sum((_TURN * _DEVIATIONS) ** 2, 1))
_PRECISION = (_TURN / _DEVIATIONS**2) @ _TURN.T


def normal(sites: dict[str, Any]) -> Any:
    """The log density of one of 100 dimensions, of which the widest direction is a hundred times the narrowest."""
    return -0.5 * sites["x"] @ _PRECISION @ sites["x"]


def main() -> None:
    """Run what the file of results lacks, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--options", nargs="*", default=list(OPTIONS), choices=OPTIONS)
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=[NORMAL, *REFERENCES])
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "ensembles.jsonl")
    asked = parser.parse_args()
    asked.out.parent.mkdir(exist_ok=True)
    known = read(asked.out)
    for name in asked.models:
        programs = Programs(density_of(name), CHAINS)
        for option in asked.options:
            for seed in asked.seeds:
                if (name, option, seed) in known:
                    continue
                began = time.perf_counter()
                known[name, option, seed] = row = measure(name, option, seed, programs, known)
                with asked.out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(
                    f"{name} {option}: {time.perf_counter() - began:.0f} s {row}", file=sys.stderr, flush=True
                )
    report({key: row for key, row in known.items() if key[0] in asked.models}, asked.options)


def read(path: Path) -> dict[tuple[str, str, int], dict[str, Any]]:
    """The results so far, by model, option and seed."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {(row["model"], row["option"], row["seed"]): row for row in map(json.loads, lines)}


def density_of(name: str) -> LogDensity:
    """What is drawn from."""
    if name == NORMAL:
        return LogDensity.from_function(normal, {"x": np.zeros(len(_DEVIATIONS))})
    return LogDensity.from_model(model_of(name))


def by_library(programs: Programs, seed: int) -> Run:
    """A run of `infer.ChEES`, from the starts that the others have."""
    sites = programs.constrained(programs.starts(seed).position[:, None])
    latent = [entry.name for entry in programs.density.layout.entries]
    init = infer.from_values([{site: sites[site][i, 0] for site in latent} for i in range(CHAINS)])
    options: dict[str, Any] = dict(chains=CHAINS, lanes=CHAINS, executor=infer.Serial(), quiet=True)
    draws = infer.sample(
        programs.density, infer.ChEES(), draws=DRAWS, warmup=WARMUP, seed=seed, init=init, **options
    )
    tuning = {name: float(draws.tuning[name][0]) for name in ("step_size", "trajectory_length")}
    acceptance = float(draws.stats["acceptance_rate"].mean())
    work = (draws.work[phase] / CHAINS for phase in ("warmup", "sample"))
    return Run({site: draws[site] for site in draws}, *work, tuning | {"acceptance": acceptance})


def measure(name: str, option: str, seed: int, programs: Programs, known: Any) -> dict[str, Any]:
    """The figures of one run. What has no draws of its own length gets the gradients that ChEES has had."""
    base = known.get((name, CHEES, seed), {"warmup": 0.0, "sample": 0.0})
    sampler = OPTIONS[option]
    with precision.scope("float64"):
        if sampler is None:
            found = by_library(programs, seed)
        else:
            found = sampler.run(programs, seed, DRAWS, (base["warmup"], base["sample"]))
    arrays = [np.reshape(each, (*each.shape[:2], -1)) for each in found.sites.values()]
    values = np.concatenate(arrays, axis=2)
    z = z_scores(name, found.sites)
    return {
        "model": name,
        "option": option,
        "seed": seed,
        "bulk": float(np.nanmin(ess_bulk(values))),
        "tail": float(np.nanmin(ess_tail(values))),
        "r_hat": float(np.nanmax(nested_r_hat(values))),
        "warmup": found.warmup,
        "sample": found.sample,
        "max_z": float(np.max(np.abs(z))),
        "num_z_above_4": int(np.sum(~(np.abs(z) < 4))),
        **found.tuning,
    }


def z_scores(name: str, sites: Any) -> np.ndarray:
    """Means and standard deviations against the reference's, in joint Monte Carlo errors."""
    if name == NORMAL:
        x = np.asarray(sites["x"])
        return np.concatenate([x.mean((0, 1)) / mcse_mean(x), (x.std((0, 1), ddof=1) - _SDS) / mcse_sd(x)])
    scores = []
    for parameter, reference in REFERENCES[name]["parameters"].items():
        x = np.asarray(scalar(sites, parameter))[..., None]
        pairs = ("mean", x.mean(), mcse_mean(x)[0]), ("sd", x.std(ddof=1), mcse_sd(x)[0])
        for figure, value, error in pairs:
            scores.append((value - reference[figure]) / np.hypot(error, reference[f"mcse_{figure}"]))
    return np.asarray(scores)


def report(rows: dict[Any, dict[str, Any]], options: list[str]) -> None:
    """Print the ratio to ChEES of every option, with its interval, over all posteriors and for each."""
    others = [option for option in options if option != CHEES]
    print("| sampler | posteriors | with warm-up | sampling alone | worst | failed | wins |")
    print("|---|---|---|---|---|---|---|")
    for option in others:
        ratios = {has_warmup: by_model(rows, option, has_warmup) for has_warmup in (True, False)}
        if len(ratios[True]) < 2:
            continue
        found = [row for key, row in rows.items() if key[1] == option]
        worst = min((np.exp(np.mean(each)), name) for name, each in ratios[True].items())
        failed = {row["model"] for row in found if not row["r_hat"] < LOST}
        wins = overall(ratios[True])[1] > 1.1 and worst[0] >= 0.7 and not failed
        cells = [f"{mean:.2f} ({low:.2f} to {high:.2f})" for mean, low, high in map(overall, ratios.values())]
        print(
            f"| {option} | {len(ratios[True])} | {' | '.join(cells)} | {worst[0]:.2f} {worst[1]} | "
            f"{', '.join(sorted(failed)) or 'none'} | {'yes' if wins else 'no'} |"
        )
    print(f"\n| with warm-up | {' | '.join(others)} |\n|{'---|' * (len(others) + 1)}")
    for name in dict.fromkeys(key[0] for key in rows):
        found = [by_model(rows, option, True).get(name, np.array([])) for option in others]
        cells = [f"{np.exp(each.mean()):.2f} ± {error(each):.2f}" if len(each) else "-" for each in found]
        print(f"| {name} | {' | '.join(cells)} |")


def by_model(rows: Any, option: str, has_warmup: bool) -> dict[str, np.ndarray]:
    """Log ratios of effective draws per gradient to those of ChEES, by seed; runs that failed are left out."""
    ratios: dict[str, list[float]] = {}
    for (name, each, seed), row in rows.items():
        base = rows.get((name, CHEES, seed))
        if each == option and base is not None and max(row["r_hat"], base["r_hat"]) < LOST:
            ratio = np.log(efficiency(row, has_warmup) / efficiency(base, has_warmup))
            ratios.setdefault(name, []).append(ratio)
    return {name: np.array(each) for name, each in ratios.items()}


def efficiency(row: dict[str, Any], has_warmup: bool) -> float:
    """Effective draws, the smaller of bulk and tail, per gradient of a chain."""
    return min(row["bulk"], row["tail"]) / (row["sample"] + has_warmup * row["warmup"])


def overall(ratios: dict[str, np.ndarray]) -> tuple[float, float, float]:
    """Geometric mean over posteriors with its 95 % interval, posteriors being a sample of those there are."""
    means = np.array([np.mean(each) for each in ratios.values()])
    half = stats.t.ppf(0.975, len(means) - 1) * means.std(ddof=1) / np.sqrt(len(means))
    return tuple(float(np.exp(means.mean() + side)) for side in (0, -half, half))


def error(log_ratios: np.ndarray) -> float:
    """Standard error of a posterior's ratio, from the scatter of its seeds."""
    if len(log_ratios) < 2:
        return np.nan
    return float(np.std(log_ratios, ddof=1) / np.sqrt(len(log_ratios)) * np.exp(np.mean(log_ratios)))


if __name__ == "__main__":
    main()
