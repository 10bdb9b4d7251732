"""Draw shapes below each other, axis under axis, with the axes marked that do not fit."""

from collections.abc import Collection, Iterable, Mapping

from ..site import Frame

Row = tuple[str, Mapping[int, str]]
"""A label, and what stands at each axis; axes are counted from the right, -1, -2, ..."""


def diagram(rows: Iterable[Row], wrong: Collection[int]) -> str:
    """Write lines to put after a message; rows with nothing in them are left out.

    ```
        plates  group(3)  row(10)
        batch          3       10
        value         10        3
                       ^        ^
    ```
    """
    shown = [*((label, cells) for label, cells in rows if cells), ("", dict.fromkeys(wrong, "^"))]
    axes = sorted({axis for _, cells in shown for axis in cells})
    margin = max(len(label) for label, _ in shown)
    widths = {axis: max(len(cells.get(axis, "")) for _, cells in shown) for axis in axes}
    lines = [
        "  ".join([label.ljust(margin), *(cells.get(axis, "").rjust(widths[axis]) for axis in axes)])
        for label, cells in shown
    ]
    return "".join(f"\n    {line.rstrip()}" for line in lines)


def plates_row(plates: Iterable[Frame], event_dim: int = 0) -> Row:
    """Place the plates at their batch axes, left of the event's."""
    return "plates", {plate.dim - event_dim: f"{plate.name}({plate.size})" for plate in plates}


def shape_row(label: str, shape: tuple[int, ...], event_dim: int = 0) -> Row:
    """Place the sizes of a shape; with `event_dim`, of one that stands left of an event's."""
    return label, {axis - len(shape) - event_dim: str(size) for axis, size in enumerate(shape)}


def differing(first: tuple[int, ...], second: tuple[int, ...]) -> list[int]:
    """List the axes, from the right, at which two shapes differ; axes that one of them lacks are among them."""
    length = max(len(first), len(second))
    padded = [(None,) * (length - len(shape)) + shape for shape in (first, second)]
    return [axis for axis in range(-length, 0) if padded[0][axis] != padded[1][axis]]
