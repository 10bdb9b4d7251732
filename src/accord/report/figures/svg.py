"""Write panels and figures as SVG: the same bytes for the same marks.

Colours stand in attributes, which a style sheet may overrule by the classes `s0` to `s5` of strokes and `f0` to `f5`
of areas: so one picture fits light and dark pages. Text and axes have the colour of the page.

**Source** of the colours: Okabe & Ito (2008), "Color Universal Design", in the order of their contrast on white.
"""

import html
from collections.abc import Callable

import numpy as np

from .marks import INK, Axis, Band, Bars, Figure, Line, Mark, Panel, Points, Rule
from .thin import thinned
from .ticks import ticks_of

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_LETTER, _BOLD = 6.2, 6.8  # how wide a letter of 11 pixels is on average
_TOP, _BOTTOM, _RIGHT = 24.0, 38.0, 10.0
_GAP = 14  # between the panels of a figure

Place = Callable[[np.ndarray], np.ndarray]


def figure_as_svg(figure: Figure) -> str:
    """Write a figure as a file of its own: panels in rows, black on white."""
    columns = max(1, min(figure.columns, len(figure.panels)))
    parts: list[str] = []
    width, top = 0, 30
    for first in range(0, len(figure.panels), columns):
        row = figure.panels[first : first + columns]
        left = _GAP
        for panel in row:
            parts.append(panel_as_svg(panel, f" x='{left}' y='{top}'"))
            left += panel.width + _GAP
        width, top = max(width, left), top + max(each.height for each in row) + _GAP
    width = max(width, 200)
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{top}' viewBox='0 0 {width} {top}' "
        f"font-family='sans-serif' font-size='11' color='#000' role='img' aria-label='{html.escape(figure.sentence)}'>"
    )
    title = f"<text x='{_GAP}' y='20' font-size='14' font-weight='bold'>{html.escape(figure.title)}</text>"
    return "\n".join([head, "<rect width='100%' height='100%' fill='#fff'/>", title, *parts, "</svg>"]) + "\n"


def panel_as_svg(panel: Panel, where: str = "") -> str:
    """Write one panel, for a page or within a figure; `where`, attributes of its place."""
    y_ticks = ticks_of(panel.y, max(2, int(panel.height / 32)))
    left = min(12 + _LETTER * max((len(text) for _, text in y_ticks), default=1) + 14, panel.width / 2)
    right, bottom = panel.width - _RIGHT, panel.height - _BOTTOM
    x_ticks = ticks_of(panel.x, max(2, int((right - left) / 48)))
    x, y = _placing(panel.x, left, right), _placing(panel.y, bottom, _TOP)
    clip = (left, _TOP, right, bottom)
    legend, room = _legend(panel, right)
    parts = [
        f"<svg{where} width='{panel.width}' height='{panel.height}' viewBox='0 0 {panel.width} {panel.height}' "
        f"font-family='sans-serif' font-size='11' role='img' aria-label='{html.escape(panel.sentence)}'>",
        f"<text x='8' y='14' font-weight='bold' fill='currentColor'>"
        f"{html.escape(_cut(panel.title, (room - 8) / _BOLD))}</text>",
        _frame(panel, x, y, x_ticks, y_ticks, clip),
        *(_mark(each, x, y, clip) for each in panel.marks),
        legend,
        "</svg>",
    ]
    return "".join(part for part in parts if part)


def _placing(axis: Axis, start: float, end: float) -> Place:
    """Return the map from values to pixels; beyond the axis to its ends, and not finite to NaN."""

    def scaled(values: np.ndarray) -> np.ndarray:
        values, low, high = np.asarray(values, float), axis.low, axis.high
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if axis.is_log:
                values, low, high = np.log(values), float(np.log(low)), float(np.log(high))
            # By halves, since a difference of doubles may be larger than any.
            share = (values / 2 - low / 2) / (high / 2 - low / 2)
        return start + (end - start) * np.where(np.isfinite(share), np.clip(share, -0.01, 1.01), np.nan)

    return scaled


def _frame(
    panel: Panel,
    x: Place,
    y: Place,
    x_ticks: tuple[tuple[float, str], ...],
    y_ticks: tuple[tuple[float, str], ...],
    clip: tuple[float, float, float, float],
) -> str:
    """Draw axes, grid, ticks and labels."""
    left, top, right, bottom = clip
    grid, texts = [], []
    for place, text in y_ticks:
        at = float(y(np.array(place)))
        grid.append(f"M{_put(left)} {_put(at)}H{_put(right)}")
        texts.append(
            f"<text x='{_put(left - 5)}' y='{_put(at + 3.5)}' text-anchor='end'>{html.escape(text)}</text>"
        )
    for place, text in x_ticks:
        at = float(x(np.array(place)))
        grid.append(f"M{_put(at)} {_put(bottom)}v4")
        texts.append(
            f"<text x='{_put(at)}' y='{_put(bottom + 16)}' text-anchor='middle'>{html.escape(text)}</text>"
        )
    middle = (_TOP + bottom) / 2
    label = _cut(panel.y.label, (bottom - top) / _LETTER)
    texts += [
        f"<text x='{_put((left + right) / 2)}' y='{_put(panel.height - 6)}' text-anchor='middle'>"
        f"{html.escape(_cut(panel.x.label, (right - left) / _LETTER))}</text>",
        f"<text transform='translate(10 {_put(middle)}) rotate(-90)' text-anchor='middle'>{html.escape(label)}</text>",
    ]
    return (
        f"<path d='{''.join(grid)}' stroke='currentColor' stroke-opacity='0.18' fill='none'/>"
        f"<path d='M{_put(left)} {_put(top)}V{_put(bottom)}H{_put(right)}' stroke='currentColor' stroke-opacity='0.6' "
        f"fill='none'/><g fill='currentColor'>{''.join(texts)}</g>"
    )


