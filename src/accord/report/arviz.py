"""Convert draws to ArviZ and xarray; the only module that imports either."""

import importlib
import importlib.metadata
import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import DataError
from .labels import Coords, Dims, Sites

if TYPE_CHECKING:
    from xarray import DataTree, Variable

_SAMPLE_DIMS = ("chain", "draw")
# ArviZ takes `log_likelihood` among the statistics for that of each observation, which was there in its early days.
_STAT_NAMES = {"log_likelihood": "total_log_likelihood"}


@dataclass(frozen=True)
class Group:
    """One group of a tree: arrays by name.

    **Fields**: `name` of the group; `values`; `dims`, `coords` and `chains` as for `to_tree`; `is_drawn`, whether the
    first two axes are chain and draw.
    """

    name: str
    values: Sites
    dims: Dims
    coords: Coords
    is_drawn: bool = True
    chains: Sequence[int] | None = None


def groups_to_tree(groups: Iterable[Group], attrs: Mapping[str, object]) -> "DataTree":
    """Build a tree of these groups; names and errors as for `to_tree`."""
    from xarray import DataTree

    datasets = {
        each.name: _dataset(each.values, each.is_drawn, each.chains, each.dims, each.coords)
        for each in groups
    }
    tree = DataTree.from_dict(datasets)
    tree.attrs = {name: _attribute(value) for name, value in attrs.items()}
    return tree


def to_tree(
    sites: Sites,
    stats: Sites,
    *,
    chains: Sequence[int] | None = None,
    warmup: tuple[Sites, Sites] | None = None,
    observed_data: Sites | None = None,
    constant_data: Sites | None = None,
    dims: Dims | None = None,
    coords: Coords | None = None,
    attrs: Mapping[str, object] | None = None,
    beside: Iterable[Group] = (),
) -> "DataTree":
    """Arrange a run in ArviZ's groups: posterior, sample_stats, warmup_*, observed_data, constant_data.

    - `sites`, `stats`: name to draws, shape `(chain, draw, *event)`; `warmup`: the same two of the warm-up.
    - `chains`: zero-based chain numbers, the chain coordinate; 0, 1, ... by default.
    - `dims`: name of a site or of data to the names of its leading event axes; the others are
      `<name>_dim_<axis>`.
    - `coords`: dim to labels; a dim without them is numbered from zero.
    - `beside`: groups to add, such as `posterior_predictive`.
    - `attrs`: of the root; what is not a string or a number is written as JSON.

    The statistic `log_likelihood`, a sum, is called `total_log_likelihood` there: by the other name ArviZ would take it
    for that of each observation.

    Names that xarray cannot hold are changed, and the variable's `site` attribute keeps the old one: `/`
    becomes `.`, and a site called like a dim gets a trailing underscore. Raises `DataError` if a dim has two
    sizes in a group.
    """
    names, labels = dims or {}, coords or {}
    groups: dict[str, tuple[Sites, bool]] = {
        "posterior": (sites, True),
        "sample_stats": (_renamed(stats), True),
    }
    if warmup is not None:
        groups |= {"warmup_posterior": (warmup[0], True), "warmup_sample_stats": (_renamed(warmup[1]), True)}
    groups |= {"observed_data": (observed_data or {}, False), "constant_data": (constant_data or {}, False)}
    own = [
        Group(group, values, names, labels, sampled, chains)
        for group, (values, sampled) in groups.items()
        if values or group == "posterior"
    ]
    return groups_to_tree([*own, *beside], attrs or {})


def to_arviz(tree: "DataTree") -> Any:
    """Return the tree, or `InferenceData` if the installed `arviz` is 0.x, which reads nothing else."""
    try:
        if not importlib.metadata.version("arviz").startswith("0."):
            return tree
        with warnings.catch_warnings():
            # ArviZ 0.x announces 1.0 by a FutureWarning when it is imported; it says nothing about this run.
            warnings.filterwarnings("ignore", category=FutureWarning, module="arviz")
            inference_data = importlib.import_module("arviz").InferenceData
        return inference_data.from_datatree(tree)
    except (ImportError, AttributeError):
        # Not installed, broken, or older than from_datatree: no ArviZ of the user's can want an
        # InferenceData.
        return tree


