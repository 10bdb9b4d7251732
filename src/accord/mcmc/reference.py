"""Find the reference around which a kernel's estimates of the log density are expanded, before its run."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.errors import ModelError
from ..core.precision import float_dtype, scope
from ..density import LogDensity
from ..density.control import Reference, check_second_order
from ..density.unknowns import free_of
from ..executors.pools import one_blas_thread
from ..kernels import AbstractKernel
from ..optimise.peak import peak_from
from ..optimise.view import MAX_DIM, View, viewing
from ..programs.standalone import check_traced
from ..runs.stored.checked import built_from
from .start.base import AbstractStart
from .start.candidates import candidates
from .start.explained import explain_start
from .start.given import as_values, check_values
from .start.near import FromReference
from .start.search import StartFailedError
from .start.uniform import UniformPoints

SETTING = "reference"
"""Name of its position among the settings of a stored run."""

_NUM_CLIMBS = 4


def reference_for(
    kernel: AbstractKernel, density: LogDensity, seed: int, stored: Sequence[float] | None = None
) -> Reference | None:
    """Return the reference of a run, a function of model and seed; None for a kernel that needs none.

    It is at the kernel's own `reference`, or else at the `stored` position, or else at the highest of the modes to
    which four climbs lead, in unconstrained space.

    **Raises** `ModelError` where no mode is found, or the second derivatives are not finite or too many; `DataError`
    for values that do not fit the model; `InitializationError` if no climb finds a finite start.
    """
    if not kernel.needs_reference:
        return None
    name = type(kernel).__name__
    if density.dim > MAX_DIM:
        raise ModelError(
            f"{name} expands the log density around a reference by its second derivatives, which are too many for "
            f"{density.dim} unknowns: it takes up to {MAX_DIM}. Use infer.SGLD() without control "
            "variates, or infer.NUTS() on all of the data."
        )
    given: Mapping[str, Any] | None = getattr(kernel, "reference", None)
    with scope(density.program.precision), one_blas_thread():
        check_traced(density)
        check_second_order(density, name)
        if given is not None:
            view = _view(density, _position(density, given))
        elif stored is not None:
            with built_from(f"'settings.{SETTING}' in manifest.json"):
                at = np.asarray(stored, float).reshape(density.dim)
            view = _view(density, at)
        else:
            view = _mode(density, name, seed)
    if not view.is_known:
        raise ModelError(
            f"{name}: at the reference, the log density of {density.program.name!r} or its derivatives are not finite. "
            "Give values of another place by `infer.HMCECS(reference=...)`; or use infer.SGLD() without control "
            "variates, or infer.NUTS() on all of the data."
        )
    dtype = float_dtype(density.program.precision)
    parts = (view.position, view.value, view.gradient, -view.information)
    return Reference(*(np.asarray(each, dtype) for each in parts))


def begun_near(start: AbstractStart, reference: Reference | None) -> AbstractStart:
    """Return a start that knows the reference, if it is the one that needs it."""
    return FromReference(reference) if isinstance(start, FromReference) else start


def _position(density: LogDensity, given: Mapping[str, Any]) -> np.ndarray:
    values = as_values(given, SETTING)
    check_values(values, density, SETTING)
    return np.asarray(free_of(density.unconstrain(values)))


def _view(density: LogDensity, position: np.ndarray) -> View:
    return viewing(density, LogDensity.__call__)(position.astype(float_dtype(density.program.precision)))


def _mode(density: LogDensity, name: str, seed: int) -> View:
    """Look at the highest mode that climbs find."""
    points = UniformPoints()
    peak = peak_from(density, candidates(points, seed, _NUM_CLIMBS, density.dim))
    if peak is None:
        first = points.position(seed, 0, 0, density.dim)
        failure = StartFailedError(0, first, points.num_tries(0), points.origin, "climb")
        raise explain_start(density, failure)
    if peak.information is None or not peak.is_reached:
        raise ModelError(
            f"{name}: the log density of {density.program.name!r} has no mode in unconstrained space that was found, "
            "and without one there is nothing to expand around: along some direction it does not fall, or the search "
            "did not come to an end. Give values near which the posterior lies by `infer.HMCECS(reference=...)`; or "
            "use infer.SGLD() without control variates, or infer.NUTS() on all of the data."
        )
    return peak.view
