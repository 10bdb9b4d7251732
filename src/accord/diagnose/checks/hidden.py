"""Check that there is something to observe: no site without rows, and no mask that hides them all.

Masks are worked out by NumPy from what was traced, as far as they depend on data alone: nothing is compiled for it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.extend.core
import numpy as np

from ...core import precision as precisions
from ...core.notice import Notice
from ...core.tree import shapes
from ...density import Entry, LogDensity
from ...density.latent import concrete
from ...density.program import ModelProgram
from ...density.rows.row_files import FileRows
from ...distributions.wrappers.masked import MaskedDistribution
from ...language import Site
from .dependence import model_program

_MOST = 2**24  # entries of a mask that are worked out

_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "is_finite": np.isfinite,
    "not": np.logical_not,
    "and": np.logical_and,
    "or": np.logical_or,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
"""What masks are made of, by the name of the operation in JAX."""


def check_hidden(density: LogDensity) -> Iterator[Notice]:
    """Look at every observed site."""
    base = model_program(density)
    if base is None:
        return
    masks = _masks(base, density.data)
    for entry in density.layout.observed:
        size = int(np.prod(entry.shape))
        if not size:
            yield Notice(
                "warning",
                "nothing_observed_here",
                f"Site {entry.name!r} observes 0 values: its shape is {entry.shape}, so it has no effect.",
                "Look for data that is empty, or filtered too far.",
                (entry.name,),
            )
        elif entry.name in masks and not masks[entry.name].any():
            yield Notice(
                "warning",
                "all_masked",
                f"The mask of site {entry.name!r} leaves 0 of {size} observed values: the site has no effect.",
                "Look at the mask: true keeps a value. Where all data is missing on purpose, leave the site out.",
                (entry.name,),
            )


def _masks(base: ModelProgram, data: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return, by site, the masks of observed values that are known without sampling."""
    names: list[str] = []

    def masks(pieces: Any, data: Any) -> list[Any]:
        with concrete(base.constants):
            sites = base.sites(pieces, data)
        found = {entry.name: _mask_of(sites[entry.name]) for entry in base.layout.observed}
        found = {name: mask for name, mask in found.items() if mask is not None}
        names[:] = found
        return list(found.values())

    entries: Sequence[Entry] = base.layout.entries
    dtype = precisions.float_dtype(base.precision)
    pieces = {entry.name: jax.ShapeDtypeStruct(entry.unconstrained_shape, dtype) for entry in entries}
    with precisions.scope(base.precision):
        closed = jax.make_jaxpr(masks)(pieces, shapes(dict(data)))
    # Arguments in the order in which JAX takes a dict apart.
    given = [_known(data[name]) for name in sorted(data)]
    values = _evaluate(closed, [None] * len(pieces) + given)
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def _mask_of(site: Site) -> Any:
    if site.mask is None and isinstance(site.distribution, MaskedDistribution):
        return site.distribution.where
    return site.mask


def _known(value: Any) -> np.ndarray | None:
    """Return the data that are in memory and not very large."""
    if isinstance(value, FileRows) or value.size > _MOST:
        return None
    return np.asarray(value)


def _evaluate(closed: Any, inputs: Sequence[np.ndarray | None]) -> list[np.ndarray | None]:
    """Compute the outputs that follow from known inputs."""
    jaxpr = closed.jaxpr
    known: dict[Any, np.ndarray | None] = dict(zip(jaxpr.invars, inputs, strict=True))
    known |= {var: np.asarray(const) for var, const in zip(jaxpr.constvars, closed.consts, strict=True)}

    def value_of(atom: Any) -> np.ndarray | None:
        return np.asarray(atom.val) if isinstance(atom, jax.extend.core.Literal) else known.get(atom)

    for equation in jaxpr.eqns:
        arguments = [value_of(atom) for atom in equation.invars]
        if any(argument is None for argument in arguments):
            continue
        for var, result in zip(equation.outvars, _apply(equation, arguments), strict=False):
            known[var] = result
    return [value_of(atom) for atom in jaxpr.outvars]


def _apply(equation: Any, arguments: Sequence[Any]) -> Sequence[np.ndarray | None]:
    """Compute the results of an operation; none for operations that are unusual in masks."""
    name, parameters = equation.primitive.name, equation.params
    if name in _FUNCTIONS:
        return [_FUNCTIONS[name](*arguments)]
    match name:
        case "jit" | "pjit":
            return _evaluate(parameters["jaxpr"], arguments)
        case "convert_element_type":
            return [arguments[0].astype(parameters["new_dtype"])]
        case "broadcast_in_dim":
            shape, dims = parameters["shape"], parameters["broadcast_dimensions"]
            aligned = [1] * len(shape)
            for dim, size in zip(dims, np.shape(arguments[0]), strict=True):
                aligned[dim] = size
            return [np.broadcast_to(np.reshape(arguments[0], aligned), shape)]
    return []
