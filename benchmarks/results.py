"""Keep runs as lines of a file, so that a long series can be broken off and taken up again."""

import json
import os
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

Record = dict[str, Any]

ONCE_ABOVE = 60.0  # seconds that a run takes, from which on one is enough


class Results:
    """The runs of a file, one JSON object a line, in the order in which they ended."""

    def __init__(self, path: Path):
        self.path = path
        self.runs: list[Record] = read(path) if path.exists() else []

    def add(self, record: Record) -> None:
        """Keep a run, on disk at once."""
        self.runs.append(record)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read() != b"\n":  # a process was killed while it wrote
                    file.write(b"\n")
            file.write(json.dumps(record).encode() + b"\n")

    def has(self, key: Hashable) -> bool:
        """Whether there is a run of this engine, model, number, cache and number of draws."""
        return any(key_of(run) == key for run in self.runs)


def key_of(run: Record) -> Hashable:
    """What a run is one of: engine, model, repeat, cache and number of draws."""
    return tuple(run[name] for name in ("engine", "model", "repeat", "cache", "draws"))


def read(path: Path) -> list[Record]:
    """The runs of a file; a last line that was cut off is left out."""
    runs = []
    for line in path.read_text().splitlines():
        try:
            runs.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return runs


def is_tired(
    runs: Sequence[Record], engine: str, model: str, cache: str, once_above: float = ONCE_ABOVE
) -> bool:
    """Whether an engine has failed on a model, or takes so long that once is enough, and compiling does not matter."""
    mine = [run for run in runs if (run["engine"], run["model"]) == (engine, model)]
    return any(run["error"] or run["seconds"] > once_above for run in mine if run["cache"] in ("cold", cache))
