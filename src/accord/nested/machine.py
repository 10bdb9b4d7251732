"""Shrink live points to the posterior, by a compiled program and arithmetic on the host."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core import keys
from ..core import precision as precisions
from ..executors.pools import one_blas_thread
from ..mcmc.start.search import StartFailedError
from ..programs.standalone import check_traced
from ..runs.fingerprint import Fingerprint, fixed_points
from ..runs.method import AbstractPlanned
from ..runs.units import AbstractMachine, Item, Progress
from ..smc.machine import sites_at
from ..smc.moves import at_fixed, prior_and_likelihood, prior_draws
from ..smc.tuning import metric_of
from .insertion import ranks
from .moves import FORM, Moves, compiled_moves
from .plan import MOST_ROUNDS, Plan
from .points import DRAW, SHRINK, Live, LiveStretch, NestedRun, Points, Round, RoundStretch, joined


@dataclass(frozen=True, eq=False)
class NestedMachine(AbstractMachine[NestedRun]):
    """Programs of a worker.

    **Fields**: `plan`; `prior`, draws from it by their keys; `parts`, log prior and log likelihood at positions;
    `moves`; `sites`, values of sites at positions; `fixed`, which tells the target from others; `clock`, in seconds.
    """

    plan: Plan
    prior: Callable[[np.ndarray], np.ndarray]
    parts: Callable[[np.ndarray], np.ndarray]
    moves: Moves
    sites: Callable[[np.ndarray], dict[str, np.ndarray]]
    fixed: Callable[[np.ndarray], np.ndarray]
    clock: Callable[[], float]

    def work(
        self, units: NestedRun, seconds: float, is_stopped: Callable[[], bool]
    ) -> tuple[NestedRun, Sequence[Item]]:
        """See `AbstractMachine.work`."""
        with precisions.scope(self.plan.precision), one_blas_thread():
            return self._work(units, seconds, is_stopped)

    def _work(
        self, unit: NestedRun, seconds: float, is_stopped: Callable[[], bool]
    ) -> tuple[NestedRun, Sequence[Item]]:
        items: list[Item] = []
        shown: list[tuple[float, Progress]] = []
        began = self.clock()
        if not unit.is_known:
            items.append(Fingerprint(self.fixed(fixed_points(self.plan.dim).astype(self.plan.dtype))))
            shown.append((self.clock(), _progress(unit)))
            unit = replace(unit, is_known=True)
        while not unit.is_done and not is_stopped():
            unit, stretch = self._next(unit)
            if stretch is not None:
                items.append(stretch)
                shown.append((self.clock(), _progress(unit)))
            if self.clock() - began >= seconds:
                break
        ended = self.clock()
        return unit, [*items, *(replace(each, age=ended - at) for at, each in shown)]

    def _next(self, unit: NestedRun) -> tuple[NestedRun, RoundStretch | LiveStretch | None]:
        """Replace a batch of points, or do what comes before and after all."""
        if unit.live is None:
            return self._drawn_from_prior(unit)
        if unit.is_over:
            points = unit.live.points.at(unit.live.points.order())
            drawn = LiveStretch(unit.number, points, self.sites(points.positions))
            return replace(unit, is_drawn=True), drawn
        current = self._replaced(unit, unit.live, unit.round or Round(unit.live.points))
        if len(current.dead) < self.plan.batches:
            return replace(unit, round=current), None
        return self._ended(unit, unit.live, current)

    def _drawn_from_prior(self, unit: NestedRun) -> tuple[NestedRun, RoundStretch]:
        plan = self.plan
        key = keys.chain_key(plan.seed, unit.number)
        positions = self.prior(keys.words(key, keys.USE_PARTICLE, plan.live)).astype(plan.dtype)
        prior, likelihood = self.parts(positions).T.astype(plan.dtype)
        # A draw that rounds to the edge of its support has no place.
        is_inside = np.isfinite(prior) & np.isfinite(positions).all(axis=1)
        is_bad = is_inside & (np.isnan(likelihood) | (likelihood == np.inf))
        likelihood = np.where(is_bad | ~is_inside, -np.inf, likelihood).astype(plan.dtype)
        if np.all(likelihood == -np.inf):
            first = positions[int(np.argmax(is_inside))]
            raise StartFailedError(unit.number, first, plan.live, "drawn from the prior", "run")
        tie = keys.generator(key, keys.USE_TIE, 0).random(plan.live).astype(plan.dtype)
        prior = np.where(is_inside, prior, -np.inf).astype(plan.dtype)
        points = Points(positions, prior, likelihood, tie)
        metric = metric_of(positions, is_inside.astype(float), FORM, None, plan.dtype)
        live = Live(points, np.float64(0), np.float64(-np.inf), metric)
        after = replace(unit, live=live, num_rounds=1)
        row = _row(live, np.inf, plan.live, 0, int(is_bad.sum()))
        none = points.at(np.arange(0))
        return after, RoundStretch(after, row | {"rank": np.zeros(0)}, none, self.sites(none.positions))

    def _replaced(self, unit: NestedRun, live: Live, current: Round) -> Round:
        """Replace the batch of lowest points by others above them."""
        plan, points = self.plan, current.points
        number = (unit.num_rounds - 1) * plan.batches + len(current.dead)
        order = points.order()
        lowest, others = order[: plan.batch], order[plan.batch :]
        floor = points.at(lowest[-1])
        key = keys.chain_key(plan.seed, unit.number)
        # A point at the edge of its support cannot move.
        able = others[np.isfinite(points.log_prior[others])]
        able = able if len(able) else others
        chosen = able[keys.generator(key, keys.USE_RESAMPLE, number).integers(len(able), size=plan.batch)]
        words = keys.words(keys.fold(key, np.uint32(keys.USE_MOVE)), number, plan.batch)
        moved = self.moves(points.at(chosen), words, floor, live.metric)
        after = joined([points.at(others), moved.points])
        places = np.argsort(after.order(), kind="stable")
        share = keys.generator(key, keys.USE_TIE, 1 + number).random(plan.batch)
        return Round(
            after,
            (*current.dead, points.at(lowest)),
            (*current.ranks, ranks(places[: len(others)], places[len(others) :], share)),
            current.evaluations + int(moved.evaluations.sum()),
            current.stayed + int(moved.stayed.sum()),
            current.non_finite + int(moved.non_finite.sum()),
        )

    def _ended(self, unit: NestedRun, live: Live, current: Round) -> tuple[NestedRun, RoundStretch]:
        """Add what died to the evidence, and look whether what lives may still add to it."""
        plan = self.plan
        dead = joined(current.dead)
        shrinks = 1.0 / (plan.live - np.arange(plan.replaced) % plan.batch)
        log_volume = float(live.log_volume) - np.cumsum(shrinks)
        outer = np.concatenate([[float(live.log_volume)], log_volume[:-1]])
        heights = dead.log_likelihood.astype(np.float64)
        terms = heights + outer + np.log(-np.expm1(-shrinks))
        log_evidence = np.logaddexp.reduce(np.append(terms, float(live.log_evidence)))
        can_move = np.isfinite(current.points.log_prior).astype(float)
        metric = metric_of(current.points.positions, can_move, FORM, live.metric, plan.dtype)
        after = Live(current.points, np.float64(log_volume[-1]), np.float64(log_evidence), metric)
        left = _left(after)
        is_over = left < plan.tolerance or unit.num_rounds >= MOST_ROUNDS
        row = _row(after, left, current.evaluations, current.stayed, current.non_finite)
        unit = replace(unit, live=after, round=None, num_rounds=unit.num_rounds + 1, is_over=is_over)
        row = row | {"rank": np.concatenate(current.ranks)}
        return unit, RoundStretch(unit, row, dead, self.sites(dead.positions))


def _left(live: Live) -> float:
    """Return by how much the live points would raise the log evidence; infinite where there is none yet."""
    heights = live.points.log_likelihood.astype(np.float64)
    mean = np.logaddexp.reduce(heights) - np.log(len(heights)) + float(live.log_volume)
    if live.log_evidence == -np.inf:
        return np.inf
    return float(np.logaddexp(live.log_evidence, mean) - live.log_evidence)


def _row(live: Live, left: float, evaluations: int, stayed: int, non_finite: int) -> dict[str, Any]:
    return {
        "log_volume": live.log_volume,
        "log_evidence": live.log_evidence,
        "left": left,
        "evaluations": evaluations,
        "stayed": stayed,
        "non_finite": non_finite,
    }


def _progress(unit: NestedRun) -> Progress:
    if unit.is_drawn:
        return Progress(unit.number, DRAW, 1, 1)
    volume = 0.0 if unit.live is None else float(unit.live.log_volume)
    total = unit.num_rounds if unit.is_over else MOST_ROUNDS
    return Progress(unit.number, SHRINK, unit.num_rounds, total, {"columns": (("log volume", volume),)})


@dataclass(frozen=True)
class Nested(AbstractPlanned[Plan]):
    """Runs of one plan for one target. **Fields**: `density`, the target; `plan`."""

    def machine(
        self,
        devices: Sequence[Any] | None = None,
        meanwhile: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> tuple[NestedMachine, dict[str, float]]:
        """See `AbstractMethod.machine`."""
        began, density = time.perf_counter(), self.density
        with precisions.scope(self.precision):
            check_traced(density)
            meanwhile()
            machine = NestedMachine(
                self.plan,
                prior_draws(density),
                prior_and_likelihood(density),
                compiled_moves(density, self.plan),
                sites_at(density),
                at_fixed(density),
                clock,
            )
        return machine, {"compile": time.perf_counter() - began}
