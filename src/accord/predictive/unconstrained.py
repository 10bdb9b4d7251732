"""Find where draws lie in unconstrained space, and evaluate there, row by row.

One row after the other, as in `job.py`: the bits of a row do not depend on how many there are.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ..core import precision as precisions
from ..core.errors import DataError, OptionError
from ..core.precision import Precision
from ..core.tree import to_numpy
from ..density import LogDensity
from ..mcmc.draws import Draws
from ..programs.standalone import HasData, compile_alone
from .source import float_values

_AT_ONCE = 64  # rows of one call of a program

Rows = Callable[[Any], Any]
"""From a tree of arrays of shape `(n, ...)` to the results, a row for each row."""


def over_rows(
    target: HasData, precision: Precision, function: Callable[[Any, Any], Any], example: Any
) -> Rows:
    """Compile `function(target, row)` for rows of arrays like `example`, a tree of arrays of shape `(n, ...)`."""

    def every(target: Any, rows: Any) -> Any:
        return jax.lax.map(lambda row: function(target, row), rows)

    like = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((_AT_ONCE, *leaf.shape[1:]), leaf.dtype), example)
    with precisions.scope(precision):
        program = compile_alone(target, every, like)

    def run(rows: Any) -> Any:
        count = len(jax.tree.leaves(rows)[0])
        parts = []
        for first in range(0, count, _AT_ONCE):
            batch = jax.tree.map(lambda leaf, first=first: _filled(leaf[first : first + _AT_ONCE]), rows)
            with precisions.scope(precision):
                parts.append(to_numpy(program(batch)))
        return jax.tree.map(lambda *leaves: np.concatenate(leaves)[:count], *parts)

    return run


def density_of_free(function: str, draws: Draws) -> LogDensity:
    """Return the log density of a run whose unknowns are all free numbers.

    **Arguments**: `function`, the public one, for messages.

    **Raises** `OptionError` for a run without its model, without draws, or with whole numbers among its unknowns.
    """
    if draws.density is None:
        raise OptionError(
            f"{function}: these draws have no model, which is to be evaluated. Load them with it: "
            "infer.resume(path, model(...))."
        )
    if draws.num_draws == 0:
        raise OptionError(f"{function}: there are no draws. See `draws.notices`.")
    whole = draws.density.layout.whole
    if whole:
        raise OptionError(
            f"{function}: site {whole[0].name!r} is sampled as whole numbers, and this needs a density over free "
            "numbers alone. Let accord sum it out: infer.sample(model) without a sampler for it."
        )
    return draws.density


def positions_of(function: str, draws: Draws, density: LogDensity) -> np.ndarray:
    """Compute the unconstrained positions of draws, shape `(chain, draw, dim)`, in the precision of the run.

    **Raises** `DataError` for a draw that was rounded onto the edge of a support, where it has no position.
    """
    precision = density.program.precision
    names = [entry.name for entry in density.layout.entries]
    values = {name: float_values(np.asarray(draws.sites[name]), precision) for name in names}
    num_chains, num_draws = len(draws.chains), draws.num_draws
    rows = {name: value.reshape(num_chains * num_draws, *value.shape[2:]) for name, value in values.items()}
    place = over_rows(density, precision, lambda density, row: density.unconstrain(row), rows)
    positions = place(rows)
    for entry in density.layout.entries:
        is_bad = ~np.isfinite(positions[:, entry.start : entry.stop]).all(axis=1)
        if is_bad.any():
            value = np.asarray(rows[entry.name][int(np.argmax(is_bad))])
            raise DataError(
                f"{function}: {np.count_nonzero(is_bad)} of {is_bad.size} draws of site {entry.name!r} were rounded "
                f"onto the edge of its support, as {np.array2string(value, threshold=5)}, and have no unconstrained "
                "position. Write the site on a scale without that edge, for instance its logarithm or log odds."
            )
    return positions.reshape(num_chains, num_draws, -1)


def _filled(leaf: np.ndarray) -> np.ndarray:
    """Fill a batch up with its last row."""
    missing = _AT_ONCE - len(leaf)
    return np.concatenate([leaf, np.repeat(leaf[-1:], missing, axis=0)]) if missing else leaf
