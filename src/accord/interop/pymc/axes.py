"""Read what a PyMC model shows beside its draws: data, names of axes and their labels."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core.errors import AccordError
from ...language.labels import read_labels


def observations(model: Any) -> dict[str, np.ndarray]:
    """Return the observed values by name, as they are now."""
    found = {each.name: _value(model.rvs_to_values[each]) for each in model.observed_RVs}
    return {name: value for name, value in found.items() if value.dtype.kind in "fiub"}


def constants(model: Any) -> dict[str, np.ndarray]:
    """Return the values of `pm.Data` that are numbers and not observations, by name, as they are now."""
    observed = {*model.rvs_to_values.values()}
    found = {each.name: _value(each) for each in model.data_vars if each not in observed}
    return {name: value for name, value in found.items() if value.dtype.kind in "fiub"}


def dims_and_coords(
    model: Any, shapes: Mapping[str, tuple[int, ...]]
) -> tuple[dict[str, tuple[str | None, ...]], dict[str, Any]]:
    """Return the names of axes by variable, and labels by axis, for those that fit the shapes.

    PyMC does not compare either with shapes, and takes labels that come twice. What does not fit is left out.
    """
    sizes: dict[str, int] = {}
    dims: dict[str, tuple[str | None, ...]] = {}
    for name, shape in shapes.items():
        names = tuple(model.named_vars_to_dims.get(name, ()) or ())
        if len(names) != len(shape) or len({*names}) < len(names):
            continue
        fits = all(sizes.get(dim, size) == size for dim, size in zip(names, shape, strict=True) if dim)
        if fits:
            sizes |= {dim: size for dim, size in zip(names, shape, strict=True) if dim}
            dims[name] = names
    coords = {
        dim: given
        for dim, given in model.coords.items()
        if given is not None and sizes.get(dim) == len(given) and _are_labels(given)
    }
    return dims, {dim: [*given] for dim, given in coords.items()}


def _are_labels(given: Any) -> bool:
    try:
        read_labels("coords", [*given])
    except AccordError:
        return False
    return True


def _value(variable: Any) -> np.ndarray:
    if hasattr(variable, "get_value"):
        return np.asarray(variable.get_value())
    if hasattr(variable, "data"):
        return np.asarray(variable.data)
    return np.asarray(variable.eval(mode="FAST_COMPILE"))
