"""Make one run: a process of its own that samples, and what is made of its draws."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cells import disagreement, judge
from engines import ENGINES
from environment import fresh_environment, kept_environment
from problems import file_of
from results import Record

WORKERS = Path(__file__).resolve().parent / "peers"
MAX_DISAGREEMENT = 6.0  # standard errors; chance alone stays below 5 among a thousand scalars
FILLING = 1000  # added to the seed of the run that fills the caches: some keep draws, too


@dataclass(frozen=True)
class Place:
    """Where runs happen.

    **Fields**
    - `python`: the peers' interpreter.
    - `limit`: seconds after which a run is given up, and again as much for counting the gradients of warm-up.
    - `draws`: of warm-up and sampling, for a quick look; None is what each library does.
    """

    python: Path
    limit: float
    draws: int | None


def cold(place: Place, engine: str, model: str, repeat: int) -> Record:
    """A run that finds nothing compiled; `error` says what went wrong, if anything did."""
    with _folder() as folder:
        command = _command(place, engine, model, repeat, folder)
        command += ["--count"] if repeat == 0 else []
        return _run(command, fresh_environment(folder / "caches"), folder, place.limit)


def warm(place: Place, engine: str, model: str, times: int) -> list[Record]:
    """Runs that find what an earlier process has compiled, after one that fills the caches."""
    with _folder() as folder:
        variables = kept_environment(folder / "caches", is_accord=engine.startswith("accord"))
        filling = _run(
            _command(place, engine, model, FILLING, folder), variables, folder, place.limit, is_judged=False
        )
        if filling["error"]:
            return [filling]
        return [
            _run(_command(place, engine, model, repeat, folder), variables, folder, place.limit)
            for repeat in range(times)
        ]


def compare(record: Record, runs: Sequence[Record]) -> None:
    """Compare with accord's last run: all engines must have sampled the same posterior."""
    others = [
        run
        for run in runs
        if (run["engine"], run["model"]) == ("accord", record["model"]) and not run["error"]
    ]
    if record["error"] or not others or "shapes" not in others[-1]:
        return
    accord = others[-1]
    shapes = {name: shape[2:] for name, shape in record["shapes"].items()}
    if shapes != {name: shape[2:] for name, shape in accord["shapes"].items()}:
        record["error"] = f"other sites than accord's: {shapes}"
        return
    record["disagreement"] = 0.0 if record is accord else disagreement(record, accord)
    if record["disagreement"] > MAX_DISAGREEMENT and max(record["max_r_hat"], accord["max_r_hat"]) < 1.01:
        record["error"] = f"means differ from accord's by {record['disagreement']:.0f} standard errors"


@contextmanager
def _folder() -> Iterator[Path]:
    """A new folder with an empty one for caches."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "caches").mkdir()
        yield folder


def _command(place: Place, engine: str, model: str, seed: int, folder: Path) -> list[str]:
    chosen = ENGINES[engine]
    python = Path(sys.executable) if engine.startswith("accord") else place.python
    command = [str(python), str(WORKERS / f"{chosen.script}.py"), model, str(folder / "out")]
    command += ["--data", str(file_of(model, folder)), "--variant", chosen.variant, "--seed", str(seed)]
    return command + ([] if place.draws is None else ["--draws", str(place.draws)])


def _run(
    command: Sequence[str],
    variables: Mapping[str, str],
    folder: Path,
    limit: float,
    *,
    is_judged: bool = True,
) -> Record:
    """Run to the end or the limit; what was measured, and what the draws are worth."""
    output = folder / "out.json"
    output.unlink(missing_ok=True)
    record: Record = {"load": os.getloadavg()[0], "error": ""}
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(variables),
        cwd=folder,
        start_new_session=True,  # some peers have workers, which have to be ended too
    )
    code, errors = 0, ""
    try:
        try:
            _, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            if not output.exists():
                return record | {"error": f"over {limit:.0f} s"}
            _, errors = process.communicate(timeout=limit)  # it counts
        code = process.returncode
    except subprocess.TimeoutExpired:
        pass  # measured, not counted
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if code or not output.exists():
        print(errors[-2000:], file=sys.stderr)
        return record | {"error": message_of(errors)}
    record |= json.loads(output.read_text())
    if not is_judged:
        return record
    with np.load(output.with_suffix(".npz")) as draws:
        return record | judge(dict(draws))


def message_of(errors: str) -> str:
    """The line of a traceback that names the exception, which others may follow; the last line of anything else."""
    named = re.findall(r"^[\w.]*(?:Error|Exception|Interrupt)\b.*", errors, re.MULTILINE)
    return ([*errors.strip().splitlines()[-1:], *named] or ["no message"])[-1][:120]
