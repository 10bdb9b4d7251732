"""Run a script on one posterior, in a process of its own with a limit of CPU time."""

import json
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import accord
from environment import fresh_environment
from results import Record

SCRIPTS = Path(__file__).resolve().parent / "pdb"


def on_posterior(
    python: Path | str, script: str, options: Sequence[str], *, database: Path, posterior: str, cpu_limit: int
) -> Record:
    """Return what a script of `pdb` prints as JSON, without anything compiled before; or its `error`.

    **Arguments**: `python`, that runs it; `options`, further ones of its command line; `cpu_limit`, in seconds.
    """
    command = [
        *(str(python), str(SCRIPTS / script), *options),
        *("--database", str(database.resolve()), "--posterior", posterior, "--cpu-limit", str(cpu_limit)),
    ]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as caches:
        package = Path(accord.__file__).parents[1].resolve()
        environment = fresh_environment(Path(caches)) | {"PYTHONPATH": str(package)}
        ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ended.returncode == 0:
        return json.loads(ended.stdout.splitlines()[-1])
    if ended.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"error": f"over {cpu_limit} s of CPU"}
    return {"error": (ended.stderr.strip().splitlines() or ["it said nothing"])[-1][:500]}
