"""Take populations from the prior to the posterior, by compiled programs and arithmetic on the host."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from ..core import keys
from ..core import precision as precisions
from ..density import LogDensity
from ..executors.pools import one_blas_thread
from ..mcmc.start.search import StartFailedError
from ..optimise.surface import values_of_sites
from ..programs.standalone import check_traced
from ..report.weights import effective_size
from ..runs.fingerprint import Fingerprint, fixed_points
from ..runs.method import AbstractPlanned
from ..runs.units import AbstractMachine, Item, Progress, UnitFailedError
from .moves import Moved, Moves, at_fixed, compiled_moves, prior_and_likelihood, prior_draws
from .plan import MOST_STAGES, Plan
from .population import DRAW, TEMPER, Cloud, ParticleStretch, Population, Stage, StageStretch
from .probes import step_size_by_probes
from .tuning import metric_of, next_step_size
from .weights import log_mean, next_power, relative, relative_variance

_FEW = 0.5  # of the acceptance that is aimed at: below, the next step size is found anew


class PopulationFailedError(UnitFailedError):
    """Error of a population that did not reach the posterior. **Fields**: `number`; `power` that it came to."""

    def __init__(self, number: int, power: float):
        super().__init__(
            f"population {number}: after {MOST_STAGES} stages the likelihood has the power {power:.3g}, and not 1: its "
            "values at the particles differ too much. Look for an observation with hardly any noise, and give the "
            "prior the scale of the data; infer.check(model) looks for both."
        )
        self.number, self.power = number, power

    def __reduce__(self) -> tuple[Any, ...]:
        return PopulationFailedError, (self.number, self.power)


@dataclass(frozen=True, eq=False)
class PopulationMachine(AbstractMachine[Population]):
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
        self, units: Population, seconds: float, is_stopped: Callable[[], bool]
    ) -> tuple[Population, Sequence[Item]]:
        """See `AbstractMachine.work`."""
        with precisions.scope(self.plan.precision), one_blas_thread():
            return self._work(units, seconds, is_stopped)

    def _work(
        self, unit: Population, seconds: float, is_stopped: Callable[[], bool]
    ) -> tuple[Population, Sequence[Item]]:
        items: list[Item] = []
        shown: list[tuple[float, Progress]] = []
        began = self.clock()
        if not unit.is_known:
            items.append(Fingerprint(self.fixed(fixed_points(self.plan.dim).astype(self.plan.dtype))))
            shown.append((self.clock(), _progress(unit, self.plan)))
            unit = replace(unit, is_known=True)
        while not unit.is_done and not is_stopped():
            unit, stretch = self._next(unit)
            if stretch is not None:
                items.append(stretch)
                shown.append((self.clock(), _progress(unit, self.plan)))
            if self.clock() - began >= seconds:
                break
        ended = self.clock()
        return unit, [*items, *(replace(each, age=ended - at) for at, each in shown)]

    def _next(self, unit: Population) -> tuple[Population, StageStretch | ParticleStretch | None]:
        """Do a part of a stage, or what comes before and after all."""
        if unit.cloud is None:
            return self._drawn_from_prior(unit)
        if unit.stage is None and unit.cloud.power >= 1:
            drawn = ParticleStretch(unit.number, unit.cloud.positions, self.sites(unit.cloud.positions))
            return replace(unit, is_drawn=True), drawn
        if unit.stage is None:
            return replace(unit, stage=self._begun(unit, unit.cloud)), None
        stage = self._moved(unit, unit.cloud, unit.stage)
        if stage.num_moved < self.plan.ancestors:
            return replace(unit, stage=stage), None
        return self._ended(unit, unit.cloud, stage)

    def _drawn_from_prior(self, unit: Population) -> tuple[Population, StageStretch]:
        plan = self.plan
        key = keys.chain_key(plan.seed, unit.number)
        positions = self.prior(keys.words(key, keys.USE_PARTICLE, plan.particles)).astype(plan.dtype)
        prior, likelihood = np.asarray(self.parts(positions), np.float64).T
        # A draw that rounds to the edge of its support has no place.
        is_inside = np.isfinite(prior) & np.isfinite(positions).all(axis=1)
        likelihood, num_bad = _possible(np.where(is_inside, likelihood, -np.inf))
        if np.all(likelihood == -np.inf):
            first = int(np.argmax(is_inside))
            raise StartFailedError(
                unit.number, positions[first], plan.particles, "drawn from the prior", "population"
            )
        weights = is_inside.astype(float)
        cloud = Cloud(
            np.float64(0),
            positions,
            likelihood,
            np.arange(plan.particles),
            np.float64(0),
            metric_of(positions, weights, plan.metric_form, None, plan.dtype),
        )
        row = _row(0.0, 0.0, 0.0, plan.particles, np.nan, np.nan, plan.particles, num_bad, np.zeros(plan.dim))
        after = replace(unit, cloud=cloud, num_stages=1)
        return after, StageStretch(after, row)

    def _begun(self, unit: Population, cloud: Cloud) -> Stage:
        """Choose the next power, weigh the particles, choose ancestors, and tune their moves."""
        plan, number = self.plan, unit.num_stages
        if number > MOST_STAGES:
            raise PopulationFailedError(unit.number, float(cloud.power))
        power = next_power(cloud.log_likelihood, float(cloud.power), plan.ess)
        log_weights = (power - float(cloud.power)) * cloud.log_likelihood
        weights = relative(log_weights)
        key = keys.chain_key(plan.seed, unit.number)
        generator = keys.generator(key, keys.USE_RESAMPLE, number)
        ancestors = plan.resampling.ancestors(weights, plan.ancestors, generator)
        metric = metric_of(cloud.positions, weights, plan.metric_form, cloud.metric, plan.dtype)
        step_size = float(cloud.step_size)
        if not step_size:
            starts = cloud.positions[ancestors][: self.moves.at_once]
            own = keys.fold(keys.fold(key, np.uint32(keys.USE_PROBE)), np.uint32(number))
            step_size = step_size_by_probes(self.moves, starts, own, power, metric, plan.target_accept)
        return Stage(
            power,
            log_mean(log_weights),
            relative_variance(log_weights, cloud.family),
            effective_size(log_weights),
            ancestors,
            metric,
            step_size,
        )

    def _moved(self, unit: Population, cloud: Cloud, stage: Stage) -> Stage:
        """Move some more chains of a stage."""
        plan, first = self.plan, stage.num_moved
        key = keys.fold(keys.chain_key(plan.seed, unit.number), np.uint32(keys.USE_MOVE))
        words = keys.words(key, unit.num_stages, plan.ancestors)
        some = slice(first, first + self.moves.at_once)
        moved = self.moves(
            cloud.positions[stage.ancestors[some]],
            words[some],
            stage.power,
            stage.step_size,
            stage.metric,
            plan.moves - 1,
            False,
        )
        return replace(stage, moved=(*stage.moved, moved))

    def _ended(self, unit: Population, cloud: Cloud, stage: Stage) -> tuple[Population, StageStretch]:
        """Keep every point of every chain as a particle: waste-free."""
        plan = self.plan
        moved: Moved = jax.tree.map(lambda *parts: np.concatenate(parts), *stage.moved)
        starts = cloud.positions[stage.ancestors]
        positions = np.concatenate([starts[:, None], moved.positions], axis=1)
        likelihood = np.concatenate(
            [cloud.log_likelihood[stage.ancestors][:, None], np.asarray(moved.log_likelihood, np.float64)],
            axis=1,
        )
        likelihood, num_bad = _possible(likelihood)
        acceptance = float(np.mean(moved.acceptance, dtype=np.float64))
        is_lost = acceptance < _FEW * plan.target_accept
        step_size = 0.0 if is_lost else next_step_size(stage.step_size, acceptance, plan.target_accept)
        row = _row(
            stage.power,
            stage.log_ratio,
            stage.variance,
            stage.ess,
            acceptance,
            stage.step_size,
            len(np.unique(stage.ancestors)),
            num_bad,
            _correlation(starts, positions[:, -1]),
        )
        after = Cloud(
            np.float64(stage.power),
            positions.reshape(plan.particles, plan.dim),
            likelihood.reshape(-1),
            np.repeat(stage.ancestors, plan.moves),
            np.float64(step_size),
            stage.metric,
        )
        unit = replace(unit, cloud=after, stage=None, num_stages=unit.num_stages + 1)
        return unit, StageStretch(unit, row)


def _row(
    power: float,
    log_ratio: float,
    variance: float,
    ess: float,
    acceptance: float,
    step_size: float,
    ancestors: int,
    non_finite: int,
    correlation: np.ndarray,
) -> dict[str, Any]:
    return {
        "power": power,
        "log_ratio": log_ratio,
        "variance": variance,
        "ess": ess,
        "acceptance": acceptance,
        "step_size": step_size,
        "ancestors": ancestors,
        "non_finite": non_finite,
        "correlation": correlation,
    }


def _possible(log_likelihood: np.ndarray) -> tuple[np.ndarray, int]:
    """Return log likelihoods with -inf where they are NaN or +inf, and how many were."""
    is_bad = np.isnan(log_likelihood) | (log_likelihood == np.inf)
    return np.where(is_bad, -np.inf, log_likelihood), int(is_bad.sum())


def _correlation(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the correlation of where chains began with where they ended, by coordinate; zero where all are alike."""
    x, y = starts.astype(np.float64), ends.astype(np.float64)
    x, y = x - x.mean(0), y - y.mean(0)
    with np.errstate(all="ignore"):
        found = (x * y).sum(0) / np.sqrt((x**2).sum(0) * (y**2).sum(0))
    return np.where(np.isfinite(found), found, 0.0)