def _mark(mark: Mark, x: Place, y: Place, clip: tuple[float, float, float, float]) -> str:
    left, top, right, bottom = clip
    if isinstance(mark, Rule):
        at = _put(float((x if mark.is_vertical else y)(np.array(mark.at))))
        path = (
            f"M{at} {_put(top)}V{_put(bottom)}" if mark.is_vertical else f"M{_put(left)} {at}H{_put(right)}"
        )
        dashed = " stroke-dasharray='4 3'" if mark.is_dashed else ""
        return f"<path d='{path}' fill='none'{_stroke(mark.colour, 1.0)}{dashed}/>"
    if isinstance(mark, Line):
        dashed = " stroke-dasharray='5 3'" if mark.is_dashed else ""
        path = _polyline(*_stepped(mark, x(mark.x), y(mark.y)))
        return f"<path d='{path}' fill='none' stroke-linejoin='round'{_stroke(mark.colour, mark.width)}{dashed}/>"
    if isinstance(mark, Band):
        across, low, high = x(mark.x), y(mark.low), y(mark.high)
        known = np.isfinite(across) & np.isfinite(low) & np.isfinite(high)
        across, low, high = across[known], low[known], high[known]
        if mark.is_steps:
            across, low, high = np.repeat(across, 2)[1:], np.repeat(low, 2)[:-1], np.repeat(high, 2)[:-1]
        path = _polyline(np.concatenate([across, across[::-1]]), np.concatenate([low, high[::-1]]))
        return f"<path d='{path}Z'{_fill(mark.colour, mark.opacity)}/>" if path else ""
    if isinstance(mark, Bars):
        sides = (x(mark.left), x(mark.right), y(mark.bottom), y(mark.top))
        path = "".join(
            f"M{_put(a)} {_put(low)}V{_put(high)}H{_put(b)}V{_put(low)}Z"
            for a, b, low, high in np.stack(sides, axis=1)
            if np.isfinite(a + b + low + high) and low != high
        )
        return f"<path d='{path}'{_fill(mark.colour, mark.opacity)}/>" if path else ""
    return _points(mark, x(mark.x), y(mark.y))


def _points(mark: Points, x: np.ndarray, y: np.ndarray) -> str:
    places = [(a, b) for a, b in zip(x, y, strict=True) if np.isfinite(a + b)]
    if mark.is_cross:
        r = mark.size
        path = "".join(
            f"M{_put(a - r)} {_put(b - r)}l{_put(2 * r)} {_put(2 * r)}m0 {_put(-2 * r)}l{_put(-2 * r)} {_put(2 * r)}"
            for a, b in places
        )
        return f"<path d='{path}' fill='none'{_stroke(mark.colour, 1.3)}/>" if path else ""
    # Strokes of no length with round ends are dots, in a third of the bytes of circles.
    path = "".join(f"M{_put(a)} {_put(b)}h0" for a, b in places)
    if not path:
        return ""
    return (
        f"<path d='{path}' fill='none' stroke-linecap='round' stroke-opacity='{mark.opacity:g}'"
        f"{_stroke(mark.colour, 2 * mark.size)}/>"
    )


def _stepped(mark: Line, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if mark.is_thin:
        return thinned(x, y)
    return (np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]) if mark.is_steps else (x, y)


def _polyline(x: np.ndarray, y: np.ndarray) -> str:
    """Write a path through points; a new part begins after one that is not finite."""
    parts: list[str] = []
    sign = "M"
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        if a != a or b != b:
            sign = "M"
            continue
        parts.append(f"{sign}{_put(a)} {_put(b)}")
        sign = "L"
    return "".join(parts)


def _legend(panel: Panel, right: float) -> tuple[str, float]:
    """Name colours beside the title, each after a stroke of it; return that, and where it begins."""
    at, parts = right, []
    for colour, name in reversed(panel.legend):
        at -= _LETTER * len(name)
        parts.append(f"<text x='{_put(at)}' y='14' fill='currentColor'>{html.escape(name)}</text>")
        parts.append(f"<path d='M{_put(at - 15)} 10.5h11' fill='none'{_stroke(colour, 3)}/>")
        at -= 22
    return "".join(parts), at


def _stroke(colour: int, width: float) -> str:
    if colour == INK:
        return f" stroke='currentColor' stroke-width='{width:g}'"
    return f" class='s{colour}' stroke='{COLOURS[colour]}' stroke-width='{width:g}'"


def _fill(colour: int, opacity: float) -> str:
    if colour == INK:
        return f" fill='currentColor' fill-opacity='{opacity:g}'"
    return f" class='f{colour}' fill='{COLOURS[colour]}' fill-opacity='{opacity:g}'"


def _put(value: float) -> str:
    """Write a coordinate to a tenth of a pixel."""
    text = f"{value:.1f}"
    return text.removesuffix(".0") if text != "-0.0" else "0"


def _cut(text: str, letters: float) -> str:
    return text if len(text) <= letters else f"{text[: max(int(letters) - 1, 1)]}\u2026"
