"""Evaluate a fitted guide: draws, their weights, and what these say of the fit."""

import functools
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ..core import keys
from ..core.tree import to_numpy
from ..density import LogDensity
from ..density.weights import MAP
from ..executors.pools import one_blas_thread
from ..guides.base import AbstractGuide, Params
from ..optimise.surface import in_batches
from ..programs.standalone import compile_alone
from ..report.weights import effective_size, pareto_k
from .frame import Frame
from .written.guide import Written

NUM_DRAWS = 1000
"""Draws by which a fit is judged."""
_FEWEST, _NUMBERS = (
    100,
    1_000_000,
)  # draws, and numbers in all of them, where every entry of a plate has its own


@dataclass(frozen=True, eq=False)
class Fitted:
    """A guide with parameters, in its coordinates: a distribution over positions.

    **Fields**: `guide`; `params`; `frame`; NumPy arrays.
    """

    guide: AbstractGuide
    params: Params
    frame: Frame

    def draw(
        self, density: LogDensity, count: int, seed: int, restart: int, use: int = keys.USE_GUIDE
    ) -> tuple[Any, np.ndarray]:
        """Return positions, rows of shape `(draw, dim)`, and their log densities, shape `(draw,)`.

        In the current precision.

        `use`: what they are for, so that no two uses have the same draws.
        """
        location = np.asarray(self.frame.location)
        key = keys.fold(keys.chain_key(seed, restart), np.uint32(use))
        if isinstance(self.guide, Written):
            positions, log_q = self.guide.positions(density, self.params, key, count)
            return positions, np.asarray(log_q, float)
        noise = self.guide.noise_of_draws(keys.generator_of(key), count, location.size)
        arguments = (self.params, noise.astype(location.dtype), self.frame)
        is_point = self.guide.points(location.size)

        def draws(density: LogDensity, params: Params, noise: Any, frame: Frame) -> Any:
            draw = functools.partial(self.guide.towards(frame.within(density, is_point)).draw, params)
            # One by one where each evaluates the density, which may take much memory.
            is_cheap = self.guide.has_density or self.guide.num_points > 0
            return jax.vmap(draw)(noise) if is_cheap else jax.lax.map(draw, noise)

        coordinates, log_q = to_numpy(compile_alone(density, draws, *arguments)(*arguments))
        scales = np.sum(np.log(np.diag(self.frame.matrix()))[~is_point])
        return np.asarray(self.frame.position(coordinates)), np.asarray(log_q, float) - scales


@dataclass(frozen=True)
class Judgement:
    """Judgement of a guide by draws from it.

    **Fields**: `bound`, the evidence lower bound, and `error`, its standard error; `pareto_k` of the weights;
    `effective` draws, weighted, of `count`. NaN where a guide has no spread, or no density. Of particles alone:
    `discrepancy`, Stein's, of that of as many independent draws; `spread`, the lowest ratio of variances by gradients;
    `narrow`, names of sites where it is low.
    """

    bound: float
    error: float
    pareto_k: float
    effective: float
    discrepancy: float = np.nan
    spread: float = np.nan
    narrow: tuple[str, ...] = ()
    count: int = NUM_DRAWS

    @property
    def height(self) -> float:
        """Number that the best restart has largest: the bound, or minus the discrepancy; minus infinity if unknown."""
        known = -self.discrepancy if np.isnan(self.bound) else self.bound
        return -np.inf if np.isnan(known) else known

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON; what is not finite as a string."""
        numbers = {name: value for name, value in vars(self).items() if name != "narrow"}
        plain = {name: value if np.isfinite(value) else str(value) for name, value in numbers.items()}
        return {**plain, "narrow": list(self.narrow)}

    @staticmethod
    def from_json(record: Any) -> "Judgement":
        """Return what `as_json` wrote."""
        names = ("bound", "error", "pareto_k", "effective", "discrepancy", "spread")
        numbers = {name: float(record[name]) for name in names}
        return Judgement(**numbers, narrow=tuple(record["narrow"]), count=int(record.get("count", NUM_DRAWS)))


def num_judged(guide: AbstractGuide, dim: int) -> int:
    """Return the number of draws by which a guide is judged, of `dim` unconstrained numbers each.

    Weights over many entries of a plate say little, however many draws there are, and the bound is an average over
    the entries too: fewer draws will do.
    """
    if isinstance(guide, Written) and guide.known.local:
        return int(np.clip(_NUMBERS // max(dim, 1), _FEWEST, NUM_DRAWS))
    return NUM_DRAWS


def log_weights(
    density: LogDensity,
    fitted: Fitted,
    count: int,
    seed: int,
    use: int,
    restart: int = 0,
    heights: Any = None,
) -> np.ndarray:
    """Compute `log p - log q` of new draws, shape `(draw,)`, in float64; -inf where the density is no number.

    In the current precision. **Arguments**: `use`, as of `Fitted.draw`; `heights`, the compiled log densities of rows
    of positions, or None to compile them.
    """
    with one_blas_thread():
        if isinstance(fitted.guide, Written):
            key = keys.fold(keys.chain_key(seed, restart), np.uint32(use))
            found = np.asarray(fitted.guide.log_weights(density, fitted.params, key, count), float)
        else:
            positions, log_q = fitted.draw(density, count, seed, restart, use)
            rows = in_batches(density, _heights) if heights is None else heights
            found = np.asarray(rows(positions), float) - log_q
    return np.where(np.isnan(found), -np.inf, found)


def _heights(density: LogDensity, positions: Any) -> Any:
    return jax.lax.map(density, positions)


def judging(density: LogDensity) -> Any:
    """Compile the judgement of guides: from a `Fitted`, a seed and a restart to a `Judgement`."""

    def points(density: LogDensity, positions: Any) -> Any:
        return jax.lax.map(lambda position: density.value(position, MAP), positions)

    heights = functools.cache(lambda is_point: in_batches(density, points if is_point else _heights))

    def judge(fitted: Fitted, seed: int, restart: int) -> Judgement:
        is_point = fitted.guide.is_point
        count = 1 if is_point else num_judged(fitted.guide, density.dim)
        rows = None if isinstance(fitted.guide, Written) else heights(is_point)
        found = log_weights(density, fitted, count, seed, keys.USE_GUIDE, restart, rows)
        if is_point:
            return Judgement(float(found[0]), np.nan, np.nan, np.nan)
        if isinstance(fitted.guide, Written) and fitted.guide.is_only_points:
            return Judgement(float(np.mean(found)), np.nan, np.nan, np.nan)
        error = np.std(found) / np.sqrt(len(found)) if np.isfinite(found).all() else np.nan
        k, effective = pareto_k(found), effective_size(found)
        return Judgement(float(np.mean(found)), float(error), k, effective, count=count)

    return judge
