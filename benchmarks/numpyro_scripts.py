"""Run NumPyro's own example scripts unchanged on accord and on NumPyro, cold, and compare times and posteriors.

    python benchmarks/numpyro_scripts.py EXAMPLES [--peers PYTHON] [--only funnel,gp] [--json FILE] [--page FILE]

EXAMPLES is the folder `examples` of NumPyro's repository. Each script runs in a child process with small arguments;
data that it would download are made up, the same for both. PYTHON is one that has NumPyro, by default this one.
`--page` writes the section of times, from all that `--json` has.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent / "np_scripts"
TITLE = "## Cold times"

MCMC = ["--num-warmup", "300", "--num-samples", "500"]

SCRIPTS: dict[str, list[str]] = {
    "annotation": [*MCMC],
    "ar2": [*MCMC],
    "baseball": [*MCMC],
    "bnn": [*MCMC],
    "capture_recapture": [*MCMC, "-m", "1"],
    "covtype": [*MCMC, "--algo", "NUTS"],
    "cvae-flax/main": ["--num-epochs", "1"],
    "dais_demo": ["--num-svi-steps", "2000", *MCMC],
    "funnel": [*MCMC],
    "gaussian_shells": [*MCMC],
    "gp": [*MCMC],
    "hmcecs": [
        "--num_svi_steps",
        "500",
        "--num_warmup",
        "200",
        "--num_samples",
        "300",
        "--subsample_size",
        "100",
    ],
    "hmm": [*MCMC, "--num-unsupervised", "100"],
    "hmm_enum": [*MCMC, "-m", "1", "-d", "3"],
    "holt_winters": [*MCMC],
    "horseshoe_regression": [*MCMC, "--num-data", "40"],
    "hsgp": [*MCMC],
    "minipyro": ["-n", "301"],
    "mortality": [*MCMC],
    "neutra": [*MCMC, "--num-iters", "1000"],
    "ode": [*MCMC],
    "prodlda": ["-n", "200", "-t", "4", "--hidden", "20"],
    "proportion_test": [*MCMC],
    "sparse_regression": [*MCMC, "--num-data", "40", "--num-dimensions", "8"],
    "ssbvm_mixture": ["--num-warmup", "10", "--num-samples", "10", "--amino-acids", "S", "P"],
    "stein_bnn": ["--max-iter", "60", "--num-elbo-particles", "5", "--hidden-dim", "20"],
    "stein_dmm": [
        "--max-iter",
        "5",
        "--num-stein-particles",
        "2",
        "--num-elbo-particles",
        "1",
        "--subsample-size",
        "3",
        "--gru-dim",
        "20",
    ],
    "stochastic_volatility": [*MCMC],
    "thompson_sampling": ["--num-samples", "4", "--num-random", "2", "--num-step", "2"],
    "toy_mixture_model_discrete_enumeration": ["-n", "300", "-o", "500"],
    "ucbadmit": [*MCMC],
    "vae": ["-n", "1"],
    "var2": [*MCMC],
    "zero_inflated_poisson": [*MCMC, "--maxiter", "500"],
}
"""Scripts with their small arguments. `cvae.py` has no code: its program is the folder `cvae-flax`."""


def run(python: str, library: str, script: Path, arguments: list[str], limit: float) -> dict[str, Any]:
    """Run a script in a child process; return its seconds, what it found, or its error."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "found.json"
        command = [python, str(HERE / "child.py"), library, str(out), str(script), *arguments]
        # Both libraries with the bytecode that an installation has.
        own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        # Cold: without programs that runs before have compiled, but with the fonts that Matplotlib has found.
        own |= {"XDG_CACHE_HOME": folder, "MPLCONFIGDIR": str(Path.home() / ".cache" / "matplotlib")}
        began, before = time.perf_counter(), _processor_seconds()
        try:
            ran = subprocess.run(
                command, capture_output=True, text=True, timeout=limit, check=False, cwd=folder, env=own
            )
        except subprocess.TimeoutExpired:
            return {"error": f"not finished in {limit:g} s"}
        seconds, processor = time.perf_counter() - began, _processor_seconds() - before
        if ran.returncode != 0 or not out.exists():
            lines = [line for line in ran.stderr.strip().splitlines() if line.strip()]
            found = json.loads(out.read_text()) if out.exists() else {}
            said = lines[-1][:300] if lines else f"status {ran.returncode}"
            return {"error": said, "seconds": seconds, **found}
        return {"seconds": seconds, "processor": processor, **json.loads(out.read_text())}


