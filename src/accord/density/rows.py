"""See that a model can be summed over rows of its data, from its sites for all of them and for some."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import jax.extend.core
import numpy as np

from ..core import precision as precision_scope
from ..core.errors import ModelError, OptionError, SiteError, suggest
from ..language import Site
from ..language.site import Frame
from .logdensity import LogDensity
from .program import ModelProgram
from .tracing import concrete


def num_rows_of(density: LogDensity, shard: Mapping[str, int]) -> int:
    """The common size of what is to be cut. Raises `OptionError` where there is none."""
    sizes: dict[str, int] = {}
    for name, axis in shard.items():
        if name in density.constants:
            raise OptionError(
                f"shard: the model needs the values of {name!r} while it is traced, so they are a constant of the "
                "program and cannot be cut. Compute what depends on them outside of the model."
            )
        if name not in density.data:
            known = list(density.data)
            raise OptionError(
                f"shard: the model has no data {name!r}.{suggest(name, known)} There are: {', '.join(known)}."
            )
        shape = np.shape(density.data[name])
        if not isinstance(axis, int) or not 0 <= axis < len(shape):
            raise OptionError(f"shard: {name!r} has shape {shape}, so that it has no axis {axis!r}.")
        sizes[name] = shape[axis]
    if not sizes:
        raise OptionError('shard: name at least one argument of the model, as in `shard={"X": 0, "y": 0}`.')
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{name!r} {size}" for name, size in sizes.items())
        raise OptionError(f"shard: all must have the same number of rows, and have: {found}.")
    (num_rows,) = set(sizes.values())
    if num_rows < 2:
        raise OptionError(f"shard: {listed(shard)} has {num_rows} row; there is nothing to share out.")
    return num_rows


def unconstrained_shapes(base: ModelProgram) -> dict[str, tuple[int, ...]]:
    """Of the unknowns, by site."""
    return {entry.name: entry.unconstrained_shape for entry in base.layout.entries}


def with_rows(shape: tuple[int, ...], axis: int | None, size: int) -> tuple[int, ...]:
    """A shape with another number of rows, where it has rows."""
    return shape if axis is None else (*shape[:axis], size, *shape[axis + 1 :])


def traced_sites(
    base: ModelProgram, shapes: Mapping[str, tuple[int, ...]], data: Mapping[str, Any]
) -> dict[str, Site]:
    """The sites of a model, whose values are only traced."""
    found: dict[str, Site] = {}
    dtype = precision_scope.float_dtype(base.precision)

    def look(pieces: Any, data: Any) -> None:
        with concrete(base.constants):
            found.update(base.sites(pieces, data))

    jax.eval_shape(
        look,
        {name: jax.ShapeDtypeStruct(shape, dtype) for name, shape in shapes.items()},
        {name: jax.ShapeDtypeStruct(np.shape(value), value.dtype) for name, value in data.items()},
    )
    return found


def check_sites(
    whole: Mapping[str, Site], part: Mapping[str, Site], plates: Mapping[str, Frame], size: int, words: str
) -> None:
    """Raise where a block has other sites than the whole, or one with rows that no plate tells of."""
    if whole.keys() != part.keys():
        raise ModelError(
            f"the model has other sites on {words} than on all of them: {listed(set(whole) ^ set(part))}."
        )
    if all(whole[name].kind == "deterministic" for name in plates):
        raise ModelError(
            f"no site is in a plate over the rows, so nothing can be summed over {words}. Write the observed sites "
            'within `with ac.plate("row", X.shape[0]):`.'
        )
    for name, site in part.items():
        frame = plates.get(name)
        if frame is not None:
            now = next(other for other in site.plates if other.name == frame.name)
            if now.size != size:
                raise SiteError(
                    f"site {name!r} (at {site.where}): the plate {frame.name!r} has the size {now.size} of all rows on "
                    f'{words}. Take its size from an argument that is cut, as in `ac.plate("row", X.shape[0])`.'
                )
        elif site.kind == "sample" and site.batch_shape != whole[name].batch_shape:
            raise SiteError(
                f"site {name!r} (at {site.where}) has one entry for each row, but is in no plate over the rows. Write "
                'it within `with ac.plate("row", X.shape[0]):`.'
            )


def check_independent(
    terms: Callable[[Any, Any], Mapping[str, jax.Array]],
    shapes: Mapping[str, jax.ShapeDtypeStruct],
    data: Mapping[str, jax.ShapeDtypeStruct],
    shard: Mapping[str, int],
) -> None:
    """Raise `SiteError` for a term outside of the plates over the rows that sees the data of one block."""
    names: list[str] = []

    def listed_terms(pieces: Any, data: Any) -> list[jax.Array]:
        found = terms(pieces, data)
        names[:] = found
        return list(found.values())

    traced = jax.make_jaxpr(listed_terms)(shapes, data)
    paths = [path for path, _ in jax.tree_util.tree_flatten_with_path((shapes, data))[0]]
    for name, seen in zip(names, _seen(traced.jaxpr), strict=True):
        found = sorted(paths[i][1].key for i in seen if paths[i][0].idx == 1 and paths[i][1].key in shard)
        if found:
            raise SiteError(
                f"site {name!r} depends on {listed(found)}, of which each device has some rows, but is in no plate "
                "over the rows, so that a sum over rows would not be the model's. Write it within "
                f'`with ac.plate("row", {found[0]}.shape[{shard[found[0]]}]):`, one term for each row, or compute what '
                "needs all rows outside of the model."
            )


def _seen(jaxpr: Any) -> list[set[int]]:
    """For each result of a traced function, the arguments that it may depend on, by number."""
    sources: dict[Any, set[int]] = {variable: {i} for i, variable in enumerate(jaxpr.invars)}

    def of(variable: Any) -> set[int]:
        return set() if isinstance(variable, jax.extend.core.Literal) else sources.get(variable, set())

    for equation in jaxpr.eqns:
        found = set().union(*map(of, equation.invars))
        sources.update(dict.fromkeys(equation.outvars, found))
    return [of(variable) for variable in jaxpr.outvars]


def listed(names: Iterable[str]) -> str:
    """Names for a message."""
    return ", ".join(map(repr, sorted(names)))