def _progress(unit: Population, plan: Plan) -> Progress:
    if unit.is_drawn:
        return Progress(unit.number, DRAW, plan.particles, plan.particles)
    power = 0.0 if unit.cloud is None else float(unit.cloud.power)
    total = unit.num_stages if power >= 1 else MOST_STAGES
    return Progress(unit.number, TEMPER, unit.num_stages, total, {"columns": (("power", power),)})


@dataclass(frozen=True)
class SMC(AbstractPlanned[Plan]):
    """Populations of one plan for one target. **Fields**: `density`, the target; `plan`."""

    def machine(
        self,
        devices: Sequence[Any] | None = None,
        meanwhile: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> tuple[PopulationMachine, dict[str, float]]:
        """See `AbstractMethod.machine`."""
        began, density = time.perf_counter(), self.density
        with precisions.scope(self.precision):
            check_traced(density)
            meanwhile()
            machine = PopulationMachine(
                self.plan,
                prior_draws(density),
                prior_and_likelihood(density),
                compiled_moves(density, self.plan, jax.default_backend() != "cpu"),
                sites_at(density),
                at_fixed(density),
                clock,
            )
        return machine, {"compile": time.perf_counter() - began}


def sites_at(density: LogDensity) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    """Compile the values of sites at positions, in the model's order."""
    values_at = values_of_sites(density)

    def sites(positions: np.ndarray) -> dict[str, np.ndarray]:
        values = values_at(positions)
        return {entry.name: values[entry.name] for entry in density.layout.drawn if entry.name in values}

    return sites
