"""Make one run in a process of its own, with limits, and make a record of it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import accord
from environment import fresh_environment
from judging import judge
from registry import Problem
from results import Record
from runs import message_of

HERE = Path(__file__).resolve().parent
STAND_IN = HERE.parent / "peers" / "standin"
GRACE = 20.0  # seconds after the limit in which a run that was interrupted may hand over what it has

CURED = "accord_cured"
"""The engine that does what the notices of accord's run say: for runs that have not converged."""

# By name: the script, and variants of it, each tried where the one before raises. With parallel chains, NumPyro raises
# on diffrax's solvers of differential equations.
ENGINES = {
    "accord": ("with_accord.py", ("",)),
    CURED: ("with_accord.py", ("cured",)),
    "numpyro": ("with_numpyro.py", ("parallel", "vectorized")),
    "numpyro_vectorized": ("with_numpyro.py", ("vectorized",)),
}


@dataclass(frozen=True)
class Limits:
    """Limits of a run.

    **Fields**
    - `seconds`: of wall clock, from the start of the process.
    - `cpu_seconds`: of the process, or None.
    - `again_below`: a run of fewer seconds of CPU is made a second time in its process, for the warm time.
    """

    seconds: float
    cpu_seconds: float | None
    again_below: float


def launch(
    engine: str,
    problem: Problem,
    seed: int,
    *,
    python: Path,
    limits: Limits,
    reference: Mapping[str, np.ndarray],
) -> Record:
    """Run to the end or the limit. `error` says what went wrong, if anything did."""
    script, variants = ENGINES[engine]
    is_ours = script == "with_accord.py"
    program = [sys.executable if is_ours else str(python), str(HERE / script)]
    options = ["--seed", str(seed), "--again-below", str(0 if engine == CURED else limits.again_below)]
    options += [] if problem.data is None else ["--data", str(problem.data.resolve())]
    options += [] if limits.cpu_seconds is None else ["--cpu-limit", str(limits.cpu_seconds)]
    record: Record = {"load": os.getloadavg()[0]}
    found: Record = {}
    for variant in variants:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            output, caches = Path(name) / "out", Path(name) / "caches"
            caches.mkdir()
            # The accord of this process, and not one that a relative PYTHONPATH misses from another folder.
            package = Path(accord.__file__).parents[1] if is_ours else STAND_IN
            variables = fresh_environment(caches) | {"PYTHONPATH": str(package.resolve())}
            command = [*program, problem.module, problem.model, str(output), *options, "--variant", variant]
            found = {"variant": variant} | _outcome(command, variables, output, limits, reference)
        if not found.get("raised"):
            break
    return record | found


def _outcome(
    command: list[str],
    variables: dict[str, str],
    output: Path,
    limits: Limits,
    reference: Mapping[str, np.ndarray],
) -> dict[str, Any]:
    """Wait for a process, and read what it wrote."""
    code, errors = _wait(command, variables, output, limits.seconds)
    written = output.with_suffix(".json")
    if not written.exists():
        return {"error": without_root(_reason(code, errors, limits))}
    record = json.loads(without_root(written.read_text()))
    if record.get("interrupted"):
        code, errors = (-signal.SIGXCPU, "") if record["is_over_cpu_limit"] else (0, None)
        record["error"] = _reason(code, errors, limits)
    if output.with_suffix(".npz").exists():
        record |= judge(output.with_suffix(".npz"), reference)
    return record


def without_root(text: str) -> str:
    """Return a text in which files of the project have no folder of this machine before them."""
    return text.replace(f"{HERE.parents[1]}{os.sep}", "")


def _reason(code: int, errors: str | None, limits: Limits) -> str:
    """Say why a process handed nothing over; `errors` is None after the limit."""
    if errors is None:
        return f"over {limits.seconds:.0f} s"
    if code in (-signal.SIGXCPU, -signal.SIGKILL) and limits.cpu_seconds is not None:
        return f"over {limits.cpu_seconds:.0f} s of CPU"
    return f"killed by {signal.Signals(-code).name}" if code < 0 else message_of(errors)


def _wait(
    command: list[str], variables: dict[str, str], output: Path, seconds: float
) -> tuple[int, str | None]:
    """The exit code, and what was said on standard error; None in place of that after the limit."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=variables,
        cwd=output.parent,
        start_new_session=True,
    )
    try:
        _, errors = process.communicate(timeout=seconds)
        return process.returncode, errors
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # accord returns the draws that it has
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=GRACE)
        return 0, None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
