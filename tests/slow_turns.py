"""Choose which slow tests one run of the checks does: all that the change touches, and a third of the others.

No run leaves anything for the next one, so the third follows from the history. While checks run, nobody commits: a
pause of more than 40 minutes between two commits ends a *sitting*. All runs of a sitting do the same third, the next
sitting does the next third, and three sittings do all. The commits since the last pause are also the change at hand,
where the branch does not say it. In a clone without history the clock takes the place of the sittings.
"""

import hashlib
import itertools
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

NUM_TURNS = 3
PAUSE = 40 * 60
"""Seconds between two commits that end a sitting: checks take about as long, and the next commit comes after them."""
CLOCK = 4 * 3600
"""Seconds of a turn where no history is known: a sitting and its checks."""

# Test folders beside the one of the same name, by room: where a change of the room shows first.
BESIDE: dict[str, tuple[str, ...]] = {
    "adaptation": ("sampler",),
    "bijectors": (),
    "branches": (),
    "calibration": (),
    "centring": (),
    "cli": (),
    "core": ("identity", "promises"),
    "density": ("known_answers", "oracle", "parallel"),
    "diagnose": ("failures",),
    "distributions": ("known_answers",),
    "evidence": (),
    "executors": ("faults", "parallel"),
    "gp": (),
    "guides": ("vi",),
    "interop": ("doors",),
    "kernels": ("sampler",),
    "language": ("modules", "oracle"),
    "mcmc": ("faults", "identity", "runs"),
    "modes": ("known_answers",),
    "nested": (),
    "numpyro": (),
    "ode": (),
    "optimise": ("diagnose", "mcmc", "modes"),
    "particles": ("kernels", "predictive"),
    "predictive": (),
    "programs": ("identity",),
    "report": ("planted",),
    "reopen": ("faults",),
    "relabelling": (),
    "resampling": ("particles", "smc"),
    "runs": ("faults", "identity"),
    "smc": ("nested",),
    "storage": ("faults",),
    "vi": (),
    "watch": ("faults",),
}
ELSEWHERE: dict[str, tuple[str, ...]] = {
    "benchmarks": ("benchmarks",),
    "docs": ("docs",),
    "examples": ("examples", "posteriors"),
}
"""Test folders of what lies outside of the package."""


@dataclass(frozen=True)
class Share:
    """The slow tests of one run.

    **Fields**: `turn`, which third; `touched`, folders and files under `tests/` that the change touches.
    """

    turn: int
    touched: frozenset[str]

    def is_touched(self, test: str) -> bool:
        """Whether the change touches a test, given by its node, such as `tests/gp/test_exact.py::test_a`."""
        parts = test.split("::")[0].split("/")[1:]
        return any("/".join(parts[: n + 1]) in self.touched for n in range(len(parts)))

    def is_due(self, test: str) -> bool:
        """Whether it belongs to the third of this run."""
        return turn_of(test) == self.turn


def turn_of(test: str) -> int:
    """The third of a test: by its name alone, so that no other test that comes or goes changes it."""
    return int.from_bytes(hashlib.sha256(test.encode()).digest()[:8]) % NUM_TURNS


def share_here(root: Path, now: float) -> Share:
    """The share of a checkout; `now`, in seconds since 1970, decides only where no history is known."""
    history = _history(root)
    if history is None:
        return Share(int(now / CLOCK) % NUM_TURNS, frozenset())
    changed = _git(root, "diff", "--name-only", _base(root, history)).splitlines()
    return Share(turn_at([seconds for _, seconds in history]), touched_by(changed, root))


def turn_at(commits: Sequence[int]) -> int:
    """The turn of a history, given by the seconds of its commits in any order: how many pauses it has, modulo three."""
    ordered = sorted(commits)
    return sum(after - before > PAUSE for before, after in itertools.pairwise(ordered)) % NUM_TURNS


def touched_by(changed: Iterable[str], root: Path) -> frozenset[str]:
    """The folders and files of tests that a change of these files touches. Files that every test needs touch none."""
    found: set[str] = set()
    for path in changed:
        match path.split("/"):
            case ["src", "accord", room, *_]:
                room = room.removesuffix(".py")
                found.update((room, *BESIDE.get(room, ())))
            case ["tests", folder, file]:
                # A table, say, is part of all tests beside it.
                found.add(f"{folder}/{file}" if file.startswith("test_") else folder)
            case ["tests", folder, _, *_]:
                found.add(folder)
            case [top, _, *_]:
                found.update(ELSEWHERE.get(top, ()))
    return frozenset(each for each in found if (root / "tests" / each).exists())


def _base(root: Path, history: Sequence[tuple[str, int]]) -> str:
    """The commit before the change: where a branch left the one it came from, or the last one before a pause."""
    head = history[0][0]
    fork = _git(root, "merge-base", "HEAD", "origin/HEAD").strip()
    if fork and fork != head:
        return fork
    for (_, after), (commit, before) in itertools.pairwise(history):
        if after - before > PAUSE:
            return commit
    return history[-1][0]


def _history(root: Path) -> list[tuple[str, int]] | None:
    """Commits and their seconds, the newest first; None where they are not all known."""
    if _git(root, "rev-parse", "--is-shallow-repository").strip() != "false":
        return None
    lines = _git(root, "log", "--first-parent", "--format=%H %ct").split("\n")
    pairs = [line.split() for line in lines if line]
    return [(commit, int(seconds)) for commit, seconds in pairs] or None


def _git(root: Path, *arguments: str) -> str:
    """What git prints; nothing where it fails, or is not there."""
    try:
        ran = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return ran.stdout if ran.returncode == 0 else ""
