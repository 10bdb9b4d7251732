"""Count how the trajectories of a chain end, and keep the positions of the first failures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import jax
import numpy as np

from ..core.errors import StorageError
from ..core.position import Position
from ..runs.units import News
from ..storage import Phase
from .statistics import ENDING

Kind = Literal["divergence", "log_density", "gradient"]

KINDS: tuple[Kind, ...] = get_args(Kind)
PHASES: tuple[Phase, ...] = ("warmup", "sample")

MAX_UNMOVED = 250
"""Draws in a row at one position after which a chain is given up."""

_MAX_KEPT = 3  # places of each kind and chain


@dataclass(frozen=True, eq=False)
class BadEnd(News):
    """Position where a trajectory failed.

    **Fields**
    - `chain`, its number; `phase`, `"warmup"` or `"sample"`; `draw`, of that phase, from 0, before thinning.
    - `kind`: `"divergence"` (an energy error above 1000, or a log density of -inf), `"log_density"` (NaN or +inf), or
      `"gradient"` (not finite, where the log density is).
    - `position`: shape `(dim,)`, unconstrained; `LogDensity.constrain` turns it into values of sites.
    - `log_density` there, with respect to the unconstrained numbers.
    - `whole`: shape `(count,)`, the whole numbers of the position; None where there are none.
    """

    chain: int
    phase: Phase
    draw: int
    kind: Kind
    position: np.ndarray
    log_density: float
    whole: np.ndarray | None = None

    def __str__(self) -> str:
        what = {"divergence": "a divergence", "log_density": "a log density", "gradient": "a gradient"}[
            self.kind
        ]
        tail = "" if self.kind == "divergence" else " that is not finite"
        return f"chain {self.chain}, draw {self.draw} of {self.phase}: {what}{tail}"


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of one chain so far.

    **Fields**
    - `counts`: shape `(phase, kind)`, int64, of draws.
    - `kept`: the first few failures of each kind, without divergences of warm-up, which searches for the step size.
    - `last`: position of the newest draw; NaN before the first. `num_unmoved`: draws in a row there.
    """

    counts: np.ndarray
    kept: tuple[BadEnd, ...]
    last: Position
    num_unmoved: int

    @staticmethod
    def empty(position: Position) -> "Tally":
        """Make the tally of a chain without draws, with positions like this one."""
        nowhere: Any = np.full_like(position.free, np.nan)
        return Tally(np.zeros((len(PHASES), len(KINDS)), np.int64), (), replace(position, free=nowhere), 0)

    @property
    def is_stuck(self) -> bool:
        """Return whether the chain is given up."""
        return self.num_unmoved >= MAX_UNMOVED

    @property
    def num_divergent(self) -> int:
        """Number of divergences after warm-up."""
        return int(self.counts[PHASES.index("sample"), KINDS.index("divergence")])

    def wanted(self, phase: Phase, stats: np.ndarray) -> list[tuple[int, Kind]]:
        """Return the rows of a block whose position to keep, with their kinds; `stats` has shape `(draw, stat)`."""
        found: list[tuple[int, Kind]] = []
        codes = _codes(stats)
        if not codes.any():
            return found
        kind: Kind
        for code, kind in enumerate(KINDS, start=1):
            if kind == "divergence" and phase == "warmup":
                continue
            room = _MAX_KEPT - sum(each.kind == kind for each in self.kept)
            for row in np.flatnonzero(codes == code)[:room]:
                found.append((int(row), kind))
        return sorted(found)

    def room(self, positions: Position) -> int:
        """Return how many of these draws, with an axis of draws, count until the chain is given up."""
        run, count = self.num_unmoved, len(positions.free)
        if run + count < MAX_UNMOVED:
            return count
        for row, is_same in enumerate(self._unmoved(positions)):
            run = run + 1 if is_same else 0
            if run >= MAX_UNMOVED:
                return row + 1
        return count

    def after(self, phase: Phase, positions: Position, stats: np.ndarray, found: Sequence[BadEnd]) -> "Tally":
        """Return the tally after more draws of one phase."""
        counts = self.counts.copy()
        counts[PHASES.index(phase)] += np.bincount(_codes(stats), minlength=len(KINDS) + 1)[1:]
        moved, count = np.flatnonzero(~self._unmoved(positions)), len(positions.free)
        num_unmoved = count - 1 - moved[-1] if len(moved) else self.num_unmoved + count
        last = jax.tree.map(lambda rows: rows[-1], positions)
        return Tally(counts, (*self.kept, *found), last, int(num_unmoved))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a store keeps."""
        free: Any = self.last.free
        whole = {} if self.last.whole is None else self._whole_arrays(np.asarray(self.last.whole))
        return whole | {
            "tally.counts": self.counts,
            "tally.last": free,
            "tally.num_unmoved": np.asarray(self.num_unmoved),
            "tally.kept.position": np.reshape(
                [each.position for each in self.kept], (len(self.kept), len(free))
            ).astype(free.dtype),
            "tally.kept.log_density": np.asarray([each.log_density for each in self.kept], np.float64),
            "tally.kept.draw": np.asarray([each.draw for each in self.kept], np.int64),
            "tally.kept.kind": np.asarray([KINDS.index(each.kind) for each in self.kept], np.int8),
            "tally.kept.phase": np.asarray([PHASES.index(each.phase) for each in self.kept], np.int8),
        }

    def _whole_arrays(self, last: np.ndarray) -> dict[str, np.ndarray]:
        kept = np.reshape([np.asarray(each.whole) for each in self.kept], (len(self.kept), len(last)))
        return {"tally.last_whole": last, "tally.kept.whole": kept.astype(last.dtype)}

    @staticmethod
    def stored(chain: int, arrays: Mapping[str, Any]) -> "Tally":
        """Read the tally from the result of `arrays`, which may be among other arrays."""
        columns = (
            arrays[f"tally.kept.{name}"] for name in ("phase", "draw", "kind", "position", "log_density")
        )
        codes = ((arrays["tally.kept.kind"], KINDS), (arrays["tally.kept.phase"], PHASES))
        if not all(((values >= 0) & (values < len(words))).all() for values, words in codes):
            raise StorageError(
                f"chain {chain}: its tally names an end of a trajectory that accord does not know."
            )
        last = Position(arrays["tally.last"], arrays.get("tally.last_whole"))
        wholes = [None] * len(codes[0][0]) if last.whole is None else arrays["tally.kept.whole"]
        kept = tuple(
            BadEnd(chain, PHASES[phase], int(draw), KINDS[kind], position, float(log_density), whole)
            for phase, draw, kind, position, log_density, whole in zip(*columns, wholes, strict=True)
        )
        return Tally(arrays["tally.counts"], kept, last, int(arrays["tally.num_unmoved"]))

    def _unmoved(self, positions: Position) -> np.ndarray:
        """Return which draws repeat the position of the draw before them.

        None does without free unknowns: whole numbers by themselves may be nearly certain.
        """
        if not positions.free.shape[1]:
            return np.zeros(len(positions.free), bool)
        is_same = _repeats(self.last.free, positions.free)
        return is_same if positions.whole is None else is_same & _repeats(self.last.whole, positions.whole)


def _repeats(last: Any, rows: Any) -> np.ndarray:
    return (rows == np.concatenate([last[None], rows[:-1]])).all(axis=1)


def _codes(stats: np.ndarray) -> np.ndarray:
    """Return an `Ending` per draw: 0, or the kind of failure, from 1."""
    return stats[:, ENDING].astype(np.int64)
