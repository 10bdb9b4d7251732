"""Carry out the stages of a restart by compiled programs."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from ..core import precision as precisions
from ..core.tree import shapes, to_numpy
from ..density import LogDensity
from ..executors.pools import one_blas_thread
from ..guides.base import Params
from ..mcmc.start.search import StartFailedError
from ..optimise.surface import in_batches
from ..programs.standalone import check_traced, compile_alone
from ..runs.fingerprint import NUM_POINTS, Fingerprint, fixed_points
from ..runs.method import AbstractPlanned
from ..runs.units import AbstractMachine, Item, Progress
from .frame import SCALE
from .given import Given
from .plan import Plan, frame_after
from .restart import Restart, Stretch
from .stage import MOST_STEPS, NUM_CANDIDATES, Stage, StageState
from .turn import roots
from .written.guide import Written
from .written.start import NoBoundError
from .written.target import WithGuide

_USUAL_STEPS = 2**11  # of a stage


@dataclass(frozen=True, eq=False)
class StageProgram:
    """Compiled program of a stage.

    **Fields**: `stage`; `advance`, `begin`, `found`, `anchored`: as of `Stage`, on NumPy arrays; the last one returns
    the state with an anchor at the centre of the guide with some parameters, or as it is without parts of the data.
    """

    stage: Stage
    begin: Callable[[Given], StageState]
    advance: Callable[[StageState, Given, int], tuple[StageState, np.ndarray, bool]]
    found: Callable[[StageState, Given], dict[str, Any]]
    anchored: Callable[[StageState, Params, Given], StageState]

    @staticmethod
    def of(density: LogDensity, stage: Stage) -> "StageProgram":
        """Compile it, in the scope of the density's precision."""
        blank = np.zeros((NUM_CANDIDATES, stage.dim))
        given = stage.given(0, 0, blank, np.eye(stage.dim) if stage.is_turned else np.ones(stage.dim))
        state = to_numpy(jax.jit(stage.begin)(given))

        def advance(density: LogDensity, state: Any, given: Any, limit: Any) -> Any:
            after, losses, count = stage.advance(density, state, given, limit)
            return after, losses, count, stage.is_over(after, given)

        target = WithGuide(density, stage.guide) if isinstance(stage.guide, Written) else density
        program = compile_alone(target, advance, *shapes((state, given)), np.int32(0), num_steps=_USUAL_STEPS)
        begin, found = jax.jit(stage.begin), jax.jit(stage.found)
        anchor = (
            compile_alone(density, stage.measure.anchored, *shapes((given.start, given)))
            if stage.measure.is_anchored
            else None
        )

        def anchored(state: StageState, params: Params, given: Given) -> StageState:
            return state if anchor is None else replace(state, anchor=to_numpy(anchor(params, given)))

        def run(state: StageState, given: Given, limit: int) -> tuple[StageState, np.ndarray, bool]:
            after, losses, count, is_over = to_numpy(program(state, given, np.int32(limit)))
            return after, losses[: int(count)], bool(is_over)

        return StageProgram(
            stage,
            lambda given: to_numpy(begin(given)),
            run,
            lambda state, given: to_numpy(found(state, given)),
            anchored,
        )


