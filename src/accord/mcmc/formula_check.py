"""Compare users' formulas with the model before a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core import keys
from ..core.errors import OptionError
from ..core.position import Position
from ..core.precision import float_dtype, scope
from ..core.tree import to_numpy
from ..density import Entry, LogDensity
from ..density.conditional import ExactConditional
from ..kernels import AbstractKernel
from ..kernels.formula import Formula, Trajectory
from ..programs.standalone import compile_alone
from .formulas import OWNER, exact_conditional
from .start.base import AT_ONCE, AbstractPoints

_NUM_DRAWS = 20  # values of a block that are drawn from a formula, to be compared

_ABSOLUTE = {"float64": 1e-6, "float32": 2e-3}
"""Largest difference, in nats, between a formula and the model, beside rounding."""

_RELATIVE = {"float64": 1e-12, "float32": 1e-5}
"""Rounding of a log density, relative to its size: of a sum of many terms."""


def check_formulas(
    kernel: AbstractKernel, density: LogDensity, points: AbstractPoints, seed: int, chain: int, is_cut: bool
) -> None:
    """Compare each formula of a kernel with the model, at the first starting points of a chain.

    Between some values of a block, its log density must differ as the model's does, all else being equal. The values
    are drawn by the formula; those of the starting points are among them, as they may be where it draws none.

    **Raises** `OptionError` where they do not, and for rows of data that are cut; `SiteError` for states that are to be
    drawn by particles, and are no series.
    """
    formulas = [each for each in kernel.formulas if isinstance(each, Formula)]
    for each in kernel.formulas:
        if isinstance(each, Trajectory):
            from .by_particles import trajectory_of  # loads filters, which few runs need

            trajectory_of(density, each)
    if not formulas:
        return
    if is_cut:
        raise OptionError(
            f"{OWNER}: rows of data are cut into blocks, by a plate's `chunk=` or an executor's `shard=`. Formulas "
            "need all rows at once: leave it out."
        )
    precision = density.program.precision
    dtype = float_dtype(precision)
    whole: Any = np.zeros(density.layout.num_whole, np.int32) if density.layout.whole else None
    free: Any = np.zeros(density.dim, dtype)
    like = Position(free, whole)
    count = min(points.num_tries(chain), AT_ONCE)
    numbers = [*range(count), *[count - 1] * (AT_ONCE - count)]
    with scope(precision):
        starts = [points.at(seed, chain, number, like) for number in numbers]
        words = keys.words(keys.chain_key(seed, chain), keys.USE_FORMULA, _NUM_DRAWS)
        for formula in formulas:
            _check(exact_conditional(density, formula), density, starts[:count], starts, words)


def _check(
    exact: ExactConditional,
    density: LogDensity,
    starts: Sequence[Position],
    every: Sequence[Position],
    words: np.ndarray,
) -> None:
    precision = density.program.precision
    stacked = jax.tree.map(lambda *rows: np.stack(rows), *every)
    names = set(exact.names)
    own = [entry for entry in density.layout.unknowns if entry.name in names]

    def compare(density: LogDensity, start: Position, others: Position, words: Any) -> Any:
        given = exact.given_rest(density, start)  # once, since all else is equal
        drawn = jax.lax.map(lambda each: exact.drawn(density, start, each, given), words)
        there = jax.lax.map(lambda other: _with_block(start, other, own), others)
        positions = jax.tree.map(lambda *rows: jnp.concatenate(rows), drawn, there)

        def at(position: Position) -> Any:
            return exact.compared(density, position, given)

        return jax.lax.map(at, positions)

    program = compile_alone(density, compare, every[0], stacked, words)
    for number, start in enumerate(starts):
        joint, given, values = to_numpy(program(start, stacked, words))
        if np.isfinite(joint[_NUM_DRAWS + number]) or np.all(np.isfinite(joint[:_NUM_DRAWS])):
            _judge(_Compared(exact.names, joint, given, values), precision)
            return


@dataclass(frozen=True)
class _Compared:
    """Log densities of some values of a block, by the model and by a formula.

    **Fields**: `names` of its sites; `joint` and `given`, shape `(value,)`, log densities of the model and the formula;
    `values`, by site. The first `_NUM_DRAWS` are drawn from the formula.
    """

    names: tuple[str, ...]
    joint: np.ndarray
    given: np.ndarray
    values: Mapping[str, np.ndarray]

    def at(self, number: int) -> str:
        return ", ".join(f"{name} = {_short(self.values[name][number])}" for name in self.names)


def _judge(found: _Compared, precision: str) -> None:
    """Raise `OptionError` where model and formula do not differ alike between two values."""
    joint, given, block = found.joint, found.given, " and ".join(map(repr, found.names))
    is_possible = np.isfinite(joint)
    impossible = np.flatnonzero(~is_possible[:_NUM_DRAWS])
    missing = np.flatnonzero(is_possible & ~np.isfinite(given))
    if len(impossible):
        number = int(impossible[0])
        raise OptionError(
            f"{OWNER}: the function of {block} returns a distribution from which {found.at(number)} was drawn. The log "
            f"density of the model is {joint[number]} there, with all else at a starting point. Return a distribution "
            "on the support of the site."
        )
    if len(missing):
        number = int(missing[0])
        raise OptionError(
            f"{OWNER}: the function of {block} returns a distribution whose log_prob is {given[number]} at "
            f"{found.at(number)}, which is possible in the model, with all else at a starting point. Return a "
            "distribution on the whole support of the site."
        )
    joint, given = np.where(is_possible, joint, 0), np.where(is_possible, given, 0)
    sizes = np.maximum(np.abs(joint), np.abs(given))
    gaps = np.where(is_possible, np.abs((joint - joint[0]) - (given - given[0])), 0)
    excess = gaps / (_ABSOLUTE[precision] + _RELATIVE[precision] * np.maximum(sizes, sizes[0]))
    worst = int(np.argmax(excess))
    if excess[worst] > 1:
        raise OptionError(
            f"{OWNER}: the function of {block} returns another distribution than the model's. From {found.at(0)} to "
            f"{found.at(worst)}, with all else at a starting point, the log density of the model changes by "
            f"{joint[worst] - joint[0]:.9g}, and log_prob of the distribution by {given[worst] - given[0]:.9g}. Look "
            "for a prior or a likelihood that is left out, a variance in the place of a standard deviation, or a rate "
            "in the place of a scale."
        )


def _short(value: np.ndarray) -> str:
    with np.printoptions(precision=6, threshold=8):
        return f"{value}" if value.ndim else f"{value:.6g}"


def _with_block(position: Position, other: Position, block: Sequence[Entry]) -> Position:
    """Return a position with the numbers of some sites from another one."""
    free, whole = position.free, position.whole
    for entry in block:
        span = slice(entry.start, entry.stop)
        if entry.kind == "latent":
            free = jnp.asarray(free).at[span].set(other.free[span])
        else:
            assert whole is not None
            assert other.whole is not None
            whole = jnp.asarray(whole).at[span].set(other.whole[span])
    return Position(free, whole)
