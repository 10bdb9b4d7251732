"""Choose round numbers along an axis, and write them."""

import math

import numpy as np

from .marks import Axis


def ticks_of(axis: Axis, most: int) -> tuple[tuple[float, str], ...]:
    """Return places with texts within the axis, about `most` at most."""
    if axis.ticks is not None:
        return axis.ticks
    if axis.is_log:
        return _powers(axis, most)
    if not np.isfinite(axis.high / most - axis.low / most):
        return ()
    step = _round_step((axis.high / most - axis.low / most) or 1.0)
    first, last = math.ceil(axis.low / step - 1e-9), math.floor(axis.high / step + 1e-9)
    if not last - first <= 4 * most:  # numbers so large that no step tells them apart
        return ((axis.low, number(axis.low)), (axis.high, number(axis.high)))
    places = [index * step for index in range(first, last + 1)]
    size = max(map(abs, places), default=0.0)
    if size >= 1e6 or 0 < size < 1e-3:
        return tuple((place, number(place, step)) for place in places)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return tuple((place, f"{place:.{digits}f}".replace("-", "\u2212")) for place in places)


def number(value: float, step: float | None = None) -> str:
    """Write a number briefly; `step`, to the next one, says how many digits it needs."""
    if value == 0 or not np.isfinite(value):
        return "0" if value == 0 else str(value)
    if step is None and 100 <= abs(value) < 1e6:
        return f"{value:.0f}".replace("-", "\u2212")
    digits = 3
    if step is not None:
        place = math.floor(math.log10(step) + 1e-9)
        digits = max(1, math.floor(math.log10(abs(value)) + 1e-9) - place + 1)
    return (
        f"{value:.{digits}g}".replace("e+0", "e")
        .replace("e-0", "e-")
        .replace("e+", "e")
        .replace("-", "\u2212")
    )


def _round_step(least: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is not below `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * each for each in (1, 2, 5, 10) if power * each >= least * (1 - 1e-9))


def _powers(axis: Axis, most: int) -> tuple[tuple[float, str], ...]:
    first, last = math.ceil(math.log10(axis.low) - 1e-9), math.floor(math.log10(axis.high) + 1e-9)
    by = max(1, math.ceil((last - first + 1) / most))
    powers = [(10.0**each, number(10.0**each)) for each in range(first, last + 1, by)]
    if len(powers) >= 2:
        return tuple(powers)
    between = [float(place) * 10.0**power for power in range(first - 1, last + 1) for place in (1, 2, 5)]
    return tuple((each, number(each)) for each in between if axis.low <= each <= axis.high)
