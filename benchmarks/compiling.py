"""Measure what compiling a run costs, beside the bare gradient, and how soon a second process draws.

    python benchmarks/compiling.py [--models a,b] [--first-draws]

Seconds of CPU, each model once, nothing cached: tracing and lowering of both programs, compiling of each, and
`jit(value_and_grad)` of the same flat density. `--first-draws` instead starts a process twice, with one folder for
compiled programs, and prints the wall seconds of its first call of `infer.sample`, with one draw.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

from problems import MODELS, model_of

FIRST_DRAW = """
import sys, time
sys.path.insert(0, {folder!r})
from problems import model_of
from accord import infer
model = model_of({name!r})
began = time.perf_counter()
infer.sample(model, draws=1, warmup=0, chains=1, progress=False, quiet=True)
print(time.perf_counter() - began)
"""


def main() -> None:
    """Print one of the two tables."""
    parser = argparse.ArgumentParser(description="Measure what compiling costs.")
    parser.add_argument("--models", default=",".join(MODELS), help="separated by commas")
    parser.add_argument("--first-draws", action="store_true", help="time first calls, cold and warm")
    chosen = parser.parse_args()
    names = chosen.models.split(",")
    if chosen.first_draws:
        print("| model | cold, s | warm, s |\n|---|---|---|")
        for name in names:
            print(
                f"| {name} | " + " | ".join(f"{seconds:.2f}" for seconds in first_draws(name)) + " |",
                flush=True,
            )
        return
    os.environ["ACCORD_COMPILATION_CACHE"] = "off"
    print("| model | trace and lower | compile advance | compile sites | bare gradient: lower | compile |")
    print("|---|---|---|---|---|---|")
    for name in names:
        print(f"| {name} | " + " | ".join(f"{seconds:.2f}" for seconds in costs(name)) + " |", flush=True)


def first_draws(name: str) -> list[float]:
    """Seconds of the first call of a first process and of a second one."""
    script = FIRST_DRAW.format(folder=os.path.dirname(os.path.abspath(__file__)), name=name)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "ACCORD_COMPILATION_CACHE": folder}
        command = [sys.executable, "-c", script]
        runs = [
            subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            for _ in range(2)
        ]
    return [float(run.stdout) for run in runs]


def costs(name: str) -> list[float]:
    """Seconds of CPU, in the order of the table."""
    import jax

    from accord.core.precision import scope
    from accord.density import LogDensity
    from accord.drivers import compiled
    from accord.drivers.block import rows_for
    from accord.drivers.plan import Plan
    from accord.kernels import NUTS

    seconds: dict[str, float] = {}
    compile_one = compiled.compile_lowered

    def timed(lowered):
        began = time.process_time()
        program = compile_one(lowered)
        seconds["advance" if "advance" in lowered.as_text()[:200] else "sites"] = time.process_time() - began
        return program

    def one_after_the_other(calls):
        return [call() for call in calls]

    compiled.compile_lowered, compiled.gather = timed, one_after_the_other
    with scope("float64"):
        density = LogDensity.from_model(model_of(name), "float64")
        rows = rows_for(density.dim, 1)
        plan = Plan(NUTS(), 10, 10, 1, 0, 1, "float64", density.dim, rows)
        began = time.process_time()
        compiled.compile_programs(density, plan)
        whole = time.process_time() - began
        position = jax.ShapeDtypeStruct((density.dim,), plan.dtype)
        began = time.process_time()
        gradient = jax.jit(lambda data, x: density.with_data(data).value_and_grad(x))
        lowered = gradient.lower(density.data, position)
        lowering = time.process_time() - began
        began = time.process_time()
        lowered.compile()
        compiling = time.process_time() - began
    compiled.compile_lowered = compile_one
    return [whole - sum(seconds.values()), seconds["advance"], seconds["sites"], lowering, compiling]


if __name__ == "__main__":
    main()
