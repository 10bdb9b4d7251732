"""Make a log density of a PyMC model, from PyMC's own graph of it."""

import importlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from ...core.errors import ModelError, OptionError
from ...core.precision import scope
from ...core.tracebacks import entry_point
from ...density import LogDensity
from ...density.shown import Shown
from .axes import constants, dims_and_coords, observations
from .bambi import built, is_bambi, told_of
from .graph import Graph
from .library import pymc
from .unknowns import WORD, check_graph, unknowns_of

_CLOSE = 1e-8  # relative; libraries of special functions differ by less


@entry_point
def target(model: Any = None) -> LogDensity:
    """Make a log density of a PyMC model, or of a Bambi model, which PyTensor converts to JAX.

    Draws show its free variables and deterministics under their own names (`tau`, not `tau_log__`) with its dims and
    coords, and its observed and other data beside them. Values of `pm.Data` are taken when `target` is called: after
    `pm.set_data` call it again. Chains start by accord's rules, between -2 and 2 in unconstrained space. PyMC's own log
    density is compared at two points before it is used. The density is float64 only.

    Dims that do not fit a variable, and labels that come twice, are left out. The intercept of a Bambi model whose
    predictors are centred is at their means: a notice says so.

    **Arguments**: `model`, a `pymc.Model`, or a `bambi.Model`, which is built if it was not; None within `with model:`.

    **Raises** `ImportError` without PyMC; `OptionError` for what is no model; `ModelError` for discrete free variables,
    `pm.Minibatch`, operations that PyTensor cannot convert, and a converted log density that differs from PyMC's.

    **Example**

    >>> import pymc
    >>> from accord.interop import pymc as accord_pymc
    >>> with pymc.Model() as centre:
    ...     mu = pymc.Normal("mu", 2.0, 1.0)
    >>> density = accord_pymc.target(centre)
    >>> float(infer.find_mode(density).values["mu"].round(2))
    2.0
    """
    given, model = model, model_of(model)
    free, name = unknowns_of(model), str(getattr(model, "name", "")) or "pymc_model"
    values = [model.rvs_to_values[each] for each in free]
    log_density = model.logp()
    check_graph([log_density])
    names = tuple(each.name for each in free)
    deterministics = [each.name for each in model.deterministics]
    shown_as = model.replace_rvs_by_values([*free, *model.deterministics])
    function = _Function(Graph.of(values, [log_density], name), names, name)
    constrain = _Constrain(Graph.of(values, shown_as, name), names, (*names, *deterministics))
    unconstrain = _Unconstrain(_inverse(model, free, name), names)
    points = _points(model, values)
    example = OrderedDict(zip(names, points[0], strict=True))
    observed, constant = observations(model), constants(model)
    with scope("float64"):
        shapes = {each: value.shape for each, value in jax.eval_shape(constrain, example).items()}
        _check_equal(model, function, names, points, name)
    shapes |= {each: value.shape for each, value in (observed | constant).items()}
    dims, coords = dims_and_coords(model, shapes)
    shown = Shown(WORD, constrain, unconstrain, dims, coords, observed, constant)
    return replace(LogDensity.of_function(function, example, "float64", shown), notices=told_of(given))


@dataclass(frozen=True, eq=False)
class _Function:
    """The log density, of unconstrained values by the names of free variables."""

    graph: Graph
    names: tuple[str, ...]
    __name__: str

    def __call__(self, position: Mapping[str, Any]) -> Any:
        (value,) = self.graph(*(position[name] for name in self.names))
        return value


@dataclass(frozen=True, eq=False)
class _Constrain:
    """From unconstrained values to those of free variables and deterministics."""

    graph: Graph
    names: tuple[str, ...]
    results: tuple[str, ...]

    def __call__(self, position: Mapping[str, Any]) -> dict[str, Any]:
        found = self.graph(*(position[name] for name in self.names))
        return dict(zip(self.results, map(jax.numpy.asarray, found), strict=True))


@dataclass(frozen=True, eq=False)
class _Unconstrain:
    """From values of free variables to unconstrained ones."""

    graph: Graph
    names: tuple[str, ...]

    def __call__(self, values: Mapping[str, Any]) -> "OrderedDict[str, Any]":
        found = self.graph(*(values[name] for name in self.names))
        return OrderedDict(zip(self.names, found, strict=True))


def model_of(model: Any) -> Any:
    """Return the PyMC model of a `pymc.Model`, a `bambi.Model`, or None, the model of the context."""
    library = pymc()
    if is_bambi(model):
        model = built(model)
    if model is None:
        model = library.modelcontext(None)
    if not isinstance(model, library.Model):
        raise OptionError(f"{WORD} takes a pymc.Model or a bambi.Model, got {model!r}.")
    return model


def _inverse(model: Any, free: Sequence[Any], name: str) -> Graph:
    """Write the transforms of free variables as a graph of their values."""
    own = {each: each.type(name=each.name) for each in free}
    known = {each: model.rvs_to_values[each] for each in model.observed_RVs}
    transforms = [model.rvs_to_transforms[each] for each in free]
    outputs = [
        own[each] if transform is None else transform.forward(own[each], *each.owner.inputs)
        for each, transform in zip(free, transforms, strict=True)
    ]
    replaced = importlib.import_module("pytensor.graph.replace").clone_replace(outputs, replace=own | known)
    return Graph.of([*own.values()], replaced, name)


def _points(model: Any, values: Sequence[Any]) -> list[list[np.ndarray]]:
    """Return PyMC's initial point, and one beside it."""
    first = model.initial_point()
    start = [np.asarray(first[each.name], float) for each in values]
    numbers = np.random.default_rng(0)
    return [start, [each + numbers.uniform(-0.5, 0.5, each.shape) for each in start]]


def _check_equal(
    model: Any, function: _Function, names: Sequence[str], points: Sequence[list[np.ndarray]], name: str
) -> None:
    """Raise `ModelError` unless the converted log density is PyMC's at some points."""
    converted = jax.jit(function)
    theirs = model.compile_logp(mode="FAST_COMPILE")
    keys = [model.rvs_to_values[each].name for each in model.free_RVs]
    for point in points:
        found = float(converted(dict(zip(names, point, strict=True))))
        wanted = float(theirs(dict(zip(keys, point, strict=True))))
        both_bad = not np.isfinite(found) and not np.isfinite(wanted)
        if not both_bad and not abs(found - wanted) <= _CLOSE * max(1.0, abs(wanted)):
            raise ModelError(
                f"{WORD}: PyTensor's conversion of the PyMC model {name!r} to JAX has the log density {found!r}, where "
                f"PyMC has {wanted!r}. Draws from it would not be from the posterior. Please report this model."
            )
