"""Check the gradient by differences of the log density along a direction."""

from collections.abc import Iterator

import numpy as np

from ...core.notice import Notice
from ...density.layout import Entry
from .base import Context

_RELATIVE = 1e-4  # of the terms of the slope; differences are good to about 1e-7 in float64, 1e-3 in float32
_SAFETY = 10


def check_gradient(context: Context) -> Iterator[Notice]:
    """Compare the slope along a direction with central differences: a custom derivative rule may be wrong."""
    wrong = [point for point in context.points if _is_wrong(context, point, context.direction)]
    if not wrong:
        return
    slope, difference, _ = _compare(context, wrong[0], context.direction)
    entries = context.whole.density.layout.entries
    names = tuple(entry.name for entry in entries if _is_wrong_by(context, wrong[0], entry))
    # A kink or noise may spoil a difference at some points, and a wrong gradient is wrong at all.
    is_everywhere = len(wrong) == len(context.points)
    yield Notice(
        "error" if is_everywhere else "warning",
        "wrong_gradient",
        f"The gradient is not that of the log density at {len(wrong)} of {len(context.points)} points: the slope along "
        f"a direction is {slope:.6g}, and by differences {difference:.6g}"
        f"{'; by site: ' + ', '.join(map(repr, names)) if names else ''}.",
        "Look for a custom derivative rule, and for a gradient taken inside of a shard_map: take it outside, or "
        "write the sum by `accord.density.sharded_sum`.",
        names,
    )


def _is_wrong_by(context: Context, point: np.ndarray, entry: Entry) -> bool:
    direction = np.zeros_like(context.direction)
    direction[entry.start : entry.stop] = context.direction[entry.start : entry.stop]
    return _is_wrong(context, point, direction)


def _is_wrong(context: Context, point: np.ndarray, direction: np.ndarray) -> bool:
    slope, difference, error = _compare(context, point, direction)
    return abs(slope - difference) > error


def _compare(context: Context, point: np.ndarray, direction: np.ndarray) -> tuple[float, float, float]:
    """Compute the slope along a direction by the gradient and by differences, and their tolerance."""
    evaluate = context.whole.value_and_grad
    value, gradient = map(np.asarray, evaluate(point))
    epsilon = float(np.finfo(point.dtype).eps)
    step = epsilon ** (1 / 3)

    def difference(step: float) -> float:
        ends = [float(evaluate((point + sign * step * direction).astype(point.dtype))[0]) for sign in (1, -1)]
        return (ends[0] - ends[1]) / (2 * step)

    once, twice = difference(step), difference(2 * step)
    noise = 100 * epsilon * (1 + abs(float(value))) / step
    scale = float(np.abs(gradient) @ np.abs(direction))
    relative = max(_RELATIVE, step)
    return float(gradient @ direction), once, relative * scale + _SAFETY * abs(once - twice) + noise
