"""Compute `references.json` from posteriordb's reference draws: mean, sd and their Monte Carlo errors, or of logs too.

Run as `python tests/posteriors/make_references.py FOLDER`, where FOLDER holds `index.json`, which maps the name of each
posterior to `{"reference_draws": PATH, "parameters": [...]}`, and the zipped draws at those paths.

The errors come from the effective sample sizes of the draws themselves: reference draws are thinned, but not
independent.
"""

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from monte_carlo import mcse_mean, mcse_sd

# Where K_m is large only V_m / K_m is known, so that half-Cauchy priors leave a density that falls with its third
# power: the variance is infinite, and Monte Carlo errors on that scale say nothing. That of the log is not.
HEAVY_TAILS = {"one_comp_mm_elim_abs": ("K_m", "V_m")}
# Posteriors whose example goes by another name than the second half of the posterior's.
EXAMPLES = {"eight_schools-eight_schools_noncentered": "eight_schools"}


def main(folder: Path) -> None:
    """Write the file beside this script."""
    index = json.loads((folder / "index.json").read_text())
    references = {}
    for posterior, entry in index.items():
        chains = read_draws(folder / entry["reference_draws"])
        example = EXAMPLES.get(posterior, posterior.split("-")[1])
        draws = {name: np.array([chain[name] for chain in chains]) for name in entry["parameters"]}
        parameters = {name: describe(values) for name, values in draws.items()}
        for name in HEAVY_TAILS.get(example, ()):
            parameters[name]["log"] = describe(np.log(draws[name]))
        references[example] = {"posterior": posterior, "parameters": parameters}
    path = Path(__file__).with_name("references.json")
    path.write_text(dump(references))


def read_draws(path: Path) -> list[dict[str, list[float]]]:
    """Ten chains, each a mapping from parameter to 1000 draws."""
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read(archive.namelist()[0]))


def describe(draws: np.ndarray) -> dict[str, Any]:
    """Mean, sd and Monte Carlo errors of draws of shape `(chain, draw)`, to ten digits."""
    figures = {
        "mean": draws.mean(),
        "sd": draws.std(ddof=1),
        "mcse_mean": mcse_mean(draws),
        "mcse_sd": mcse_sd(draws),
    }
    return {name: float(f"{float(value):.10g}") for name, value in figures.items()}


def dump(references: dict[str, dict]) -> str:
    """JSON with one line per parameter."""
    blocks = []
    for example, entry in references.items():
        rows = ",\n".join(
            f"   {json.dumps(name)}: {json.dumps(row)}" for name, row in entry["parameters"].items()
        )
        head = f' {json.dumps(example)}: {{\n  "posterior": {json.dumps(entry["posterior"])},\n  "parameters": {{\n'
        blocks.append(f"{head}{rows}\n  }}\n }}")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