def leave_one_out(values: np.ndarray, relative_ess: float) -> dict[str, Any]:
    """Compute leave-one-out by `arviz-stats`, for log likelihoods of shape `(chain, draw, *batch)`.

    Returns `elpd`, `se`, `p`, `good_k`, and by observation `elpd_i` and `pareto_k`, shape `batch`.
    """
    from xarray import DataArray, Dataset, DataTree

    axes = (*_SAMPLE_DIMS, *(f"axis_{axis}" for axis in range(values.ndim - 2)))
    tree = DataTree.from_dict({"log_likelihood": Dataset({"y": DataArray(values, dims=axes)})})
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # from its dependencies on import, and about k, for which accord has its own notice
        found = importlib.import_module("arviz_stats").loo(tree, pointwise=True, reff=relative_ess)
    names = ("elpd", "se", "p", "good_k")
    numbers = {name: float(getattr(found, name)) for name in names}
    return numbers | {name: np.asarray(getattr(found, name)) for name in ("elpd_i", "pareto_k")}


def _renamed(stats: Sites) -> dict[str, Any]:
    return {_STAT_NAMES.get(name, name): stats[name] for name in stats}


def _dataset(values: Sites, sampled: bool, chains: Sequence[int] | None, dims: Dims, coords: Coords) -> Any:
    from xarray import Dataset

    leading = _SAMPLE_DIMS if sampled else ()
    coords = {dim.replace("/", "."): labels for dim, labels in coords.items()}
    variables: dict[str, Variable] = {}
    sizes: dict[str, tuple[int, str]] = {}
    axes = {name: _axes(name, np.shape(value), leading, dims) for name, value in values.items()}
    taken = {*_SAMPLE_DIMS, *(dim for names in axes.values() for dim in names)}
    for name, value in values.items():
        for dim, size in zip(axes[name], np.shape(value), strict=True):
            other, owner = sizes.setdefault(dim, (size, name))
            if other != size:
                raise DataError(
                    f"the dim {dim!r} has size {other} in {owner!r} and {size} in {name!r}. "
                    "Give their plates different names."
                )
        variables[_variable_name(name, {*taken, *variables})] = _variable(name, axes[name], value)
    return Dataset(variables, {dim: _labels(dim, size, chains, coords) for dim, (size, _) in sizes.items()})


def _axes(name: str, shape: tuple[int, ...], leading: tuple[str, ...], dims: Dims) -> tuple[str, ...]:
    """Name every axis; a name that comes twice, or is ArviZ's own, gives way to the numbered one."""
    given = list(dims.get(name, ()))
    found = list(leading)
    for axis in range(len(shape) - len(leading)):
        dim = given[axis].replace("/", ".") if axis < len(given) else ""
        found.append(
            f"{name.replace('/', '.')}_dim_{axis}" if not dim or dim in (*_SAMPLE_DIMS, *found) else dim
        )
    return tuple(found)


def _variable(name: str, axes: tuple[str, ...], value: np.ndarray) -> "Variable":
    from xarray import Variable

    return Variable(axes, np.asarray(value), {"site": name})


def _variable_name(name: str, taken: set[str]) -> str:
    name = name.replace("/", ".")
    while name in taken:
        name += "_"
    return name


def _labels(dim: str, size: int, chains: Sequence[int] | None, coords: Coords) -> np.ndarray:
    if dim == "chain" and chains is not None:
        if len(chains) != size:
            raise DataError(f"{len(chains)} chain numbers were given for draws of {size} chains.")
        return np.asarray(chains, np.int64)
    labels = coords.get(dim)
    if dim in _SAMPLE_DIMS or labels is None or len(labels) != size:
        return np.arange(size)
    return np.asarray(labels)


def _attribute(value: object) -> str | int | float:
    """Return an attribute in a form that NetCDF and Zarr can both hold."""
    if isinstance(value, str | float) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    return json.dumps(value, default=str)
