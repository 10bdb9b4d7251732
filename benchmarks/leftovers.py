"""Read what `overhead.py` and `lost_chains.py` left in a folder."""

from dataclasses import dataclass
from pathlib import Path

STEP_RATIO_AIM, STEP_EXTRA_AIM, FROM = 1.15, 2.5, 20.0  # times the gradient from 20 µs on; µs below


@dataclass(frozen=True)
class Step:
    """A row of what `overhead.py` prints; microseconds."""

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
    """The table that `overhead.py` printed into a file; empty without one."""
    if not path.exists():
        return []
    rows = [
        [each.strip() for each in line.strip().strip("|").split("|")]
        for line in path.read_text().splitlines()
        if line.startswith("|")
    ]
    header = rows[0]
    bare = [index for index, name in enumerate(header) if name.startswith("gradient")]
    return [
        Step(row[0], min(float(row[index]) for index in bare), float(row[header.index("step")]))
        for row in rows[2:]
    ]


def lost_of(path: Path) -> dict[int, int]:
    """Lost chains by seed, as `lost_chains.py` wrote them; empty without the file."""
    if not path.exists():
        return {}
    return {
        int(seed): int(count) for seed, count in (line.split()[:2] for line in path.read_text().splitlines())
    }
