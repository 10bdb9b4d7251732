"""Define marks, the parts of a figure: plain data that says what is drawn, in the units of the data."""

from dataclasses import dataclass, field

import numpy as np

INK = -1
"""Colour of text, axes and reference lines: that of the page."""

NUM_COLOURS = 6
"""Colours that can be told apart; a figure with more lines has quantiles."""

_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Line:
    """A line through points, shape `(n,)` each; it breaks where one is not finite.

    **Fields**: `colour`, number of a colour or `INK`; `width`, in pixels; `is_dashed`; `is_thin`, whether only the
    smallest and the largest value in each column of pixels are drawn, for `x` that increases; `is_steps`, whether it
    stays at a value until the next `x`.
    """

    x: np.ndarray
    y: np.ndarray
    colour: int = 0
    width: float = 1.3
    is_dashed: bool = False
    is_thin: bool = False
    is_steps: bool = False


@dataclass(frozen=True, eq=False)
class Band:
    """The area between `low` and `high`, shape `(n,)`; `opacity` in (0, 1]."""

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    colour: int = 0
    opacity: float = 0.2
    is_steps: bool = False


@dataclass(frozen=True, eq=False)
class Bars:
    """Bars from `bottom` to `top` between `left` and `right`, shape `(n,)`."""

    left: np.ndarray
    right: np.ndarray
    bottom: np.ndarray
    top: np.ndarray
    colour: int = 0
    opacity: float = 0.35


@dataclass(frozen=True, eq=False)
class Points:
    """Dots, or crosses, at `x` and `y`, shape `(n,)`; `size`, in pixels."""

    x: np.ndarray
    y: np.ndarray
    colour: int = 0
    size: float = 1.6
    opacity: float = 0.6
    is_cross: bool = False


@dataclass(frozen=True)
class Rule:
    """A reference line across the panel, at a value of `x` if `is_vertical`, else of `y`."""

    at: float
    is_vertical: bool = False
    colour: int = INK
    is_dashed: bool = True


Mark = Line | Band | Bars | Points | Rule


@dataclass(frozen=True)
class Axis:
    """An axis: its label and its range.

    **Fields**: `low`, `high`, in the unit of the data; `ticks`, places with their texts, None for round numbers;
    `is_log`, whether distances are those of logarithms.
    """

    label: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...] | None = None
    is_log: bool = False


@dataclass(frozen=True, eq=False)
class Panel:
    """One picture with axes.

    **Fields**: `title`; `marks`, the first at the bottom; `x`, `y`; `sentence`, what it shows, for those who cannot see
    it; `legend`, colours with their names; `width`, `height`, in pixels.
    """

    title: str
    marks: tuple[Mark, ...]
    x: Axis
    y: Axis
    sentence: str
    legend: tuple[tuple[int, str], ...] = ()
    width: int = 368
    height: int = 220


@dataclass(frozen=True, eq=False)
class Figure:
    """Panels under one heading, and the sentence that tells how to read them.

    **Fields**: `columns`, how many panels stand beside each other if there is room.
    """

    title: str
    sentence: str
    panels: tuple[Panel, ...] = field(default=())
    columns: int = 3


def spanning(label: str, *arrays: np.ndarray, margin: float = 0.04, at_zero: bool = False) -> Axis:
    """Return an axis over all finite values, with a margin; `at_zero`, begin at zero."""
    finite = [each[np.isfinite(each)] for each in (np.asarray(array, float).ravel() for array in arrays)]
    known = np.concatenate([np.zeros(0), *finite])
    if not known.size:
        return Axis(label, 0.0, 1.0)
    low, high = (0.0 if at_zero else float(known.min())), float(known.max())
    if not high > low:
        aside = abs(low) * 0.1 or 1.0
        return Axis(label, low if at_zero else low - aside, low + aside)
    aside = (
        2 * margin * (high / 2 - low / 2)
    )  # of halves, since a difference of doubles may be larger than any
    return Axis(label, low if at_zero else max(low - aside, -_LARGEST), min(high + aside, _LARGEST))
