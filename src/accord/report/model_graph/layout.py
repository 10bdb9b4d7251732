"""Place boxes in layers, so that arrows point downward: the sites of a model, and plates with their contents.

At each level of plates, boxes are put in the layer after their last parent's, an arrow that passes a layer gets a place
in it, boxes are ordered by where their neighbours are, and drawn towards them.

**Source**: Sugiyama, Tagawa & Toda (1981), IEEE Transactions on Systems, Man, and Cybernetics 11(2), 109-125.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

ACROSS, DOWN = 24.0, 34.0  # between neighbours of a layer, and between layers
_LANE = 10.0  # width of the place where an arrow passes a layer
_SWEEPS = 8

Key = Hashable
Edge = tuple[Key, Key]


@dataclass(frozen=True)
class Placed:
    """Boxes of one level. Coordinates begin at the upper left corner.

    **Fields**: `centres` of boxes; `lanes`: by edge, the points that it passes; `width` and `height` of all.
    """

    centres: dict[Key, tuple[float, float]]
    lanes: dict[Edge, tuple[tuple[float, float], ...]]
    width: float
    height: float


def place(
    sizes: Mapping[Key, tuple[float, float]], edges: Sequence[Edge], first: Collection[Key] = ()
) -> Placed:
    """Place boxes of given width and height, in the order of the model; edges that go back in it do not count.

    - `first`: boxes that stay in the first layer; the others without parents are near to their children.
    """
    order = {key: index for index, key in enumerate(sizes)}
    forward = [edge for edge in dict.fromkeys(edges) if order[edge[0]] < order[edge[1]]]
    ranks: dict[Key, int] = {}
    for key in sizes:
        ranks[key] = 1 + max((ranks[one] for one, other in forward if other == key), default=-1)
    for key in reversed([key for key in sizes if key not in first]):
        children = [ranks[other] for one, other in forward if one == key]
        if children and not any(other == key for _, other in forward):
            ranks[key] = min(children) - 1
    layers: list[list[Key]] = [[] for _ in range(1 + max(ranks.values(), default=-1))]
    widths: dict[Key, float] = {key: size[0] for key, size in sizes.items()}
    for key, rank in ranks.items():
        layers[rank].append(key)
    links: list[Edge] = []
    chains: dict[Edge, list[Key]] = {}
    for one, other in forward:
        chain: list[Key] = [("lane", one, other, rank) for rank in range(ranks[one] + 1, ranks[other])]
        for lane, rank in zip(chain, range(ranks[one] + 1, ranks[other]), strict=True):
            layers[rank].append(lane)
            widths[lane] = _LANE
        chains[one, other] = chain
        links += list(zip([one, *chain], [*chain, other], strict=True))
    middles = _across(layers, widths, links)
    left = min((middles[key] - widths[key] / 2 for key in middles), default=0.0)
    right = max((middles[key] + widths[key] / 2 for key in middles), default=0.0)
    heights = [max((sizes[key][1] for key in layer if key in sizes), default=0.0) for layer in layers]
    tops = [sum(heights[:rank]) + DOWN * rank for rank in range(len(layers))]
    points = {
        key: (middles[key] - left, tops[rank] + heights[rank] / 2)
        for rank, layer in enumerate(layers)
        for key in layer
    }
    return Placed(
        {key: points[key] for key in sizes},
        {edge: tuple(points[lane] for lane in chain) for edge, chain in chains.items()},
        right - left,
        sum(heights) + DOWN * max(len(layers) - 1, 0),
    )


def _across(layers: list[list[Key]], widths: Mapping[Key, float], links: Sequence[Edge]) -> dict[Key, float]:
    """Order the boxes of each layer, and return the middle of each box."""
    near: dict[Key, list[Key]] = {key: [] for layer in layers for key in layer}
    for one, other in links:
        near[one].append(other)
        near[other].append(one)
    middles: dict[Key, float] = {}
    for layer in layers:
        middles |= _side_by_side(layer, widths, dict.fromkeys(layer, 0.0))
    rank_of = {key: rank for rank, layer in enumerate(layers) for key in layer}
    for sweep in range(_SWEEPS):
        is_down = sweep % 2 == 0
        for rank in range(len(layers)) if is_down else reversed(range(len(layers))):
            wanted = {}
            for key in layers[rank]:
                seen = [each for each in near[key] if (rank_of[each] < rank) == is_down] or near[key]
                wanted[key] = sum(middles[each] for each in seen) / len(seen) if seen else middles[key]
            layers[rank].sort(key=lambda key: wanted[key])
            middles |= _side_by_side(layers[rank], widths, wanted)
    return middles


def _side_by_side(
    layer: Sequence[Key], widths: Mapping[Key, float], wanted: Mapping[Key, float]
) -> dict[Key, float]:
    """Return middles in this order with room between boxes, as near to the wanted ones as one shift allows."""
    found: dict[Key, float] = {}
    edge = float("-inf")
    for key in layer:
        found[key] = max(wanted[key], edge + widths[key] / 2)
        edge = found[key] + widths[key] / 2 + ACROSS
    shift = sum(found[key] - wanted[key] for key in layer) / max(len(layer), 1)
    return {key: middle - shift for key, middle in found.items()}
