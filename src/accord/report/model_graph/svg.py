"""Draw a graph as SVG, without any program and without a network."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from .layout import Edge, Key, place
from .node import Node, PlateTree

_LETTER, _LINE = 7.4, 16.0  # how wide a letter is at most on average, and how high a line, at 13 pixels
_INSIDE, _TITLE, _MARGIN = 16.0, 20.0, 12.0  # around what is in a plate, for its name, and around all
_ARROW, _GATE, _LOOP = 8.0, 10.0, 20.0
_SHAPES = {
    "latent": ("ellipse", ""),
    "collapsed": ("ellipse", " stroke-dasharray='4 3'"),
    "observed": ("ellipse", " fill='#888' fill-opacity='0.35'"),
    "deterministic": ("box", ""),
    "intervened": ("double", ""),
    "factor": ("diamond", ""),
}


@dataclass
class _Drawing:
    """A drawing with places: sites with centre and size, frames of plates, and lanes of arrows."""

    centres: dict[str, tuple[float, float]] = field(default_factory=dict)
    frames: list[tuple[float, float, float, float, str]] = field(default_factory=list)
    lanes: dict[tuple[str, str], tuple[tuple[float, float], ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Level:
    """Place one level of plates; the boxes of plates are levels themselves."""

    tree: PlateTree
    centres: dict[Key, tuple[float, float]]
    lanes: dict[Edge, tuple[tuple[float, float], ...]]
    within: dict[Key, "_Level"]
    owners: dict[str, Key]
    width: float
    height: float


def as_svg(
    name: str, nodes: Sequence[Node], edges: Sequence[tuple[str, str]], *, is_inline: bool = False
) -> str:
    """Return the picture.

    - `is_inline`: for a page, whose colours it then takes; else black on white.
    """
    level = _arranged(PlateTree.of(nodes), nodes, edges)
    drawing = _Drawing()
    _collect(level, _MARGIN, _MARGIN, edges, drawing)
    width, height = level.width + 2 * _MARGIN, level.height + 2 * _MARGIN
    colours = "" if is_inline else " color='#000'"
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0f}' height='{height:.0f}' "
        f"viewBox='0 0 {width:.0f} {height:.0f}' font-family='sans-serif' font-size='13' role='img'{colours}>",
        f"<title>{html.escape(name)}</title>",
        "" if is_inline else "<rect width='100%' height='100%' fill='#fff'/>",
        "<g fill='none' stroke='currentColor'>",
        *(_frame(*frame) for frame in drawing.frames),
        *(_arrow(edge, drawing, {each.name: each for each in nodes}) for edge in edges),
        *(_site(each, *drawing.centres[each.name]) for each in nodes),
        "</g></svg>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _lines(node: Node) -> list[str]:
    return [node.name, node.distribution] if node.distribution else [node.name]


def _size(node: Node) -> tuple[float, float]:
    lines = _lines(node)
    width, height = _LETTER * max(map(len, lines)), _LINE * len(lines)
    shape = _SHAPES[node.kind][0]
    if shape == "ellipse":
        return max(1.25 * width + 12, 48), 1.3 * height + 12
    if shape == "diamond":
        return 1.5 * width + 24, 1.6 * height + 20
    return width + 20, height + 14


def _arranged(tree: PlateTree, nodes: Sequence[Node], edges: Sequence[tuple[str, str]]) -> _Level:
    """Place the contents of a plate: inner plates first, since their size must be known."""
    within: dict[Key, _Level] = {}
    owners: dict[str, Key] = {}
    sizes: dict[Key, tuple[float, float]] = {}
    for number, (_, part) in enumerate(tree.parts):
        if isinstance(part, Node):
            owners[part.name] = number
            width, height = _size(part)
            has_loop = (part.name, part.name) in edges
            sizes[number] = (width + 2 * _LOOP * has_loop, height)
            continue
        inner = within[number] = _arranged(part, nodes, edges)
        owners |= dict.fromkeys(inner.owners, number)
        title = _LETTER * len(_title(tree.parts[number][0]))
        sizes[number] = (
            max(inner.width, title) + 2 * _INSIDE,
            inner.height + 2 * _INSIDE + _TITLE,
        )
    between = [
        (owners[one], owners[other])
        for one, other in edges
        if one in owners and other in owners and owners[one] != owners[other]
    ]
    # An arrow from outside to a site that is not in the first layer passes those above it: it enters at a gate.
    gates = [
        (("gate", one), owners[other])
        for one, other in edges
        if one not in owners and other in owners and any(owners[other] == below for _, below in between)
    ]
    gated = {gate: (_GATE, 0.0) for gate, _ in gates}
    found = place(gated | sizes, [*gates, *between], first=set(gated))
    return _Level(tree, found.centres, found.lanes, within, owners, found.width, found.height)


def _collect(
    level: _Level, left: float, top: float, edges: Sequence[tuple[str, str]], drawing: _Drawing
) -> None:
    """Record the places of a level with this upper left corner, and its arrows, from the outermost level inward."""
    for edge in edges:
        source = level.owners.get(edge[0], ("gate", edge[0]))
        lane = level.lanes.get((source, level.owners.get(edge[1])), ())
        if source in level.centres and isinstance(source, tuple) and edge[1] in level.owners:
            is_gated = (source, level.owners[edge[1]]) in level.lanes
            lane = (level.centres[source], *lane) if is_gated else ()
        drawing.lanes[edge] = (*drawing.lanes.get(edge, ()), *((x + left, y + top) for x, y in lane))
    for number, (key, part) in enumerate(level.tree.parts):
        x, y = level.centres[number][0] + left, level.centres[number][1] + top
        if isinstance(part, Node):
            drawing.centres[part.name] = (x, y)
            continue
        inner = level.within[number]
        title = _title(key)
        width = max(inner.width, _LETTER * len(title)) + 2 * _INSIDE
        height = inner.height + 2 * _INSIDE + _TITLE
        drawing.frames.append((x - width / 2, y - height / 2, width, height, title))
        _collect(inner, x - inner.width / 2, y - height / 2 + _INSIDE, edges, drawing)


def _title(key: object) -> str:
    name, size = key if isinstance(key, tuple) else ("", 0)
    return f"{name} ({size})" if name else f"{size} steps"


def _frame(left: float, top: float, width: float, height: float, title: str) -> str:
    return (
        f"<rect x='{left:.1f}' y='{top:.1f}' width='{width:.1f}' height='{height:.1f}' rx='8' stroke-opacity='0.6'/>"
        + _text(left + width - 8, top + height - 8, title, "end")
    )


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' fill='currentColor' stroke='none'>"
        f"{html.escape(text)}</text>"
    )


def _site(node: Node, x: float, y: float) -> str:
    width, height = _size(node)
    shape, style = _SHAPES[node.kind]
    rect = "<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}'/>"
    if shape == "ellipse":
        drawn = f"<ellipse cx='{x:.1f}' cy='{y:.1f}' rx='{width / 2:.1f}' ry='{height / 2:.1f}'{style}/>"
    elif shape == "diamond":
        corners = [(x, y - height / 2), (x + width / 2, y), (x, y + height / 2), (x - width / 2, y)]
        drawn = f"<polygon points='{' '.join(f'{a:.1f},{b:.1f}' for a, b in corners)}'/>"
    else:
        drawn = rect.format(x - width / 2, y - height / 2, width, height)
        if shape == "double":
            drawn += rect.format(x - width / 2 + 3, y - height / 2 + 3, width - 6, height - 6)
    lines = _lines(node)
    first = y - _LINE * (len(lines) - 1) / 2 + 4.5
    return drawn + "".join(_text(x, first + _LINE * index, line) for index, line in enumerate(lines))


def _arrow(edge: tuple[str, str], drawing: _Drawing, nodes: dict[str, Node]) -> str:
    """Draw a line with a head from the outline of one site through its lanes to the outline of another."""
    one, other = edge
    if one == other:
        return _loop(nodes[one], *drawing.centres[one])
    points = [drawing.centres[one], *drawing.lanes.get(edge, ()), drawing.centres[other]]
    start = _outline(nodes[one], points[0], points[1])
    end = _outline(nodes[other], points[-1], points[-2])
    points = [start, *points[1:-1], end]
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    return f"<polyline points='{line}'/>{_head(points[-2], points[-1])}"


def _head(before: tuple[float, float], at: tuple[float, float]) -> str:
    """Draw the head of an arrow that comes from `before`."""
    (x, y), (fx, fy) = at, before
    length = math.hypot(x - fx, y - fy) or 1.0
    ux, uy = (x - fx) / length, (y - fy) / length
    bx, by = x - _ARROW * ux, y - _ARROW * uy
    head = [
        (x, y),
        (bx - 0.4 * _ARROW * uy, by + 0.4 * _ARROW * ux),
        (bx + 0.4 * _ARROW * uy, by - 0.4 * _ARROW * ux),
    ]
    corners = " ".join(f"{a:.1f},{b:.1f}" for a, b in head)
    return f"<polygon points='{corners}' fill='currentColor'/>"


def _loop(node: Node, x: float, y: float) -> str:
    """Draw an arrow from a site to itself, at its right."""
    right = x + _size(node)[0] / 2
    out, back = (right - 2, y - 6), (right - 2, y + 6)
    curve = (
        f"M {out[0]:.1f} {out[1]:.1f} C {right + _LOOP:.1f} {y - 22:.1f} {right + _LOOP:.1f} {y + 22:.1f} "
    )
    return f"<path d='{curve}{back[0]:.1f} {back[1]:.1f}'/>{_head((right + 10, y + 13), back)}"


def _outline(node: Node, centre: tuple[float, float], towards: tuple[float, float]) -> tuple[float, float]:
    """Return the point where a line from the centre of a site leaves its shape."""
    width, height = _size(node)
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    a, b = abs(dx) / (width / 2), abs(dy) / (height / 2)
    shape = _SHAPES[node.kind][0]
    reach = math.hypot(a, b) if shape == "ellipse" else a + b if shape == "diamond" else max(a, b)
    scale = 1 / reach if reach else 0.0
    return centre[0] + scale * dx, centre[1] + scale * dy
