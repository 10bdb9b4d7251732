"""Compare options of NUTS with the default over the reference posteriors: effective draws per gradient, in pairs.

The rule was set before the first run: an option is kept if, for bulk and for tail, the lower end of the 95 % interval
of the geometric mean ratio exceeds 1, and no posterior falls below 0.9.
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
from accord.report import ess_bulk, ess_tail, r_hat
from option_kernels import WARMUP, Option, switched

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "posteriors"))

from monte_carlo import mcse_mean, mcse_sd  # noqa: E402
from posteriors import REFERENCES, model_of, scalar  # noqa: E402

DEFAULT = "default"
OPTIONS = {
    DEFAULT: Option(),
    "balanced": Option(balanced_from=0.0),
    "balanced, half": Option(balanced_from=0.5),
    "balanced, late": Option(balanced_from=0.85),
    "jitter": Option(jitter=0.1),
    "exact normal": Option(largest_angle=np.pi / 2),
    "exact normal, short": Option(largest_angle=1.0),
    "McLachlan": Option(first_kick=0.1931833275037836),
    "Blanes": Option(first_kick=0.211781),
}
SLOW = (
    "lotka_volterra",
    "one_comp_mm_elim_abs",
)  # differential equations, whose gradients cost too much here; `--models` runs them
CHAINS = 4  # of one run; runs with the same model go through one program, side by side
LOST = 1.05  # R-hat from which a run counts as failed, and its effective draws as nothing


def main() -> None:
    """Run what the file of results lacks, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--options", nargs="*", default=list(OPTIONS), choices=OPTIONS)
    parser.add_argument("--models", nargs="*", default=[name for name in REFERENCES if name not in SLOW])
    parser.add_argument("--runs", type=int, default=5, help="of four chains each, by option and model")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "options.jsonl")
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(exist_ok=True)
    known = read(arguments.out)
    for name in arguments.models:
        model = model_of(name)
        for option in arguments.options:
            if (name, option, arguments.seed, arguments.runs) in known:
                continue
            began = time.perf_counter()
            row = measure(name, model, option, arguments.seed, arguments.runs)
            with arguments.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(f"{name} {option}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    report(read(arguments.out), arguments.options, arguments.models)


def read(path: Path) -> dict[tuple[str, str, int, int], dict[str, Any]]:
    """The results so far, by model, option, seed and number of runs."""
    lines = path.read_text().splitlines() if path.exists() else []
    rows = [json.loads(line) for line in lines]
    return {(row["model"], row["option"], row["seed"], len(row["bulk"])): row for row in rows}


def measure(name: str, model: Any, option: str, seed: int, runs: int) -> dict[str, Any]:
    """The figures of `runs` runs of one model, which are chains of one program."""
    count, gradients = runs * CHAINS, OPTIONS[option].gradients_per_step
    run = dict(warmup=WARMUP, chains=count, lanes=count, seed=seed, executor=infer.Serial(), quiet=True)
    with switched(OPTIONS[option]):
        draws = infer.sample(model, OPTIONS[option].kernel, **run)
    arrays = [np.reshape(draws[site], (*draws[site].shape[:2], -1)) for site in draws]
    values = np.concatenate(arrays, axis=2)
    groups = [values[i : i + CHAINS] for i in range(0, count, CHAINS)]
    steps = draws.stats["n_steps"].astype(float)
    z = z_scores(name, draws.sites)
    return {
        "model": name,
        "option": option,
        "seed": seed,
        "bulk": [float(np.nanmin(ess_bulk(group))) for group in groups],
        "tail": [float(np.nanmin(ess_tail(group))) for group in groups],
        "r_hat": [float(np.nanmax(r_hat(group))) for group in groups],
        "sample": [float(steps[i : i + CHAINS].sum() * gradients) for i in range(0, count, CHAINS)],
        "warmup": draws.work["warmup"] * gradients / runs,
        "divergences": int(draws.stats["diverging"].sum()),
        "step_size": float(np.median(draws.tuning["step_size"])),
        "max_z": float(np.max(np.abs(z))),
        "num_z_above_4": int(np.sum(~(np.abs(z) < 4))),
    }


def z_scores(name: str, sites: Any) -> np.ndarray:
    """Means and standard deviations of all chains against the reference's, in joint Monte Carlo errors."""
    scores = []
    for parameter, reference in REFERENCES[name]["parameters"].items():
        values = scalar(sites, parameter)
        errors = mcse_mean(values), mcse_sd(values)
        for figure, value, error in zip(
            ("mean", "sd"), (values.mean(), values.std(ddof=1)), errors, strict=True
        ):
            scores.append((value - reference[figure]) / np.hypot(error, reference[f"mcse_{figure}"]))
    return np.asarray(scores)


def report(rows: dict[Any, dict[str, Any]], options: list[str], models: list[str]) -> None:
    """Print the ratio to the default of every option, with its interval, over all posteriors and for each."""
    print("| option | bulk | tail | bulk, sampling alone | worst | R-hat above 1.01 | z above 4 | kept |")
    print("|---|---|---|---|---|---|---|---|")
    for option in options:
        ratios = {what: by_model(rows, option, models, what) for what in ("bulk", "tail", "sampling")}
        found = [row for key, row in rows.items() if key[1] == option and key[0] in models]
        if not ratios["bulk"] or option == DEFAULT:
            continue
        cells = [f"{mean:.3f} ({low:.3f} to {high:.3f})" for mean, low, high in map(overall, ratios.values())]
        worst = min((np.exp(np.mean(each)), name) for name, each in ratios["bulk"].items())
        worst = min(worst, min((np.exp(np.mean(each)), name) for name, each in ratios["tail"].items()))
        bad = [
            sum(sum(r > 1.01 for r in row["r_hat"]) for row in found),
            sum(len(row["bulk"]) for row in found),
        ]
        is_kept = all(overall(ratios[what])[1] > 1 for what in ("bulk", "tail")) and worst[0] >= 0.9
        print(
            f"| {option} | {' | '.join(cells)} | {worst[0]:.2f} {worst[1]} | {bad[0]} of {bad[1]} | "
            f"{sum(row['num_z_above_4'] for row in found)} | {'yes' if is_kept else 'no'} |"
        )
    others = [option for option in options if option != DEFAULT]
    for what in ("bulk", "tail"):
        print(f"\n| {what} | {' | '.join(others)} |\n|{'---|' * (len(others) + 1)}")
        for name in models:
            found = [by_model(rows, option, [name], what).get(name) for option in others]
            cells = [
                "" if each is None else f"{np.exp(np.mean(each)):.2f} ± {error(each):.2f}" for each in found
            ]
            print(f"| {name} | {' | '.join(cells)} |")


def by_model(rows: Any, option: str, models: list[str], what: str) -> dict[str, np.ndarray]:
    """Log ratios of effective draws per gradient to the default's, run by run; runs that failed are left out."""
    ratios: dict[str, list[float]] = {}
    for (name, each, seed, runs), row in rows.items():
        base = rows.get((name, DEFAULT, seed, runs))
        if each != option or name not in models or base is None:
            continue
        pair = np.array([efficiencies(row, what), efficiencies(base, what)])
        ratios.setdefault(name, []).extend(np.diff(np.log(pair[::-1]), axis=0)[0])
    return {name: np.array(each)[np.isfinite(each)] for name, each in ratios.items()}


def efficiencies(row: dict[str, Any], what: str) -> np.ndarray:
    """Effective draws per gradient of each run; NaN where it failed."""
    ess = np.array(row["tail" if what == "tail" else "bulk"])
    cost = np.array(row["sample"]) + (0 if what == "sampling" else row["warmup"])
    return np.where(np.array(row["r_hat"]) < LOST, ess / cost, np.nan)


def overall(ratios: dict[str, np.ndarray]) -> tuple[float, float, float]:
    """Geometric mean over posteriors with its 95 % interval, posteriors being a sample of those there are."""
    means = np.array([np.mean(each) for each in ratios.values()])
    if len(means) < 2:
        return float(np.exp(means[0])), np.nan, np.nan
    half = stats.t.ppf(0.975, len(means) - 1) * means.std(ddof=1) / np.sqrt(len(means))
    return tuple(float(np.exp(means.mean() + side)) for side in (0, -half, half))


def error(log_ratios: np.ndarray) -> float:
    """Standard error of a posterior's ratio, from the scatter of its runs."""
    return float(np.std(log_ratios, ddof=1) / np.sqrt(len(log_ratios)) * np.exp(np.mean(log_ratios)))


if __name__ == "__main__":
    main()
