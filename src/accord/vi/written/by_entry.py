"""Bound the evidence of each entry of a plate by several draws, where a step takes a part of the entries.

The logarithm of a mean of weights of a part says nothing of all data without bias. But where entries are independent
of each other, and no unknown is shared, the evidence is a product over entries: each has a bound of its own, and their
sum over a part estimates that over all. That entries are independent is found in the trace of draws and costs.
"""

from dataclasses import replace

import jax.numpy as jnp
from jaxtyping import Array, Float, UInt32

from ...core.errors import OptionError
from ...density import LogDensity
from ...density.minibatch import Minibatch
from ...density.program import ModelProgram
from ...guides.base import Params
from ..each import sharing
from ..objectives.base import held
from ..objectives.renyi import AbstractBound
from .costs import axes_of, costs_of
from .guide import Row, Written
from .matched import parted
from .program import Values, sites_in


def with_row(guide: Written, density: LogDensity, minibatch: Minibatch, objective: str) -> Written:
    """Return a guide that knows the plate whose entries have bounds of their own.

    **Raises** `OptionError`, with the reason, where there is none.
    """
    found = _row(guide, density, minibatch)
    if isinstance(found, Row):
        return replace(guide, pair=replace(guide.known, row=found))
    raise OptionError(
        f"objective: {objective} takes the logarithm of a mean of weights, of which a part of the data gives no "
        f"estimate without bias, unless each entry of a plate has a bound of its own. Here {found}. Use infer.ELBO(), "
        "or leave subsample_size out."
    )


def _row(guide: Written, density: LogDensity, minibatch: Minibatch) -> Row | str:
    """Find the plate, or say why there is none."""
    whole, part = density.program.whole, minibatch.density.program
    if whole is None or not isinstance(part, ModelProgram):
        return "sites of the model are summed out or integrated out, and the entries have one cost together"
    theirs, of_part = sites_in(whole, density.data), sites_in(part, minibatch.density.data)
    taken = {
        name: parted(site, of_part[name]) for name, site in theirs.items() if site.kind != "deterministic"
    }
    plates = sorted({name for names in taken.values() for name in names})
    if len(plates) != 1:
        return f"parts are taken of {len(plates)} plates ({', '.join(map(repr, plates))})"
    (plate,) = plates
    shared = [name for name in guide.known.guide.names if name not in guide.known.local]
    if shared:
        return f"the unknown {shared[0]!r} is shared by all entries of the plate {plate!r}"
    drawing = guide.at_part(minibatch.density.data[minibatch.words])
    apart, costs = axes_of(drawing, minibatch.density, drawing.program.names)
    axes = {axis.get(plate) for axis in apart.values()}
    outside = [name for name, plates in costs.items() if plate not in plates]
    if outside:
        return f"the site {outside[0].partition(' ')[2]!r} has a term outside of the plate {plate!r}"
    if len(axes) != 1 or None in axes or {each[plate] for each in costs.values()} != axes:
        return f"entries of the plate {plate!r} depend on each other"
    (axis,) = axes
    assert axis is not None
    size, count = (
        next(frame.size for site in sites.values() for frame in site.plates if frame.name == plate)
        for sites in (theirs, of_part)
    )
    return Row(plate, axis, size / count)


def loss_by_entry(
    objective: AbstractBound,
    guide: Written,
    density: LogDensity,
    params: Params,
    noise: UInt32[Array, "draw 2"],
    is_side_by_side: bool,
) -> Float[Array, ""]:
    """Estimate minus the sum of the bounds of all entries, from a part of them, with its gradient.

    The scale of the part is that of the sum: the weight of an entry is its own.
    """
    row = guide.known.row
    assert row is not None

    def log_weights(values: Values) -> Array:
        costs = costs_of(guide, density, params, values, held(params)).values()
        entries = sum(cost.along({row.plate: row.axis}, -row.axis) for cost in costs)
        return jnp.ravel(jnp.asarray(entries)) / row.scale

    def drawn(_: object, words: Array) -> tuple[Array, Array]:
        values, _ = guide.draw(params, words)
        found = log_weights(values)
        # Of values that are held, its gradient is that by parameters of the model.
        return found, log_weights(held(values)) if guide.fits_model else jnp.zeros_like(found)

    found, at_rest = sharing(lambda values: values, is_side_by_side)(drawn, noise)
    return row.scale * objective.of_weights(found, at_rest if guide.fits_model else None)
