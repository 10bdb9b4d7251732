"""Count the notices of healthy models: the examples with reference draws, run with ten seeds each.

A rule that speaks of good runs is soon not heard. The aim is no error, and at most one warning in 50 runs.
"""

import argparse
import collections
import time

from accord import infer
from accord.cli import examples
from accord.cli.data import read_data
from accord.cli.source import import_model

# Their references needed more than the defaults, or diverge, or have a second mode; see tests/posteriors.
NOT_HEALTHY = ("gp_pois_regr", "lotka_volterra", "one_comp_mm_elim_abs")


def main() -> None:
    """Run every model, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="runs of each model")
    parser.add_argument("--models", nargs="*", help="names of examples; all healthy ones if not given")
    options = parser.parse_args()
    names = options.models or [each.name for each in examples.find_all() if each.name not in NOT_HEALTHY]
    total: collections.Counter[str] = collections.Counter()
    num_runs = 0
    print("| model | runs | errors | warnings | information | seconds |\n|---|---|---|---|---|---|")
    for name in names:
        example = examples.find(name)
        found: collections.Counter[tuple[str, str]] = collections.Counter()
        began = time.perf_counter()
        with import_model(str(example.model)) as function:
            model = function(**read_data(example.data))
            for seed in range(options.seeds):
                draws = infer.sample(model, seed=seed, progress=False, quiet=True)
                found.update({(notice.severity, notice.code) for notice in draws.notices})
        seconds = time.perf_counter() - began
        num_runs += options.seeds
        for (severity, _), count in found.items():
            total[severity] += count
        cells = [
            ", ".join(f"{code} {count}" for (each, code), count in sorted(found.items()) if each == severity)
            for severity in ("error", "warning", "info")
        ]
        print(f"| {name} | {options.seeds} | {' | '.join(cells)} | {seconds:.0f} |", flush=True)
    print(
        f"\n{num_runs} runs: {total['error']} errors, {total['warning']} warnings, {total['info']} of information"
    )


if __name__ == "__main__":
    main()
