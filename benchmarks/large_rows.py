"""Time gradients of regressions with very many rows, within runs of accord and of NumPyro.

    python benchmarks/large_rows.py [--cases logistic,1000000,20 hierarchy,200000,10] [--env FOLDER] [--elapsed]

The cases are a logistic regression, and a normal one with intercepts for 200 groups, each with rows and columns. The
figure is CPU time on all cores for each gradient of one chain: of a run that has been compiled, less that of a run of
one draw, so that it says the same on a busy machine. Trees have at most 15 gradients. Engines take turns. With
--elapsed it is elapsed time, and accord also shares the rows out over two devices.
"""

import argparse
import json
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from environment import default_folder, fresh_environment, python_of

DEPTH, DRAWS, GROUPS, ROUNDS = 4, 60, 200, 3
CASES = ["logistic,200000,20", "logistic,1000000,20", "hierarchy,200000,5", "hierarchy,200000,20"]


def data_of(kind: str, rows: int, columns: int) -> dict[str, np.ndarray]:
    """Simulate the data of a case, always the same."""
    rng = np.random.default_rng(0)
    x, slopes = rng.normal(size=(rows, columns)), 0.3 * rng.normal(size=columns)
    if kind == "logistic":
        return {"x": x, "y": (rng.random(rows) < 1 / (1 + np.exp(-x @ slopes))).astype(int)}
    group = rng.integers(0, GROUPS, rows)
    effects = 0.5 * rng.normal(size=GROUPS)
    return {"x": x, "group": group, "y": x @ slopes + effects[group] + rng.normal(size=rows)}


def logistic(numpyro: Any, dist: Any, x: Any, y: Any) -> None:
    """State the logistic regression in the words that accord and NumPyro share."""
    with numpyro.plate("column", x.shape[1]):
        slopes = numpyro.sample("slopes", dist.Normal(0, 1))
    with numpyro.plate("row", x.shape[0]):
        numpyro.sample("y", dist.Bernoulli(logits=x @ slopes), obs=y)


def hierarchy(numpyro: Any, dist: Any, x: Any, group: Any, y: Any) -> None:
    """State the normal regression with intercepts by group."""
    mean, scale = numpyro.sample("mean", dist.Normal(0, 1)), numpyro.sample("scale", dist.HalfNormal(1))
    noise = numpyro.sample("noise", dist.HalfNormal(1))
    with numpyro.plate("column", x.shape[1]):
        slopes = numpyro.sample("slopes", dist.Normal(0, 1))
    with numpyro.plate("group", GROUPS):
        effects = numpyro.sample("effects", dist.Normal(mean, scale))
    with numpyro.plate("row", x.shape[0]):
        numpyro.sample("y", dist.Normal(x @ slopes + effects[group], noise), obs=y)


def with_accord(kind: str, data: dict[str, np.ndarray], draws: int, shared: bool = False) -> int:
    """Run one chain, with the rows shared out over two devices if asked; return the number of gradients."""
    import accord as ac
    import accord.distributions as dist
    from accord import infer

    @ac.model
    def model(x, y, group=None):
        given = {"x": x, "y": y} | ({} if group is None else {"group": group})
        {"logistic": logistic, "hierarchy": hierarchy}[kind](ac, dist, **given)

    executor = infer.Devices(data=2, shard=dict.fromkeys(data, 0)) if shared else None
    options = dict(draws=draws, warmup=draws, chains=1, seed=0, progress=False, quiet=True, executor=executor)
    return sum(infer.sample(model(**data), infer.NUTS(max_tree_depth=DEPTH), **options).work.values())


class WithNumPyro:
    """Run one chain of NumPyro, which compiles once for each sampler object."""

    def __init__(self) -> None:
        self._samplers: dict[int, Any] = {}

    def __call__(self, kind: str, data: dict[str, np.ndarray], draws: int) -> int:
        """Run one chain; return the number of gradients."""
        import jax
        import numpyro
        import numpyro.distributions as dist
        from numpyro.infer import MCMC, NUTS

        def model(**data: Any) -> None:
            {"logistic": logistic, "hierarchy": hierarchy}[kind](numpyro, dist, **data)

        if draws not in self._samplers:
            kernel = NUTS(model, max_tree_depth=DEPTH)
            self._samplers[draws] = MCMC(kernel, num_warmup=draws, num_samples=draws, progress_bar=False)
        sampler, extra = self._samplers[draws], ("num_steps",)
        sampler.warmup(jax.random.key(0), extra_fields=extra, collect_warmup=True, **data)
        steps = int(sampler.get_extra_fields()["num_steps"].sum())
        sampler.run(jax.random.key(1), extra_fields=extra, **data)
        return steps + int(sampler.get_extra_fields()["num_steps"].sum())


def measure(engine: str, case: str, clock: str) -> None:
    """Print the milliseconds for each gradient by a clock of Python's; in a process of its own."""
    kind, *sizes = case.split(",")
    data = data_of(kind, *map(int, sizes))
    if engine == "numpyro":
        import jax

        jax.config.update("jax_enable_x64", True)
    run = (
        WithNumPyro() if engine == "numpyro" else partial(with_accord, shared=engine == "accord on 2 devices")
    )
    found, now = [], getattr(time, clock)
    for draws in (1, DRAWS):
        run(kind, data, draws)  # compiles
        began = now()
        gradients = run(kind, data, draws)
        found.append((now() - began, gradients))
    (less, few), (more, many) = found
    print(json.dumps(1e3 * (more - less) / (many - few)))


def main() -> None:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(description="Time gradients of regressions with very many rows.")
    parser.add_argument("--cases", nargs="+", default=CASES, metavar="KIND,ROWS,COLUMNS")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--env", type=Path, default=default_folder(), help="the peers' virtual environment")
    parser.add_argument("--elapsed", action="store_true", help="elapsed time, and two devices too")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        measure(*options.child)
        return
    shared = {"accord on 2 devices": sys.executable} if options.elapsed else {}
    pythons = {"accord": sys.executable} | shared | {"numpyro": str(python_of(options.env))}
    clock = "perf_counter" if options.elapsed else "process_time"
    titles = ["model", "rows", "columns", *(f"{engine}, ms" for engine in pythons), "ratio"]
    print(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    for case in options.cases:
        taken: dict[str, list[float]] = {engine: [] for engine in pythons}
        for _ in range(options.rounds):
            for engine, python in pythons.items():
                command = [python, __file__, "--child", engine, case, clock]
                ran = subprocess.run(
                    command, capture_output=True, text=True, check=True, env=fresh_environment(None)
                )
                taken[engine].append(json.loads(ran.stdout))
        *ours, theirs = (median(each) for each in taken.values())
        figures = [f"{each:.2f}" for each in [*ours, theirs]]
        print("|", " | ".join([*case.split(","), *figures, f"{theirs / ours[0]:.1f}"]), "|", flush=True)


if __name__ == "__main__":
    main()
