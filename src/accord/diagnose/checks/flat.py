"""Check that the log density falls along every direction, far out: where it does not, the posterior is improper."""

import time
from collections.abc import Callable, Iterator

import numpy as np

from ...core.notice import Notice
from ...density.rows.conditions import listed
from .base import Context

_MAX_SCALARS = 64  # up to which each is a direction
_FACTOR = 4.0  # from one distance to the next
_NUM_DISTANCES = {"float64": 25, "float32": 17}
_NUM_ALONG_LEVEL = {"float64": 17, "float32": 6}  # where sums of large numbers would lose their digits
_SLOPE = -0.75  # of the log density by log distance: a density that falls like 1/t does not integrate
_DROP = 100.0  # nats: what is flat below is never seen
_LEAST = 4  # distances
_OVERFLOW = {"float64": 256.0, "float32": 64.0}  # the last distance at which an exponential is finite
_HALVINGS = 8
_NOISE = 0.05  # nats: less is rounding, of what is large in the sum
_ENOUGH = 2.0  # seconds


def check_flat(context: Context) -> Iterator[Notice]:
    """Follow each site, each scalar where there are few, and directions without curvature, both ways to the end.

    At almost every point a proper density falls faster than 1/t along almost every line: those of Cauchy's like t**-2.
    """
    began = time.perf_counter()
    flagged: set[str] = set()
    precision = context.whole.density.program.precision
    for direction, most in _directions(context, _NUM_DISTANCES[precision], _NUM_ALONG_LEVEL[precision]):
        names = _names(context, direction)
        # A line within sites of which one has been named already says nothing new.
        if flagged & set(names):
            continue
        for sign in (1.0, -1.0):
            end = _end_of_fall(context, sign * direction, most)
            if end is not None:
                flagged |= set(names)
                yield _notice(context, names, sign * direction, *end)
                break
        if time.perf_counter() - began > _ENOUGH:
            return


def _directions(context: Context, most: int, along_level: int) -> Iterator[tuple[np.ndarray, int]]:
    """Yield unit vectors with the number of distances to try: scalars first, since they are easiest to explain."""
    entries, dim = context.whole.density.layout.entries, context.whole.density.dim
    if dim <= _MAX_SCALARS:
        yield from ((row, most) for row in np.eye(dim))
    for entry in entries:
        if entry.stop - entry.start > 1:
            inside = np.zeros(dim)
            inside[entry.start : entry.stop] = context.direction[entry.start : entry.stop]
            yield inside / np.linalg.norm(inside), most
    yield from ((direction, along_level) for direction in context.typical.level)
    length = np.linalg.norm(context.typical.climb)
    if length > 0:
        yield context.typical.climb / length, along_level


def _end_of_fall(context: Context, direction: np.ndarray, most: int) -> tuple[float, float] | None:
    """Return the distance and log density at which the log density stops to fall; None if it keeps falling."""
    base, precision = context.typical.points[-1], context.whole.density.program.precision

    def at(distance: float) -> float:
        return float(context.whole.value_and_grad((base + distance * direction).astype(base.dtype))[0])

    distances: list[float] = []
    values: list[float] = []
    for power in range(most):
        distance = _FACTOR**power
        value = at(distance)
        if value == np.inf:
            return distance, value
        if not np.isfinite(value):
            # Exponentials overflow so far out; what ends before has been given an end.
            if len(values) < _LEAST or (value == -np.inf and distances[-1] < _OVERFLOW[precision]):
                return None
            distance, value = _last_finite(at, distances[-1], distance)
        if value < context.typical.value - _DROP:
            return None
        is_end = bool(distances) and distance < _FACTOR * distances[-1]
        distances.append(distance)
        values.append(value)
        if is_end:
            break
    first, second, last = values[-3:]
    slope = (last - first) / np.log(distances[-1] / distances[-3])
    # Falling like a line, however gently, is four times as much at four times the distance.
    is_falling_faster = second - last > max(2 * (first - second), _NOISE)
    return (distances[-1], last) if slope > _SLOPE and not is_falling_faster else None


def _last_finite(at: Callable[[float], float], inside: float, outside: float) -> tuple[float, float]:
    """Find the last distance with a finite log density between two, and return it with its log density."""
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if np.isfinite(at(middle)):
            inside = middle
        else:
            outside = middle
    return inside, at(inside)


def _names(context: Context, direction: np.ndarray) -> tuple[str, ...]:
    """Return the sites that contribute much to a direction."""
    parts = {
        entry.name: float(np.linalg.norm(direction[entry.start : entry.stop]))
        for entry in context.whole.density.layout.entries
    }
    return tuple(name for name, part in parts.items() if part > 0.1 * max(parts.values()))


def _notice(
    context: Context, names: tuple[str, ...], direction: np.ndarray, distance: float, value: float
) -> Notice:
    first, *others = names
    entry = context.whole.density.layout[first]
    largest = int(np.abs(direction).argmax())
    if others:
        along = f"a line on which {listed(names)} change together"
    elif entry.stop - entry.start > 1 and abs(direction[largest]) == 1:
        numbers = np.arange(entry.start, entry.stop).reshape(entry.unconstrained_shape)
        (place,) = np.argwhere(numbers == largest)
        along = f"site {first!r}, entry {', '.join(str(int(i)) for i in place)},"
    else:
        along = f"site {first!r}"
    here = context.typical.value
    return Notice(
        "warning",
        "flat_direction",
        f"Along {along} the log density does not fall: it is {here:.6g} where the search began and {value:.6g} at a "
        f"distance of {distance:.2g} in unconstrained numbers. The posterior may not integrate to one.",
        "Give these sites a proper prior, or fix one of them if the data cannot identify it.",
        names,
    )
