"""Measure what imports cost: `import accord` beyond `import jax`, and the first summary of a process.

    python benchmarks/importing.py [--repeats 7]

Seconds of a core, in a fresh process each time, of which the least is printed: what others do on the machine only adds.
Bytecode is kept, as that of an installed package is: where it may not be written, each process compiles all sources.
"""

import argparse
import os
import subprocess
import sys

AIM = 0.3
MEASURED = """
import sys, time
{before}
began, modules = time.process_time(), len(sys.modules)
{measured}
print(time.process_time() - began, len(sys.modules) - modules)
"""
TABLE = (
    "import numpy as np; from accord.report import summarise; "
    "x = np.random.default_rng(0).normal(size=(4, 250, 20))"
)
CASES = {
    "import accord, after import jax": ("import jax", "import accord"),
    "from accord import infer; infer.sample": ("import accord", "accord.infer.sample"),
    "the first summary": (TABLE, "str(summarise({'x': x}))"),
}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description="Measure what imports cost.")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    print("| | seconds of a core | modules |")
    print("|---|---|---|")
    for name, (before, measured) in CASES.items():
        found = [_run(before, measured) for _ in range(options.repeats)]
        print(f"| {name} | {min(seconds for seconds, _ in found):.3f} | {found[0][1]} |")
    print(f"\nThe aim of the first is under {AIM} s.")


def _run(before: str, measured: str) -> tuple[float, int]:
    code = MEASURED.format(before=before, measured=measured)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=kept
    ).stdout
    seconds, modules = printed.split()
    return float(seconds), int(modules)


if __name__ == "__main__":
    main()
