"""Find the least and the largest value of each whole number of a density, with its data."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..core import precision as precision_scope
from ..core.position import Position
from ..distributions import constraint
from ..language import Site
from .layout import Entry
from .logdensity import LogDensity
from .rows.row_files import in_memory
from .unknowns import like, pieces_at

Bounds = tuple[tuple[int | None, int | None], ...]


def bounds_of(density: LogDensity) -> dict[str, Bounds | None]:
    """Return the bounds of each number, by site of whole numbers.

    A bound is None where there is none, or where other unknowns decide; a site has None instead where its numbers are
    bound to each other, as counts with a given sum. Computes what the bounds need of the model, and no more.
    """
    layout, program = density.layout, density.program.whole
    if not layout.whole or program is None:
        return {}
    data, found = in_memory(density.data), {}

    def look(position: Position) -> jax.Array:
        with jax.ensure_compile_time_eval():
            sites = program.sites(pieces_at(position, layout), data)
            found.update({entry.name: _bounds(entry, sites[entry.name]) for entry in layout.whole})
        return jnp.zeros(())

    with precision_scope.scope(program.precision):
        jax.eval_shape(look, like(layout, jnp.result_type(float)))
    return found


def _bounds(entry: Entry, site: Site) -> Bounds | None:
    if site.distribution is None:
        return ((None, None),) * (entry.stop - entry.start)
    support = site.distribution.support
    while isinstance(support, constraint.Independent):
        support = support.base
    if support.event_dim:
        return None
    ends = (0, 1) if isinstance(support, constraint.Boolean) else (
        getattr(support, "lower", None), getattr(support, "upper", None)
    )  # fmt: skip
    lows, highs = (_numbers(end, entry.shape) for end in ends)
    return tuple(zip(lows, highs, strict=True))


def _numbers(end: object, shape: tuple[int, ...]) -> list[int | None]:
    """Return an end of a support by entry; None where it is infinite, or not known."""
    if end is None or isinstance(end, Tracer):
        return [None] * int(np.prod(shape))
    values = np.broadcast_to(np.asarray(end, float), shape).ravel()
    return [int(value) if np.isfinite(value) else None for value in values]