def _processor_seconds() -> float:
    """Seconds of processors that children have taken, which a busy machine lengthens less than those of clocks."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def largest_z(first: dict[str, Any], second: dict[str, Any]) -> float:
    """The largest difference of means in Monte Carlo errors, over sites that both have."""
    worst = 0.0
    for ours, theirs in zip(first.get("chains", []), second.get("chains", []), strict=False):
        for name in ours.keys() & theirs.keys():
            (m1, s1, n1), (m2, s2, n2) = (np.array(each[name]) for each in (ours, theirs))
            if m1.shape != m2.shape:
                continue
            error = np.sqrt(s1**2 / n1 + s2**2 / n2)
            z = np.abs(m1 - m2) / np.where(error > 0, error, np.inf)
            worst = max(worst, float(np.max(z, initial=0.0)))
    return worst


def mean_ratio(pairs: list[tuple[float, float]]) -> float:
    """Return the geometric mean of NumPyro's numbers over accord's."""
    return math.exp(sum(math.log(theirs / ours) for ours, theirs in pairs) / len(pairs))


def section(rows: dict[str, Any]) -> str:
    """Return the Markdown of the times of the scripts that end in both."""
    both = {name: row for name, row in sorted(rows.items()) if "times" in row}
    seconds = [(row["accord"], row["numpyro"]) for row in both.values()]
    pairs = [tuple(row["processor"]) for row in both.values()]
    head = ["script", "CPU, accord", "CPU, NumPyro", "ratio", "elapsed, accord", "elapsed, NumPyro", "ratio"]
    lines = [
        [name, *pair, f"{pair[1] / pair[0]:.1f}", *each, f"{each[1] / each[0]:.1f}"]
        for name, pair, each in zip(both, pairs, seconds, strict=True)
    ]
    lines.append(["geometric mean", "", "", f"{mean_ratio(pairs):.2f}", "", "", f"{mean_ratio(seconds):.2f}"])
    table = ["| " + " | ".join(map(str, line)) + " |" for line in (head, ["---"] * len(head), *lines)]
    worst = max(row["z"] for row in both.values())
    words = (
        "Each script ran in a process of its own, without programs that earlier runs had compiled, on accord and "
        "then on NumPyro, with the arguments of `benchmarks/numpyro_scripts.py`, which wrote this section. Seconds "
        "have all that a process does: its start, imports, pictures, its end. CPU seconds depend less on what else "
        f"a machine does than elapsed ones. Means of chains differ by at most {worst} of their errors."
    )
    return f"{TITLE}\n\n{textwrap.fill(words, 140)}\n\n" + "\n".join(table) + "\n"


def write_page(path: Path, rows: dict[str, Any]) -> None:
    """Write the section at the end of a page anew."""
    before = path.read_text(encoding="utf-8").partition(TITLE)[0].rstrip()
    path.write_text(f"{before}\n\n{section(rows)}", encoding="utf-8")


def main() -> None:
    """Run the scripts, print a line each, and the geometric mean of the ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("examples", type=Path)
    parser.add_argument("--peers", default=sys.executable, help="a Python that has NumPyro")
    parser.add_argument("--only", default="", help="names of scripts, by commas, or none")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for a script")
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--page", type=Path, default=None)
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(SCRIPTS)
    names = [] if names == ["none"] else names
    rows: dict[str, Any] = {}
    if options.json is not None and options.json.exists():
        rows = json.loads(options.json.read_text())
    for name in names:
        script = (options.examples / f"{name}.py").resolve()
        ours = run(sys.executable, "accord", script, SCRIPTS[name], options.limit)
        theirs = run(options.peers, "numpyro", script, SCRIPTS[name], options.limit)
        row: dict[str, Any] = {
            "accord": ours.get("error", round(ours.get("seconds", 0), 1)),
            "numpyro": theirs.get("error", round(theirs.get("seconds", 0), 1)),
        }
        if "error" not in ours and "error" not in theirs:
            row["times"] = round(theirs["seconds"] / ours["seconds"], 2)
            row["processor"] = [round(ours["processor"], 1), round(theirs["processor"], 1)]
            row["z"] = round(largest_z(ours, theirs), 1)
            row["losses"] = [ours["losses"], theirs["losses"]]
        rows[name] = row
        print(name, row, flush=True)
        if options.json is not None:
            options.json.write_text(json.dumps(rows, indent=1) + "\n")
    times = [(row["accord"], row["numpyro"]) for row in rows.values() if "times" in row]
    if times:
        finished = sum(not isinstance(row["accord"], str) for row in rows.values())
        print(
            f"{finished} of {len(rows)} finished; {len(times)} in both, NumPyro / accord {mean_ratio(times):.2f}"
        )
        pairs = [tuple(row["processor"]) for row in rows.values() if "processor" in row]
        print(f"by seconds of processors {mean_ratio(pairs):.2f}")
        if options.page is not None:
            write_page(options.page, rows)


if __name__ == "__main__":
    main()
