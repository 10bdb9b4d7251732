"""Verify that a model can be summed over rows of its data, from its sites for all of them and for some."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core import precision as precision_scope
from ...core.errors import ModelError, SiteError
from ...language import Site
from ...language.choice import Chosen
from ...language.site import Frame
from ..dependence.provenance import arguments_seen
from ..latent import bijector_of, concrete, sites_of, unconstrained_shape
from ..program import ModelProgram
from ..support import first_value, is_discrete
from .cutting import Cut

Terms = Callable[[Any, Any], Mapping[str, jax.Array]]
"""From unconstrained pieces and data, what each of some sites adds to the log density."""


@dataclass(frozen=True)
class Traced:
    """The sites of a model, whose values are only traced, and the unconstrained shapes of the latent ones.

    Discrete ones have the first of their values, and their shape.
    """

    sites: Mapping[str, Site]
    shapes: Mapping[str, tuple[int, ...]]

    @staticmethod
    def of(base: ModelProgram, data: Mapping[str, Any]) -> "Traced":
        """Run the model on data of these shapes, without computing anything."""
        sites: dict[str, Site] = {}
        shapes: dict[str, tuple[int, ...]] = {}
        dtype = precision_scope.float_dtype(base.precision)

        def look(origin: jax.Array, data: Any) -> None:
            def value_of(site: Site) -> Site:
                if is_discrete(site):
                    shapes[site.name] = tuple(site.batch_shape)
                    return first_value(site)
                shapes[site.name] = unconstrained_shape(site)
                return replace(
                    site, value=bijector_of(site).forward(jnp.broadcast_to(origin, shapes[site.name]))
                )

            with concrete(base.constants):
                sites.update(sites_of(base.model(data, dtype), lambda _: Chosen(value_of)))
            shapes.update({name: (*sites[name].lengths, *shape) for name, shape in shapes.items()})

        abstract = {name: jax.ShapeDtypeStruct(np.shape(value), value.dtype) for name, value in data.items()}
        jax.eval_shape(look, jax.ShapeDtypeStruct((), dtype), abstract)
        return Traced(sites, shapes)


def with_rows(shape: tuple[int, ...], axis: int | None, size: int) -> tuple[int, ...]:
    """Replace the number of rows in a shape, where it has rows."""
    return shape if axis is None else (*shape[:axis], size, *shape[axis + 1 :])


def plates_over_rows(whole: Traced, part: Traced, cut: Cut, words: str) -> dict[str, Frame]:
    """Find for each site its plate over the rows: its size is that of the data, however many rows there are.

    A plate that has the size of all rows by chance keeps it.

    **Raises** `ModelError` where a part has other sites than the whole, or no plate is over the rows; `SiteError` for a
    site in two such plates, and for one with an entry for each row in none.
    """
    if whole.sites.keys() != part.sites.keys():
        raise ModelError(
            f"the model has other sites on {words} than on all of them: "
            f"{listed(set(whole.sites) ^ set(part.sites))}."
        )
    plates: dict[str, Frame] = {}
    for name, site in whole.sites.items():
        sizes = {frame.name: frame.size for frame in part.sites[name].plates}
        found = [each for each in site.plates if (each.size, sizes[each.name]) == (cut.num_rows, cut.size)]
        if len(found) > 1:
            raise SiteError(
                f"site {name!r} (at {site.where}) is in two plates over the rows, "
                f"{listed(frame.name for frame in found)}: with an entry for each pair, it is not a sum over rows."
            )
        if found:
            plates[name] = found[0]
    if all(whole.sites[name].kind == "deterministic" for name in plates):
        raise ModelError(
            f"no site is in a plate over the rows, so nothing can be summed over {words}. Write the observed sites "
            'within `with ac.plate("row", X.shape[0]):`.'
        )
    for name, site in part.sites.items():
        axis = row_axis(whole.sites[name], plates[name]) if name in plates else None
        has_same_batch = name in plates or site.batch_shape == whole.sites[name].batch_shape
        has_shape = name not in whole.shapes or part.shapes[name] == with_rows(
            whole.shapes[name], axis, cut.size
        )
        if site.kind == "sample" and not (has_same_batch and has_shape):
            raise SiteError(
                f"site {name!r} (at {site.where}) has one entry for each row, but is in no plate over the rows. Write "
                'it within `with ac.plate("row", X.shape[0]):`.'
            )
    return plates


def row_axis(site: Site, frame: Frame) -> int:
    """Return the axis of a latent site's array along which it has its rows."""
    return len(site.batch_shape) + frame.dim


def check_independent(
    terms: Terms,
    shapes: Mapping[str, jax.ShapeDtypeStruct],
    data: Mapping[str, jax.ShapeDtypeStruct],
    shard: Mapping[str, int],
    plates: Mapping[str, Frame],
) -> None:
    """Raise `SiteError` for a term outside of the plates over the rows that sees the data of one block.

    **Arguments**: `plates`, those around such sites that have the size of all rows all the same.
    """
    for name, seen in arguments_seen(terms, shapes, data).items():
        found = [each for each in seen if each in shard]
        if not found:
            continue
        line = f'`with ac.plate("row", {found[0]}.shape[{shard[found[0]]}]):`'
        if name in plates:
            raise SiteError(
                f"site {name!r} depends on {listed(found)}, of which each device has some rows, but its plate "
                f"{plates[name].name!r} has the size {plates[name].size} of all rows wherever it is. Take the size "
                f"from an argument that is cut, as in {line}."
            )
        raise SiteError(
            f"site {name!r} depends on {listed(found)}, of which each device has some rows, but is in no plate over "
            f"the rows, so that a sum over rows would not be the model's. Write it within {line}, one term for each "
            "row, or compute what needs all rows outside of the model."
        )


def listed(names: Iterable[str]) -> str:
    """List names for a message."""
    return ", ".join(map(repr, sorted(names)))
