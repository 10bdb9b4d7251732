"""Measure all that the page on performance is made from, and write the page.

    python benchmarks/series.py [--until HOURS] [--only PART ...] [--peers a,b]

Each part is another command of this folder. What is in `results/` already is not measured again, so that a series may
be broken off at any time and taken up by the same command. The page is written at the end, from whatever there is.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

from environment import PROJECT, default_folder

HERE = Path(__file__).resolve().parent
# In order: what says most about accord comes first.
PARTS = {
    "cold": ("peers.py", "--repeats", "1", "--caches", "cold"),
    "overhead": ("overhead.py",),
    "compiling": ("compiling.py",),
    "lost_chains": ("lost_chains.py",),
    "warm": ("peers.py", "--repeats", "1", "--caches", "warm"),
    "large": ("peers.py", "--repeats", "1", "--caches", "cold", "--models", "large", "--limit", "900"),
    "repeats": ("peers.py", "--repeats", "3", "--caches", "cold"),
}
OUTPUTS = {
    "peers.py": "peers.jsonl",
    "overhead.py": "overhead.md",
    "compiling.py": "compiling.md",
    "lost_chains.py": "lost_chains.txt",
}


def main() -> None:
    """Run the parts and write the page; ends with status 1 if one of them failed."""
    parser = argparse.ArgumentParser(description="Measure all that the page on performance is made from.")
    parser.add_argument("--until", type=float, default=float("inf"), help="begin nothing after so many hours")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="parts to run")
    parser.add_argument("--peers", default="all", help="engines beside accord, separated by commas")
    parser.add_argument("--env", type=Path, default=default_folder(), help="the peers' virtual environment")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="the folder of all results")
    parser.add_argument("--page", type=Path, default=PROJECT / "docs" / "performance.md")
    options = parser.parse_args()
    began, failed = time.monotonic(), []
    for part in [name for name in PARTS if name in options.only]:
        part_began = time.monotonic()
        left = options.until - (part_began - began) / 3600
        if left <= 0:
            _say(f"{part}: left for another time")
            continue
        if run_script(command_of(part, options, left)):
            failed.append(part)
        _say(f"{part}: {(time.monotonic() - part_began) / 60:.0f} minutes{', failed' * (part in failed)}")
    if run_script(page_of(options)):
        failed.append("page")
    if failed:
        raise SystemExit(f"These parts failed: {', '.join(failed)}.")


def command_of(part: str, options: argparse.Namespace, hours: float) -> list[str]:
    """What runs a part, which is to begin nothing after some hours."""
    script, *arguments = PARTS[part]
    command = [*_script(script, options.results), *arguments, "--resume"]
    if script == "peers.py":
        command += ["--peers", options.peers, "--env", str(options.env), "--until", str(hours)]
    return command


def page_of(options: argparse.Namespace) -> list[str]:
    """What writes the page."""
    return [*_script("peers.py", options.results), "--page", str(options.page)]


def run_script(command: list[str]) -> int:
    """The status of a command. An interrupt reaches it too, and it has a process of its own to end before it ends."""
    process = subprocess.Popen(command)
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.wait()
        raise


def _script(name: str, results: Path) -> list[str]:
    return [sys.executable, str(HERE / name), "--output", str(results / OUTPUTS[name])]


def _say(line: str) -> None:
    print(f"== {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