@dataclass(frozen=True, eq=False)
class FitMachine(AbstractMachine[Restart]):
    """Programs of all stages.

    **Fields**: `plan`; `programs`, one for each stage; `scores_at`, gradients at positions, where correlations
    are told; `clock`, in seconds.
    """

    plan: Plan
    programs: Sequence[StageProgram]
    scores_at: Callable[[np.ndarray], np.ndarray] | None
    clock: Callable[[], float]

    def work(
        self, units: Restart, seconds: float, is_stopped: Callable[[], bool]
    ) -> tuple[Restart, Sequence[Item]]:
        """See `AbstractMachine.work`."""
        with precisions.scope(self.plan.precision), one_blas_thread():
            return self._work(units, seconds, is_stopped)

    def _work(
        self, restart: Restart, seconds: float, is_stopped: Callable[[], bool]
    ) -> tuple[Restart, Sequence[Item]]:
        items: list[tuple[float, Item]] = []
        began = self.clock()
        if not restart.is_known:
            items.append((began, self._fingerprint()))
            restart = replace(restart, is_known=True)
        while not restart.is_done and not is_stopped():
            if restart.is_over:
                restart = self._next(restart)
            if restart.state is None:
                items.append((self.clock(), self._progress(restart)))
                restart = self._begun(restart)
            restart, stretch = self._steps(restart)
            now = self.clock()
            items += [(now, stretch), (now, self._progress(restart))]
            if now - began >= seconds:
                break
        end = self.clock()
        return restart, [
            replace(item, age=end - then) if isinstance(item, Progress) else item for then, item in items
        ]

    def _steps(self, restart: Restart) -> tuple[Restart, Stretch]:
        """Take the steps of a block: up to the next look of the rule, as many as `MOST_STEPS`."""
        program, until = self.programs[restart.stage], self.plan.until
        stage, done = program.stage, len(restart.losses)
        limit = min(stage.num_steps - done, MOST_STEPS)
        has_rule = until is not None and not stage.is_climb
        if has_rule and until is not None:
            limit = min(limit, until.period - done % until.period)
        state, losses, is_over = program.advance(restart.state, restart.given, limit)
        after = restart.after(state, losses, is_over=is_over)
        params = program.found(state, after.given)  # also those of a level that ends here
        converged = is_over and stage.is_climb and bool(state.stepper.is_settled)
        if has_rule and until is not None and not is_over and len(after.losses) % until.period == 0:
            converged = until.holds(after.losses[int(state.level_began) :])
            has_more = int(state.level) < stage.num_levels and len(after.losses) < stage.num_steps
            if converged and has_more:
                state, converged = stage.next_level(state, after.given), False
                state = program.anchored(state, params, after.given)
                after = replace(after, state=state)
        if isinstance(stage.guide, Written) and is_over and not np.isfinite(after.losses).any():
            raise NoBoundError(restart.number)
        is_over = is_over or converged or len(after.losses) >= stage.num_steps
        after = replace(after, is_over=is_over)
        if is_over:
            stage.stepper(after.given.start).check(state.stepper, stage.guide)
        return after, Stretch(stage.phase, done, losses, params, after, converged)

    def _begun(self, restart: Restart) -> Restart:
        """Return a restart whose stage has begun, at the best of its candidates."""
        program, plan = self.programs[restart.stage], self.plan
        if restart.frame is not None:
            return self._begun_in(restart, program, *restart.frame)
        points, number = plan.points, restart.number
        tries = points.num_tries(number)
        for first in range(0, tries, NUM_CANDIDATES):
            attempts = [min(first + place, tries - 1) for place in range(NUM_CANDIDATES)]
            found = [points.position(plan.seed, number, attempt, plan.dim) for attempt in attempts]
            begun = self._tried(restart, program, np.stack(found), np.full(plan.dim, SCALE))
            if np.isfinite(begun.state.tried[:, 0]).any():
                return begun
        first_place = points.position(plan.seed, number, 0, plan.dim)
        raise StartFailedError(number, first_place, tries, points.origin, "restart")

    def _begun_in(
        self, restart: Restart, program: StageProgram, location: np.ndarray, scale: np.ndarray
    ) -> Restart:
        """Return a restart whose stage has begun at a mean field, or with the correlations there if that is better."""
        stage, seed, number = program.stage, self.plan.seed, restart.number
        ways: list[tuple[np.ndarray, Any]] = [(np.diag(scale) if stage.is_turned else scale, None)]
        if self.scores_at is not None and stage.is_correlated:
            for root in roots(self.scores_at, location, scale, seed, number):
                ways.append((scale[:, None] * root, None) if stage.is_turned else (scale, root))
        locations = np.tile(location, (NUM_CANDIDATES, 1))
        begun = [self._tried(restart, program, locations, *way, is_one=True) for way in ways]
        return min(begun, key=lambda each: float(each.state.tried[-1, 0]))

    def _tried(
        self,
        restart: Restart,
        program: StageProgram,
        locations: np.ndarray,
        scale: np.ndarray,
        root: np.ndarray | None = None,
        *,
        is_one: bool = False,
    ) -> Restart:
        """Return a restart that has tried its candidates; of equal ones, the last. `root`, of its covariance."""
        given = program.stage.given(self.plan.seed, restart.number, locations, scale, root)
        state = program.begin(given)
        if is_one:
            last: Any = np.asarray(NUM_CANDIDATES - 1, np.int32)
            state = program.anchored(replace(state, num_tried=last), given.start, given)
        state, _, _ = program.advance(state, given, 1 if is_one else NUM_CANDIDATES)
        return replace(restart, given=given, state=state)

    def _next(self, restart: Restart) -> Restart:
        """Return a restart at its next stage, in the coordinates that the last one has found."""
        program = self.programs[restart.stage]
        params = program.found(restart.state, restart.given)
        location = restart.given.locations[int(restart.state.best)]
        frame = frame_after(params, location, restart.given.scale)
        return Restart(
            restart.number,
            restart.stage + 1,
            is_known=True,
            frame=frame,
            num_stages=restart.num_stages,
        )

    def _fingerprint(self) -> Fingerprint:
        """Evaluate the first stage at fixed points, to tell the target from others."""
        program, plan = self.programs[0], self.plan
        dim = program.stage.dim
        points = np.resize(fixed_points(dim), (NUM_CANDIDATES, dim))
        given = program.stage.given(plan.seed, 0, points, np.full(dim, SCALE))
        state, _, _ = program.advance(program.begin(given), given, NUM_POINTS)
        return Fingerprint(np.asarray(state.tried[:NUM_POINTS], float))

    def _progress(self, restart: Restart) -> Progress:
        stage = self.plan.stages[restart.stage]
        recent = restart.losses[-100:]
        recent = recent[np.isfinite(recent)]
        shown = {"columns": (stage.objective.shown(float(np.mean(recent))),) if len(recent) else ()}
        total = len(restart.losses) if restart.is_over else stage.num_steps
        return Progress(restart.number, stage.phase, len(restart.losses), max(total, 1), shown)


@dataclass(frozen=True)
class VI(AbstractPlanned[Plan]):
    """Fits of one plan to one target. **Fields**: `density`, the target; `plan`."""

    def machine(
        self,
        devices: Sequence[Any] | None = None,
        meanwhile: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> tuple[FitMachine, dict[str, float]]:
        """See `AbstractMethod.machine`."""
        began = time.perf_counter()
        check_traced(self.density)
        meanwhile()
        programs = [StageProgram.of(self.density, stage) for stage in self.plan.stages]
        is_correlated = any(stage.is_correlated for stage in self.plan.stages)
        scores_at = in_batches(self.density, _scores) if is_correlated else None
        return FitMachine(self.plan, programs, scores_at, clock), {"compile": time.perf_counter() - began}


def _scores(density: LogDensity, positions: Any) -> Any:
    return jax.lax.map(jax.grad(density), positions)
