"""Measure what blocks, segments on disk and a live display cost a run of about a second, and what two workers gain.

    python benchmarks/safety.py [--models a,b] [--repeats 9]

Programs are compiled before the clock starts. Ways take turns, so that a busy machine is busy for all of them; medians
are compared. The first table is of one chain: the run as it is by default, with a store on disk, and with a display.
After the slash are seconds of the process's own time, with tracing: what else the machine does hardly moves them, and
waiting for a disk does not count. The second table is of two chains, and takes the difference of a long and a short
run, so that the start of worker processes does not count.
"""

import argparse
import contextlib
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any
from unittest import mock

import jax

from accord import infer
from accord.executors import available_cores
from accord.mcmc import compiled
from accord.mcmc.draws import Draws
from problems import MODELS, model_of

COST_AIM = 0.02  # of a run of a second
GAIN_AIM = 1.8  # of two chains on two cores, for gradients of 50 microseconds

Cost = tuple[float, float]
"""Seconds by the clock, and of the process's own time."""


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="Measure the cost of safety and the gain of workers.")
    parser.add_argument(
        "--models", default="eight_schools,low_dim_gauss_mix,diamonds", help=f"of {', '.join(MODELS)}"
    )
    parser.add_argument("--parallel", default="diamonds", help="models of the second table")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a run of the first table")
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    print(
        f"| model | draws | default, s | outside of the program | RunFolder | segments | display | aim {COST_AIM:.0%} |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in options.models.split(","):
        print(_cost(name, options.seconds, options.repeats), flush=True)
    print(f"\n| model | draws | Serial(), s | Threads(2) | Processes(2) | aim {GAIN_AIM} on 2 cores |")
    print("|---|---|---|---|---|---|")
    for name in options.parallel.split(","):
        print(_gain(name, options.repeats), flush=True)


def _cost(name: str, seconds: float, repeats: int) -> str:
    """A row of the first table."""
    target: Any = model_of(name)
    trial = _run(target, 2000)[1]
    draws = max(100, round(2000 * seconds / trial.timings["sampling"]))

    def stored() -> Cost:
        nonlocal segments
        with tempfile.TemporaryDirectory() as folder:
            cost = _run(target, draws, store=infer.RunFolder(Path(folder) / "run"))[0]
            segments = len(list(Path(folder).glob("run/chain-*/*")))
            return cost

    def watched() -> Cost:
        with tempfile.TemporaryFile("w") as file, contextlib.redirect_stderr(file):
            return _run(target, draws, progress=True, quiet=False)[0]

    segments = 0
    ways: dict[str, Callable[[], Cost]] = {
        "default": lambda: _run(target, draws)[0],
        "stored": stored,
        "watched": watched,
    }
    taken: dict[str, list[Cost]] = {way: [] for way in ways}
    for _ in range(repeats):
        for way, run in ways.items():
            taken[way].append(run())
    wall, own = ({way: median(cost[kind] for cost in taken[way]) for way in ways} for kind in (0, 1))
    extra = {way: (wall[way] / wall["default"] - 1, own[way] / own["default"] - 1) for way in ways}
    verdict = "met" if max(extra["stored"][0], extra["watched"][0]) <= COST_AIM else "**missed**"
    shown = {way: f"{by_wall:+.1%} / {by_own:+.1%}" for way, (by_wall, by_own) in extra.items()}
    return (
        f"| {name} | {draws} | {wall['default']:.2f} / {own['default']:.2f} | {_outside(target, draws):.1%} | "
        f"{shown['stored']} | {segments} | {shown['watched']} | {verdict} |"
    )


def _run(target: Any, draws: int, **options: Any) -> tuple[Cost, Draws]:
    """One chain: seconds from the call to its draws, less those of tracing and compiling; and the draws."""
    defaults: dict[str, Any] = dict(warmup=300, chains=1, executor=infer.Serial(), progress=False, quiet=True)
    began = time.process_time()
    found = infer.sample(target, draws=draws, **(defaults | options))
    own, timings = time.process_time() - began, found.timings
    return (timings["total"] - timings["trace"] - timings["compile"], own), found


def _outside(target: Any, draws: int) -> float:
    """The share of warm-up and sampling that is not spent in the compiled programs: blocks, metrics, segments."""
    inside = 0.0

    def timed(program: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            nonlocal inside
            began = time.perf_counter()
            result = jax.block_until_ready(program(*arguments))
            inside += time.perf_counter() - began
            return result

        return call

    def compile_timed(*arguments: Any) -> compiled.Programs:
        found = compiled.compile_programs(*arguments)
        return replace(
            found, advance=timed(found.advance), sites=replace(found.sites, run=timed(found.sites.run))
        )

    with mock.patch("accord.mcmc.method.compile_programs", compile_timed):
        found = _run(target, draws)[1]
    return 1 - inside / (found.timings["warmup"] + found.timings["sampling"])


def _gain(name: str, repeats: int) -> str:
    """A row of the second table."""
    target: Any = model_of(name)
    executors: dict[str, Any] = {
        "serial": infer.Serial(),
        "threads": infer.Threads(2),
        "processes": infer.Processes(2),
    }
    taken: dict[str, list[float]] = {way: [] for way in executors}
    short, long = 500, 3500
    for _ in range(max(1, repeats // 3)):
        for way, executor in executors.items():
            elapsed = []
            for draws in (short, long):
                began = time.perf_counter()
                infer.sample(target, draws=draws, chains=2, executor=executor, progress=False, quiet=True)
                elapsed.append(time.perf_counter() - began)
            taken[way].append(elapsed[1] - elapsed[0])
    serial, threads, processes = (median(taken[way]) for way in executors)
    cores = available_cores()
    verdict = f"{cores} cores"
    if cores == 2:
        verdict = "met" if serial / min(threads, processes) >= GAIN_AIM else "**missed**"
    return (
        f"| {name} | 2 x {long - short} | {serial:.2f} | {serial / threads:.2f}x | {serial / processes:.2f}x | "
        f"{verdict} |"
    )


if __name__ == "__main__":
    main()
