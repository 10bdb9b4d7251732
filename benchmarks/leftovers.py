"""Keep what `overhead.py`, `compiling.py` and `lost_chains.py` have measured in files, and read it for the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tables import table

STEP_RATIO_AIM, STEP_EXTRA_AIM, FROM = 1.15, 2.5, 20.0  # times the gradient from 20 µs on; µs below


class ModelTable:
    """A table of Markdown in a file, a row for each model, which is on disk as soon as it is put.

    **Fields**: `path`; `header`, names of the columns, of which the first is the model's; `rows`, by model.
    """

    def __init__(self, path: Path, header: Sequence[str]):
        self.path, self.header = path, list(header)
        found, self.rows = table_of(path)
        if self.rows and found != self.header:
            raise SystemExit(f"{path} has the columns {found}, and would need {self.header}: move it away.")

    def put(self, row: Sequence[str]) -> None:
        """Keep a row, in place of the one that the model had."""
        self.rows[row[0]] = list(row)
        part = self.path.with_suffix(".part")
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(table(self.header, self.rows.values()) + "\n")
        part.replace(self.path)


def table_of(path: Path) -> tuple[list[str], dict[str, list[str]]]:
    """The header of a table in a file, and its rows by their first cell; empty without the file."""
    lines = path.read_text().splitlines() if path.exists() else []
    rows = [
        [each.strip() for each in line.strip().strip("|").split("|")]
        for line in lines
        if line.startswith("|")
    ]
    return (rows[0], {row[0]: row for row in rows[2:]}) if rows else ([], {})


@dataclass(frozen=True)
class Step:
    """A row of what `overhead.py` measures; microseconds."""

    model: str
    gradient: float
    step: float

    @property
    def is_met(self) -> bool:
        """The aim for a gradient of this size."""
        if self.gradient >= FROM:
            return self.step <= STEP_RATIO_AIM * self.gradient
        return self.step - self.gradient <= STEP_EXTRA_AIM


def steps_of(path: Path) -> list[Step]:
    """What `overhead.py` left in a file; empty without it."""
    header, rows = table_of(path)
    bare = [index for index, name in enumerate(header) if name.startswith("gradient")]
    return [
        Step(name, min(float(row[index]) for index in bare), float(row[header.index("step")]))
        for name, row in rows.items()
    ]


def lost_of(path: Path) -> dict[int, int]:
    """Lost chains by seed, as `lost_chains.py` wrote them; empty without the file."""
    if not path.exists():
        return {}
    return {
        int(seed): int(count) for seed, count in (line.split()[:2] for line in path.read_text().splitlines())
    }
