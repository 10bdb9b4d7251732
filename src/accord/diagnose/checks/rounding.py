"""Check whether float32 is precise enough: compare log densities in both precisions in the posterior's mass."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ...core import precision as precisions
from ...core.notice import Notice
from ...core.precision import Precision, float_dtype
from ...density import LogDensity
from ...density.quick import quickly
from .base import Context
from .dependence import has_files
from .evaluator import Evaluator
from .typical import Typical

# The standard deviation, over a posterior, of the log density in float32 minus that in float64. Acceptance is blurred
# by as much: 0.065 was the largest seen of models that float32 did no harm to, and 1.68 that of one it did harm to.
HARMFUL = 0.1
_LEAST = 10  # points, below which nothing can be said of a spread


def check_rounding(context: Context) -> Iterator[Notice]:
    """Report whether float32 is or would be precise enough; for sharded rows, by the whole model."""
    given = context.density.program.precision
    other = "float32" if given == "float64" else "float64"
    try:
        compared = _compared(context, other)
    except Exception as error:  # of a model that was written for one precision
        yield Notice(
            "info",
            "precision_not_compared",
            f"The log density cannot be compared with that in {other}, where the model raises {type(error).__name__}: "
            f"{error}",
            "",
        )
        return
    if compared is None or len(compared.points) < _LEAST:
        return
    points, differences = compared.points, compared.single - compared.double
    num_lost = int(np.sum(~np.isfinite(differences)))
    spread = np.inf if num_lost else float(np.std(differences))
    is_harmful = not spread <= HARMFUL
    where = f"{len(points)} points where the posterior has its mass"
    if num_lost:
        found = f"the log density in float32 is not finite at {num_lost} of {where}"
        remedy = "Look for values that overflow, and for nearly singular matrices."
    else:
        found = (
            f"the log density in float32 differs from that in float64 by a standard deviation of {spread:.2g} over "
            f"{where}; above {HARMFUL:g} it matters"
        )
        remedy = "Take offsets out of the data (subtract means), and avoid differences of large numbers."
    sites = _sites(context, compared.density, points) if is_harmful else ()
    named = f", most of it in site {sites[0]!r}" if sites else ""
    if given == "float32":
        if is_harmful:
            yield Notice(
                "warning",
                "float32_too_coarse",
                f"Float32 is too coarse for this model: {found}{named}.",
                f'Run with precision="float64". {remedy}',
                sites,
            )
        else:
            yield Notice("info", "float32_suffices", f"Float32 is enough: {found}.", "")
    elif is_harmful:
        yield Notice("info", "float32_too_coarse", f"Float32 would not do: {found}{named}.", remedy, sites)
    else:
        yield Notice("info", "float32_suffices", f"Float32 would do: {found}.", "")


@dataclass(frozen=True)
class _Compared:
    """Points of a posterior with their log densities in both precisions, and the density in the other one."""

    points: np.ndarray
    double: np.ndarray
    single: np.ndarray
    density: LogDensity


def _compared(context: Context, precision: Precision) -> _Compared | None:
    other = None if has_files(context.density) else _in_precision(context, precision)
    if other is None:
        return None
    if precision == "float32":
        points = context.typical.points
        return _Compared(
            points,
            _one_by_one(context.whole, points),
            _all_at_once(other, LogDensity.__call__, points),
            other,
        )
    # Float32 itself does not come where it fails, so the walk is made anew.
    whole = Evaluator.of(other, "float64", context.whole.devices)
    points = Typical.of(whole, context.typical.points[-1].astype(float)).points
    return _Compared(points, _one_by_one(whole, points), _one_by_one(context.whole, points), other)


def _in_precision(context: Context, precision: Precision) -> LogDensity | None:
    """Build the whole model in another precision, from the data as given if known."""
    density = context.density
    with precisions.scope(precision):
        if context.model is not None:
            return LogDensity.from_model(context.model, precision)
        data = {**density.data, **density.constants}
        program, data, notices = density.program.rebuilt(data, precision)
        return LogDensity.of_stages(program, data, notices)


def _one_by_one(whole: Evaluator, points: np.ndarray) -> np.ndarray:
    """Compute the log density at each point, rounded to the evaluator's precision."""
    dtype = float_dtype(whole.density.program.precision)
    return np.array([float(whole.value_and_grad(point)[0]) for point in points.astype(dtype)])


def _all_at_once(density: LogDensity, method: Callable[..., Any], points: np.ndarray) -> Any:
    """Compute a method of a density in its precision, point by point in one program."""
    precision = density.program.precision

    def run(data: Any, points: Any) -> Any:
        given = density.with_data(data)
        return jax.lax.map(lambda point: method(given, point), points)

    with precisions.scope(precision):
        found = quickly(run)(density.data, points.astype(float_dtype(precision)))
        return jax.tree.map(lambda each: np.asarray(each, float), found)


def _sites(context: Context, other: LogDensity, points: np.ndarray) -> tuple[str, ...]:
    """Return the sites whose term differs too much, the worst one first."""
    there = _all_at_once(other, LogDensity.site_terms, points)
    dtype = float_dtype(context.density.program.precision)
    here = [context.whole.terms(point) for point in points.astype(dtype)]
    pairs = {name: terms - np.array([float(each[name]) for each in here]) for name, terms in there.items()}
    spreads = {
        name: float(np.std(each)) if np.all(np.isfinite(each)) else np.inf for name, each in pairs.items()
    }
    worst = sorted(spreads, key=lambda name: spreads[name], reverse=True)
    return tuple(name for name in worst if not spreads[name] <= HARMFUL)
