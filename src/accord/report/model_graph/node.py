"""Describe a site for a drawing, and group sites by the plates around them."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Node:
    """A site of a model graph.

    **Fields**
    - `name`: name of the site.
    - `kind`: `"latent"`, `"observed"`, `"deterministic"`, `"factor"`, `"intervened"` or `"collapsed"`.
    - `distribution`: name of its family, or empty.
    - `plates`: plates and scans around it, outermost first, each with its name and size.
    """

    name: str
    kind: str
    distribution: str
    plates: tuple[tuple[str, int], ...]


@dataclass
class PlateTree:
    """The sites within a plate and the plates within it, `parts`, in the order of the model."""

    parts: "list[tuple[str | tuple[str, int], Node | PlateTree]]" = field(default_factory=list)

    @staticmethod
    def of(nodes: Sequence[Node]) -> "PlateTree":
        """Build the tree of all sites and their plates."""
        tree = PlateTree()
        for node in nodes:
            place = tree
            for plate in node.plates:
                place = place._within(plate)
            place.parts.append((node.name, node))
        return tree

    def _within(self, plate: tuple[str, int]) -> "PlateTree":
        """Collect the sites in a plate. A plate without a name continues that of the site before, or is a new one."""
        known = self.parts if plate[0] else self.parts[-1:]
        for key, part in known:
            if key == plate and isinstance(part, PlateTree):
                return part
        self.parts.append((plate, PlateTree()))
        return self._within(plate)

    def lines(
        self, node: Callable[[Node], str], opening: Callable[[int, str], str], closing: str | None
    ) -> list[str]:
        """Write a line per site; lines of a plate are indented between `opening(number, title)` and `closing`."""
        numbers = itertools.count()

        def within(tree: PlateTree) -> list[str]:
            found = []
            for key, part in tree.parts:
                if isinstance(part, Node):
                    found.append(node(part))
                    continue
                name, size = key
                found.append(opening(next(numbers), f"{name} ({size})" if name else f"{size} steps"))
                found += [f"  {line}" for line in within(part)]
                found += [] if closing is None else [closing]
            return found

        return within(self)


def label(node: Node, newline: str) -> str:
    """Return the text in the drawing of a site."""
    return f"{node.name}{newline}{node.distribution}" if node.distribution else node.name
