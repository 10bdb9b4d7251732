"""Measure what a watcher costs the run that it looks at: `python benchmarks/watching.py [--pairs 6] [--draws 20000]`.

The same stored run is made alone and watched, in pairs that take turns, each time in a new process that has compiled
before. The page of `accord watch` is asked every two seconds, as a browser asks it. Seconds are of the processors, so
that what else the machine does counts little: of the run's process, and of the watcher's.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np

from accord import infer
from problems import model_of

MODEL = "diamonds"
PERIOD = 2.0  # seconds between requests of the page


def main() -> None:
    """Print a line for each pair, and what they come to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        _run(options.run, options.draws)
        return
    print(
        "| pair | alone, s of CPU | watched | ratio | the watcher's own | of the run's seconds by the clock |"
    )
    print("|---|---|---|---|---|---|")
    ratios = []
    for pair in range(options.pairs):
        found = {is_watched: _measured(options.draws, is_watched) for is_watched in _turn(pair)}
        (alone, _, _), (watched, seconds, watching) = found[False], found[True]
        ratios.append(watched / alone)
        seconds_of = [f"{each:.1f}" for each in (alone, watched)]
        cells = [
            str(pair + 1),
            *seconds_of,
            f"{ratios[-1]:.3f}",
            f"{watching:.1f}",
            f"{watching / seconds:.1%}",
        ]
        print(f"| {' | '.join(cells)} |", flush=True)
    logs = np.log(ratios)
    error = logs.std(ddof=1) / np.sqrt(len(logs))
    print(f"\nmean ratio {np.exp(logs.mean()):.3f}, standard error {error:.3f}")


def _turn(pair: int) -> tuple[bool, bool]:
    return (False, True) if pair % 2 == 0 else (True, False)


def _run(folder: Path, draws: int) -> None:
    """Compile, then make the run, and print its seconds: of the processors, and by the clock."""
    target = model_of(MODEL)
    infer.sample(target, draws=10, warmup=10, progress=False, quiet=True)
    processors, clock = time.process_time(), time.perf_counter()
    infer.sample(target, draws=draws, store=infer.RunFolder(folder), progress=False, quiet=True)
    print(json.dumps([time.process_time() - processors, time.perf_counter() - clock]))


def _measured(draws: int, is_watched: bool) -> tuple[float, float, float]:
    """Seconds of the run's processors and by its clock, and of the processors of its watcher."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "run"
        command = [sys.executable, __file__, "--run", str(folder), "--draws", str(draws)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
            watching = _watched(folder, run) if is_watched else 0.0
            printed, _ = run.communicate()
        processors, clock = json.loads(printed.splitlines()[-1])
        return processors, clock, watching


def _watched(folder: Path, run: "subprocess.Popen[str]") -> float:
    """Look at a run until it ends; return the seconds of the watcher's processors."""
    while not (folder / "manifest.json").exists() and run.poll() is None:
        time.sleep(0.05)
    command = [str(Path(sys.executable).with_name("accord")), "watch", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watcher:
        assert watcher.stdout is not None
        page = next(word for line in watcher.stdout for word in line.split() if word.startswith("http://"))
        version = ""
        while run.poll() is None:
            with urllib.request.urlopen(f"{page}state?since={version}") as answer:
                version = json.load(answer).get("version", version)
            time.sleep(PERIOD)
        watcher.terminate()
        _, _, used = os.wait4(watcher.pid, 0)
        watcher.returncode = 0
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
