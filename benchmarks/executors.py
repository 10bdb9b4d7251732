"""Measure what each executor costs before it draws: seconds, processes and memory.

    python benchmarks/executors.py [--executors Serial,Threads,...] [--repeats 3]

Each run is one of a fresh process: eight schools, four chains of 500 draws after 500 of warm-up, two workers. Its
programs are in JAX's cache on disk, of which a first run, not counted, has filled an own folder. The time is from the
call of `infer.sample` to the draws, and is nearly all start-up; the memory is the largest proportional share (PSS) of
this process and everything below it together, looked at twenty times a second. Medians; `draws` says whether the bits
are those of the first executor, or of the first that cuts the data's rows.
"""

import argparse
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

NEEDS = {"Dask": "distributed", "Ray": "ray"}
ROWS = {"sigma": 0, "y": 0}
WORKERS = {"workers": 2}
EXECUTORS: dict[str, tuple[str, dict[str, Any]]] = {
    "Serial": ("Serial", {}),
    "Threads": ("Threads", WORKERS),
    "Devices": ("Devices", {}),
    "Processes": ("Processes", WORKERS),
    "Dask": ("Dask", WORKERS),
    "Ray": ("Ray", WORKERS),
    "Devices(shard)": ("Devices", {"shard": ROWS}),
    "MultiHost(shard)": ("MultiHost", {"processes": 2, "shard": ROWS}),
}


def main() -> None:
    """Print a table of the executors."""
    parser = argparse.ArgumentParser(description="Measure start-up and memory of the executors.")
    parser.add_argument("--executors", default=",".join(EXECUTORS), help="separated by commas")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(_run(options.one)))
        return
    print("| executor | seconds to the draws | processes | MiB, together | draws |")
    print("|---|---|---|---|---|")
    references: dict[bool, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in options.executors.split(","):
            if importlib.util.find_spec(NEEDS.get(name, "accord")) is None:
                print(f"| {name} | not installed | | | |")
                continue
            _measured(name, folder)
            found = [_measured(name, folder) for _ in range(options.repeats)]
            reference = references.setdefault("shard" in name, found[0]["bits"])
            is_same = all(each["bits"] == reference for each in found)
            print(
                f"| {name} | {median(each['seconds'] for each in found):.1f} | {found[0]['processes']} | "
                f"{median(each['memory'] for each in found):.0f} | {'same' if is_same else '**other**'} |",
                flush=True,
            )


def _measured(name: str, folder: str) -> dict[str, Any]:
    """One run in a fresh process."""
    variables = {**os.environ, "ACCORD_COMPILATION_CACHE": folder}
    command = [sys.executable, __file__, "--one", name]
    ran = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout.splitlines()[-1])


def _run(name: str) -> dict[str, Any]:
    """Sample with an executor in this process; what it took, and a digest of the draws."""
    from accord import infer
    from problems import model_of

    model = model_of("eight_schools")
    kind, options = EXECUTORS[name]
    executor = getattr(infer, kind)(**options)
    peak = {"memory": 0.0, "processes": 1}
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(peak, done))
    watcher.start()
    began = time.perf_counter()
    draws = infer.sample(
        model, draws=500, warmup=500, chains=4, seed=1, executor=executor, progress=False, quiet=True
    )
    seconds = time.perf_counter() - began
    done.set()
    watcher.join()
    digest = hashlib.sha256(b"".join(draws[site].tobytes() for site in sorted(draws))).hexdigest()
    return {"seconds": seconds, "bits": digest, **peak}


def _watch(peak: dict[str, float], done: threading.Event) -> None:
    """Keep the largest memory, in MiB, and number of processes of this family."""
    import psutil

    here = psutil.Process()
    while not done.wait(0.05):
        shares = [_share(each.pid) for each in (here, *here.children(recursive=True))]
        there = [share for share in shares if share is not None]
        peak["memory"] = max(peak["memory"], sum(there) / 1024)
        peak["processes"] = max(peak["processes"], len(there))


def _share(pid: int) -> int | None:
    """The proportional share of a process in KiB; None where it has ended."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except OSError:
        pass
    return None


if __name__ == "__main__":
    main()
