"""Count what a chain has done, by sums that each new segment is added to."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..storage import Segment

_LATELY = 8  # segments by which speed is told
_PAUSE = 30.0  # seconds without a segment, above which they are of a run that rested


@dataclass
class ChainProgress:
    """Progress of one chain, restart or path, so far.

    **Fields**
    - `number`; `phases`, in order, and `totals`, what is to be done of each; `per_draw`, draws made for one that is
      kept.
    - `done`, by phase. `divergences`, after warm-up. `step_size`, `depth` and `steps`, means over the last segment, or
      None where the run has no such numbers. `is_stuck`: it makes no more draws.
    """

    number: int
    phases: Sequence[str]
    totals: dict[str, int]
    done: dict[str, int] = field(init=False)
    divergences: int = 0
    step_size: float | None = None
    depth: float | None = None
    steps: float | None = None
    is_stuck: bool = False
    _lately: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=_LATELY))

    def __post_init__(self) -> None:
        self.done = dict.fromkeys(self.phases, 0)

    @property
    def phase(self) -> str:
        """The phase that the chain is in."""
        return next((each for each in self.phases if self.done[each] < self.totals[each]), self.phases[-1])

    @property
    def left(self) -> int:
        """Number of draws that are still to be made, of all phases."""
        return (
            0 if self.is_stuck else sum(max(self.totals[each] - self.done[each], 0) for each in self.phases)
        )

    @property
    def speed(self) -> float | None:
        """Draws a second by the last segments; None before the second one."""
        if len(self._lately) < 2:
            return None
        (first, before), (last, now) = self._lately[0], self._lately[-1]
        return (now - before) / (last - first) if last > first and now > before else None

    def take(self, segment: Segment, at: float) -> None:
        """Add a segment that was committed at a time, in seconds."""
        arrays, end = segment.arrays, segment.end_state
        if "num_warmup" in end and "warmup" in self.totals:  # warm-up may have become longer
            self.totals["warmup"] = max(int(end["num_warmup"]), segment.stop * (segment.phase == "warmup"))
        is_last_phase = segment.phase == self.phases[-1]
        if is_last_phase and "stat/diverging" in arrays:
            self.divergences += int(np.sum(arrays["stat/diverging"]))
        self.step_size = _mean(arrays, "stat/step_size", self.step_size)
        self.depth = _mean(arrays, "stat/tree_depth", self.depth)
        self.steps = _mean(arrays, "stat/n_steps", self.steps)
        self.is_stuck = "is_given_up" in end and bool(end["is_given_up"])
        if "is_over" in end and bool(end["is_over"]):  # a fit that has converged before its last step
            self.totals[segment.phase] = segment.stop
        self.done[segment.phase] = segment.stop
        if is_last_phase:
            # Warm-up ends where the next phase begins, however long it was to be.
            self.totals |= {each: self.done[each] for each in self.phases[:-1]}
        if self._lately and at - self._lately[-1][0] > self._usual_gap() + _PAUSE:
            self._lately.clear()
        self._lately.append((at, sum(self.done.values())))

    def _usual_gap(self) -> float:
        first, last = self._lately[0][0], self._lately[-1][0]
        return 30 * (last - first) / max(len(self._lately) - 1, 1)


def seconds_left(chains: Sequence[ChainProgress], is_fixed: bool) -> float | None:
    """Estimate how long the slowest chain has to go; None if that is not known.

    `is_fixed`: whether each chain has a number of draws to make, while fits end once they have converged.
    """
    open_ones = [chain for chain in chains if chain.left]
    speeds = [chain.speed for chain in open_ones]
    if not is_fixed or any(speed is None for speed in speeds):
        return None
    return max(
        (chain.left / speed for chain, speed in zip(open_ones, speeds, strict=True) if speed), default=0.0
    )


def _mean(arrays: Mapping[str, np.ndarray], name: str, before: float | None) -> float | None:
    if name not in arrays:
        return before
    values = np.asarray(arrays[name], np.float64)
    return float(values.mean()) if values.size and np.isfinite(values).all() else before
