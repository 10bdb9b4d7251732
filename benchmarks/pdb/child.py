"""Time one run of one engine in this process, and write its draws and its record to files.

`with_accord.py` and `with_numpyro.py` hand `main` a function that prepares a run of a bound model. A run is timed from
the call to draws in NumPy arrays; imports, data and the start of the backend are not. A short run is made a second
time, when nothing is left to compile: that is the warm time. NumPyro compiles again in every run: what a run of a few
draws takes, which compiles as much, is taken off. Where that is most of it, the fastest of three of each are compared.
"""

import argparse
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

CHAINS = 4
GRACE = 20  # seconds of CPU after its limit, in which a run may hand over what it has


@dataclass(frozen=True)
class Outcome:
    """Results of a run.

    **Fields**
    - `draws`: constrained draws of the unknowns, shape `(chain, draw, *site)`.
    - `facts`: entries of the record: gradients, divergences, notices, seconds by phase.
    - `compile_seconds`: wall time before the first gradient of the run could be evaluated, spent on tracing and
      compiling.
    """

    draws: dict[str, np.ndarray]
    facts: dict[str, Any]
    compile_seconds: float


Run = Callable[[bool], Outcome]
"""Makes a run; with True, one of a few draws, which traces and compiles as much as the whole one."""

_TIMES = ("seconds", "cpu_seconds")
_AGAIN = 2  # further runs of each kind, where they differ by little
_CLOSE = 0.5  # share of a run that one of a few draws takes


def main(prepare: Callable[[Any, int, str], Run], *, is_retraced: bool) -> None:
    """Read the command line, run, and write `OUTPUT.json`, and `OUTPUT.npz` where there are draws.

    `is_retraced`: every run traces and compiles its program again.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("model")
    parser.add_argument("output", type=Path, help="where to write, without suffix")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--variant", default="")
    parser.add_argument("--cpu-limit", type=float)
    parser.add_argument(
        "--again-below", type=float, default=0.0, help="seconds of CPU of a run that is made twice"
    )
    options = parser.parse_args()
    limit = _CpuLimit()
    if options.cpu_limit is not None:
        limit.begin(round(options.cpu_limit))
    from registry import bind

    record: dict[str, Any] = {"error": ""}
    clock = _Clock()
    try:
        model = bind(options.module, options.model, options.data)
        clock = _Clock()
        run = prepare(model, options.seed, options.variant)
        outcome = run(False)
        first = clock.read()
        record |= first | outcome.facts
        # Until better is known, in case that there is no time left to find out.
        less = _compiling(outcome, first)
        record |= {f"warm_{name}": max(first[name] - less[name], 0.0) for name in _TIMES}
        np.savez(options.output.with_suffix(".npz"), allow_pickle=False, **outcome.draws)
        _write(record, options.output)
        if not record.get("interrupted"):
            record |= _warm(run, first, outcome, options.again_below, is_retraced=is_retraced)
    except (Exception, KeyboardInterrupt) as error:
        traceback.print_exc(file=sys.stderr)
        if "warm_seconds" not in record:
            record |= clock.read() | {"error": f"{type(error).__name__}: {error}"[:1000]}
            record["interrupted" if isinstance(error, KeyboardInterrupt) else "raised"] = True
    record["is_over_cpu_limit"] = limit.is_over
    record["max_megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    _write(record, options.output)
    os._exit(0)  # threads of a run that was given up would go on


def _warm(
    run: Run, first: dict[str, float], outcome: Outcome, again_below: float, *, is_retraced: bool
) -> Any:
    """Measure a run without tracing and compiling, by a second one where that is short.

    What `is_retraced`, in every run, is told by a run of a few draws. Else wall time spent on it stands for CPU time.
    """
    found, second = first, {}
    if first["cpu_seconds"] < again_below:
        clock = _Clock()
        outcome = run(False)
        found = clock.read()
        second = {f"second_{name}": value for name, value in found.items()}
        if outcome.facts.get("interrupted"):
            return {}
    less = _compiling(outcome, found)
    if is_retraced:
        less = _timed(run, is_short=True)
        if second and less["cpu_seconds"] > _CLOSE * found["cpu_seconds"]:
            for _ in range(_AGAIN):
                found = _faster(found, _timed(run, is_short=False))
                less = _faster(less, _timed(run, is_short=True))
    return second | {f"warm_{name}": max(found[name] - less[name], 0.0) for name in _TIMES}


def _timed(run: Run, *, is_short: bool) -> dict[str, float]:
    clock = _Clock()
    run(is_short)
    return clock.read()


def _faster(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    return {name: min(one[name], other[name]) for name in _TIMES}


def _compiling(outcome: Outcome, found: dict[str, float]) -> dict[str, float]:
    """Return seconds spent on tracing and compiling, of a run that took `found`.

    One thread does it, in as much CPU time as wall time, or less by the share that a busy machine gave the run.
    """
    share = min(found["cpu_seconds"] / max(found["seconds"], 1e-9), 1.0)
    return {"seconds": outcome.compile_seconds, "cpu_seconds": share * outcome.compile_seconds}


class _Clock:
    """Wall and CPU time of this process since it was made."""

    def __init__(self) -> None:
        self.began, self.cpu_began = time.perf_counter(), time.process_time()

    def read(self) -> dict[str, float]:
        """Entries of the record."""
        return {
            "seconds": time.perf_counter() - self.began,
            "cpu_seconds": time.process_time() - self.cpu_began,
        }


def _write(record: dict[str, Any], output: Path) -> None:
    """Write all of it or nothing."""
    part = output.with_suffix(".part")
    part.write_text(json.dumps(record))
    part.replace(output.with_suffix(".json"))


class _CpuLimit:
    """Interrupts this process, as Ctrl-C does, after so much CPU time, and ends it a little later."""

    is_over = False

    def begin(self, seconds: int) -> None:
        """Set the limit, for the time since the process began."""
        signal.signal(signal.SIGXCPU, self._interrupt)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + GRACE))

    def _interrupt(self, *_: Any) -> None:
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)  # it would come again each second
        self.is_over = True
        signal.raise_signal(signal.SIGINT)
