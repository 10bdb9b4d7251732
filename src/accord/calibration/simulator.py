"""Make unknowns and data from a model as it is written, and the posterior of those unknowns given those data."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core import keys
from ..core import precision as precisions
from ..core.errors import ModelError, OptionError
from ..core.position import Position
from ..core.precision import Precision
from ..core.tree import shapes, to_numpy
from ..density import LogDensity
from ..density.simulate import simulate
from ..density.unknowns import free_of
from ..executors import AbstractExecutor
from ..guides.base import AbstractGuide
from ..kernels import AbstractKernel
from ..language import Model
from ..programs.standalone import compile_alone
from ..runs.requests import check_target, density_of

Values = dict[str, np.ndarray]


@dataclass(frozen=True)
class Simulation:
    """Unknowns and data that came from a model.

    **Fields**: `truth`, by latent site; `data`, by observed site; `log_density` of the truth given the data, in
    unconstrained space.
    """

    truth: Values
    data: Values
    log_density: float


@dataclass(frozen=True)
class Simulator:
    """A model whose data can be replaced by simulated ones.

    **Fields**: `model`; `posterior`, given data that are all zero; `draw(words)` and `judge(data, truth)`, compiled;
    `trace()`, which returns the jaxpr of both.
    """

    model: Model
    posterior: LogDensity
    draw: Callable[..., Any]
    judge: Callable[..., Any]
    trace: Callable[[], Any]

    @staticmethod
    def of(
        model: Model | LogDensity, precision: Precision, sampler: AbstractKernel | AbstractGuide
    ) -> "Simulator":
        """Trace and compile both programs. Discrete sites that the sampler moves are unknowns; a guide moves none.

        **Raises** `OptionError` for what is not a model; `ModelError` for one that observes nothing, and `SiteError`
        for one that cannot be simulated.
        """
        check_target(model)
        if not isinstance(model, Model):
            raise OptionError(
                "to simulate takes a model, and this is a LogDensity, whose data cannot be told from its other "
                "arguments. Give the model that it was made from, or write it with `ac.model`."
            )
        whole = ((), ()) if isinstance(sampler, AbstractGuide) else (sampler.whole, sampler.whole_if_discrete)
        density = density_of(model, precision, *whole)
        layout = density.layout
        if not layout.observed:
            raise ModelError(
                f"the model {model.name!r} observes nothing, so that there are no data to simulate. Call it with data "
                "of the right shapes, or `.condition({...})` it: the values are replaced by simulated ones."
            )
        zeros = {entry.name: np.zeros(entry.shape, entry.dtype) for entry in layout.observed}
        posterior = density_of(model.condition(zeros), precision, *whole)
        for name, source in _sources(posterior).items():
            if source not in posterior.data:
                raise ModelError(
                    f"site {name!r}: its values are needed while the model is traced, so that each simulation "
                    "would be another program. Compute what depends on them by `jnp`."
                )
        latents = tuple(entry.name for entry in layout.unknowns)
        with precisions.scope(precision):
            words = np.zeros(2, np.uint32)
            draw = compile_alone(density, _simulated, words)
            example = {name: value for name, value in to_numpy(draw(words)).items() if name in latents}
            judge = compile_alone(posterior, _judged, zeros, example)

        def trace() -> Any:
            with precisions.scope(precision):
                given = shapes(density.data), shapes(posterior.data)
                return jax.make_jaxpr(both)(given, words, zeros, example)

        def both(given: Any, words: Any, data: Any, truth: Any) -> Any:
            drawn = _simulated(density.with_data(given[0]), words)
            return drawn, _judged(posterior.with_data(given[1]), data, truth)

        return Simulator(model, posterior, draw, judge, trace)

    def cut(self, executor: AbstractExecutor) -> AbstractExecutor:
        """Return an executor that cuts simulated values too, if this one cuts arguments by name.

        These are cut along the axis that has as many entries as the arguments have rows, if there is only one.
        """
        shard, data = executor.sharding, self.posterior.data
        given = {} if isinstance(shard, str) else dict(shard)
        sizes = {np.shape(data[name])[axis : axis + 1] for name, axis in given.items() if name in data}
        for source in _sources(self.posterior).values():
            axes = [axis for axis, size in enumerate(np.shape(data[source])) if sizes == {(size,)}]
            if len(axes) == 1:
                given.setdefault(source, axes[0])
        is_same = isinstance(shard, str) or given == dict(shard)
        return executor if is_same or not hasattr(executor, "shard") else replace(executor, shard=given)

    def simulate(self, seed: int) -> Simulation:
        """The simulation of a seed."""
        layout, precision = self.posterior.layout, self.posterior.program.precision
        with precisions.scope(precision):
            drawn = to_numpy(self.draw(keys.words(keys.chain_key(seed, 0), keys.USE_SIMULATE, 1)[0]))
            data = {entry.name: drawn[entry.name] for entry in layout.observed}
            truth = {entry.name: drawn[entry.name] for entry in layout.unknowns}
            log_density, again = to_numpy(self.judge(data, truth))
        around = {name: _rounded_alike(value, again[name]) for name, value in truth.items()}
        return Simulation(around, data, float(log_density))

    def given(self, simulation: Simulation) -> LogDensity:
        """The posterior given simulated data; the same program for all of them.

        **Raises** `SiteError` for data that are not finite.
        """
        with precisions.scope(self.posterior.program.precision):
            return _with_observed(self.posterior, simulation.data)


def _simulated(density: LogDensity, words: Any) -> Any:
    return simulate(density, jax.random.wrap_key_data(words, impl="threefry2x32"))


def _judged(posterior: LogDensity, data: Any, truth: Any) -> Any:
    """The log density of the truth, and the truth taken to unconstrained space and back."""
    given = _with_observed(posterior, data)
    position, dtype = given.unconstrain(truth), precisions.float_dtype(posterior.program.precision)
    free = free_of(position).astype(dtype)
    position = replace(position, free=free) if isinstance(position, Position) else free
    values = given.constrain(position)
    return given(position), {name: jnp.asarray(values[name]) for name in truth}


def _with_observed(posterior: LogDensity, data: Mapping[str, Any]) -> LogDensity:
    return posterior.with_data({source: data[name] for name, source in _sources(posterior).items()})


def _sources(posterior: LogDensity) -> dict[str, str]:
    """Name the data of each observed site; of a site that is conditioned twice, the outer value."""
    names = [*posterior.data, *posterior.constants]

    def last(site: str) -> str:
        found = [re.fullmatch(rf"condition/{re.escape(site)}(?:#(\d+))?", name) for name in names]
        return max((each for each in found if each), key=lambda each: int(each[1] or 1))[0]

    return {entry.name: last(entry.name) for entry in posterior.layout.observed}


def _rounded_alike(value: np.ndarray, again: np.ndarray) -> np.ndarray:
    """The truth with the rounding of draws: the diagonals of correlation matrices would not tie otherwise."""
    if not np.issubdtype(value.dtype, np.floating):
        return value
    tolerance = float(np.sqrt(np.finfo(value.dtype).eps))
    return np.where(np.isclose(value, again, rtol=tolerance, atol=tolerance**2), again, value)
