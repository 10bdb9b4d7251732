"""Climb along paths and draw from their normals, by compiled programs."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...core import keys
from ...core import precision as precisions
from ...density import LogDensity
from ...executors.pools import one_blas_thread
from ...mcmc.start.search import StartFailedError
from ...optimise.surface import heights, values_of_sites
from ...programs.standalone import check_traced
from ...runs.fingerprint import Fingerprint, fixed_points
from ...runs.method import AbstractPlanned
from ...runs.units import AbstractMachine, AbstractStretch, Item, Progress, UnitFailedError
from .climbing import NUM_CANDIDATES, Advance, ClimbState, Points, blank, climbing
from .normal import Normal
from .path import CLIMB, DRAW, ClimbStretch, DrawStretch, Path
from .plan import MOST_POINTS, Plan

_NUM_JUDGES = 25  # draws for each bound along a path
_NUM_JUDGED = 5  # normals at a time: twice `optimise.surface.AT_ONCE` draws, nearly
_AT_ONCE = 256  # draws of a stretch


class PathFailedError(UnitFailedError):
    """Error of a path with no usable normal. **Fields**: `number` of the path; `num_points` that it has."""

    def __init__(self, number: int, num_points: int):
        super().__init__(
            f"path {number}: its climb ended where it began, so that nothing is known of the curvature: it began at a "
            "mode, or where no step leads upward. Begin elsewhere: leave out `init=`, or give other values."
            if num_points == 1
            else f"path {number}: none of its {num_points} points gave a normal with a finite evidence lower bound: "
            f"the density curves nowhere downward, or some of {_NUM_JUDGES} draws have no finite log density. "
            "infer.check(model) looks for where that is."
        )
        self.number, self.num_points = number, num_points

    def __reduce__(self) -> tuple[Any, ...]:
        return PathFailedError, (self.number, self.num_points)


@dataclass(frozen=True, eq=False)
class PathMachine(AbstractMachine[Path]):
    """Programs of a worker.

    **Fields**: `plan`; `advance`, which climbs; `heights`, the log density at positions, and `sites`, values of sites
    there; `clock`, in seconds.
    """

    plan: Plan
    advance: Advance
    heights: Callable[[np.ndarray], np.ndarray]
    sites: Callable[[np.ndarray], dict[str, np.ndarray]]
    clock: Callable[[], float]

    def work(
        self, units: Path, seconds: float, is_stopped: Callable[[], bool]
    ) -> tuple[Path, Sequence[Item]]:
        """See `AbstractMachine.work`."""
        with precisions.scope(self.plan.precision), one_blas_thread():
            return self._work(units, seconds, is_stopped)

    def _work(
        self, path: Path, seconds: float, is_stopped: Callable[[], bool]
    ) -> tuple[Path, Sequence[Item]]:
        items: list[Item] = []
        shown: list[tuple[float, Progress]] = []
        began = self.clock()
        if not path.is_known:
            items.append(self._fingerprint())
            shown.append((self.clock(), self._progress(path)))
            path = replace(path, is_known=True)
        while not path.is_done and not is_stopped():
            path, stretch = self._drawn(path) if path.is_over else self._climbed(path)
            items.append(stretch)
            shown.append((self.clock(), self._progress(path, stretch)))
            if self.clock() - began >= seconds:
                break
        ended = self.clock()
        return path, [*items, *(replace(each, age=ended - at) for at, each in shown)]

    def _climbed(self, path: Path) -> tuple[Path, ClimbStretch]:
        """Go on to further points, and judge the normal at each."""
        state, points, is_over = self._points(path)
        trail, normals = path.trail.along(points.position, points.gradient)
        bounds = self._bounds(path.number, path.trail.count, normals)
        if len(bounds):
            trail = trail.judged(normals, bounds)
        after = replace(path, state=state, trail=trail, is_over=is_over or trail.count >= MOST_POINTS)
        return after, ClimbStretch(after, points, bounds)

    def _points(self, path: Path) -> tuple[ClimbState, Points, bool]:
        plan, number = self.plan, path.number
        if path.state is not None:
            return self.advance(path.state, np.zeros((NUM_CANDIDATES, plan.dim)))
        tries = plan.points.num_tries(number)
        for first in range(0, tries, NUM_CANDIDATES):
            attempts = [min(first + place, tries - 1) for place in range(NUM_CANDIDATES)]
            candidates = [plan.points.position(plan.seed, number, attempt, plan.dim) for attempt in attempts]
            state, points, is_over = self.advance(blank(plan.dim, plan.dtype), np.stack(candidates))
            if len(points.log_density):
                return state, points, is_over
        first_place = plan.points.position(plan.seed, number, 0, plan.dim).astype(plan.dtype)
        raise StartFailedError(number, first_place, tries, plan.points.origin, "path")

    def _bounds(self, number: int, first: int, normals: Sequence[Normal | None]) -> np.ndarray:
        """Estimate the evidence lower bound of each normal, shape `(point,)`; -inf for those that are unusable."""
        bounds = np.full(len(normals), -np.inf)
        known = [(place, normal) for place, normal in enumerate(normals) if normal is not None]
        key = keys.chain_key(self.plan.seed, number)
        for begin in range(0, len(known), _NUM_JUDGED):
            group = known[begin : begin + _NUM_JUDGED]
            noise = np.stack([self._noise(key, first + place) for place, _ in group])
            with np.errstate(over="ignore", invalid="ignore"):  # such a normal is unusable
                positions = [normal.positions(own) for (_, normal), own in zip(group, noise, strict=True)]
                log_q = [normal.log_prob_of_noise(own) for (_, normal), own in zip(group, noise, strict=True)]
                log_p = self._heights(np.concatenate(positions)).reshape(len(group), _NUM_JUDGES)
                found = np.mean(log_p - np.stack(log_q), axis=1)
            bounds[[place for place, _ in group]] = np.where(np.isfinite(found), found, -np.inf)
        return bounds

    def _noise(self, key: np.ndarray, point: int) -> np.ndarray:
        """Return the noise that judges the normal at a point, shape `(draw, dim)`."""
        return keys.generator(key, keys.USE_PATH, point).standard_normal((_NUM_JUDGES, self.plan.dim))

    def _drawn(self, path: Path) -> tuple[Path, DrawStretch]:
        """Draw from the best normal; the noise of each draw is its own."""
        plan, best = self.plan, path.trail.best
        if best is None:
            raise PathFailedError(path.number, path.trail.count)
        stop = min(path.num_drawn + _AT_ONCE, path.num_draws)
        key = keys.chain_key(plan.seed, path.number)
        words = keys.words(key, keys.USE_PATH_DRAW, stop)[path.num_drawn :]
        noise = np.stack([keys.generator_of(each).standard_normal(plan.dim) for each in words])
        positions = best.positions(noise).astype(plan.dtype)
        after = replace(path, num_drawn=stop)
        return after, DrawStretch(after, positions, self._heights(positions), self.sites(positions))

    def _heights(self, positions: np.ndarray) -> np.ndarray:
        """Return the log density at positions, shape `(draw, dim)`; -inf where it is NaN."""
        found = np.asarray(self.heights(positions.astype(self.plan.dtype)), float)
        return np.where(np.isnan(found), -np.inf, found)

    def _fingerprint(self) -> Fingerprint:
        """Evaluate the target at fixed points, to tell it from others."""
        plan = self.plan
        found = []
        for point in fixed_points(plan.dim):
            state, _, _ = self.advance(blank(plan.dim, plan.dtype), np.tile(point, (NUM_CANDIDATES, 1)), 1)
            found.append(np.asarray(state.tried, float))
        return Fingerprint(np.stack(found))

    def _progress(self, path: Path, stretch: AbstractStretch | None = None) -> Progress:
        if isinstance(stretch, DrawStretch):
            return Progress(path.number, DRAW, path.num_drawn, path.num_draws)
        total = path.trail.count if path.is_over else MOST_POINTS
        return Progress(path.number, CLIMB, path.trail.count, total)


@dataclass(frozen=True)
class Pathfinder(AbstractPlanned[Plan]):
    """Paths of one plan to one target. **Fields**: `density`, the target; `plan`."""

    def machine(
        self,
        devices: Sequence[Any] | None = None,
        meanwhile: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> tuple[PathMachine, dict[str, float]]:
        """See `AbstractMethod.machine`."""
        began, density = time.perf_counter(), self.density
        with precisions.scope(self.precision):
            check_traced(density)
            meanwhile()
            machine = PathMachine(
                self.plan,
                climbing(density),
                heights(density, LogDensity.__call__),
                _sites(density),
                clock,
            )
        return machine, {"compile": time.perf_counter() - began}


def _sites(density: LogDensity) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    """Compile the values of sites at positions, in the model's order."""
    values_at = values_of_sites(density)

    def sites(positions: np.ndarray) -> dict[str, np.ndarray]:
        values = values_at(positions)
        return {entry.name: values[entry.name] for entry in density.layout.drawn if entry.name in values}

    return sites
