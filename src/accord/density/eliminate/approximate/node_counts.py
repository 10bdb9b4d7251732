"""Refuse quadratures of too many nodes, and say what others cost."""

from ....core.errors import SiteError
from ....core.notice import Notice
from ....language.integrals import FEWEST, Quadrature
from ...rows.conditions import listed
from ..normal.groups import Groups

MAX_SIZE = 3
"""Numbers that a quadrature is of, at most: five nodes along each of four are 625, and give little."""

MAX_NODES = 2500
"""Nodes of a quadrature together, at most: the model is evaluated at each of them, twice, for one log density."""


def check_nodes(groups: Groups, by: Quadrature) -> None:
    """Raise `SiteError` where too many entries depend on each other for a quadrature, or for so many nodes."""
    which, size = listed(groups.names), groups.size
    if size > MAX_SIZE:
        raise SiteError(
            f"handlers.collapse: entries of {which} depend on each other given all other unknowns, {size} at a time, "
            f"and a quadrature is of {MAX_SIZE} numbers at a time, at most. {_remedy(groups)}"
        )
    if by.nodes**size > MAX_NODES:
        most = max(nodes for nodes in range(FEWEST, by.nodes) if nodes**size <= MAX_NODES)
        raise SiteError(
            f"handlers.collapse: entries of {which} depend on each other given all other unknowns, {size} at a time, "
            f"and {by} along each of them has {_product(groups, by)} = {by.nodes**size:,} nodes, where {MAX_NODES:,} "
            f"are the most. Ask for `by=handlers.Quadrature(nodes={most})` or fewer: the notice `few_nodes` of a run "
            "says how good it is."
        )


def told_of_nodes(groups: Groups, by: Quadrature) -> Notice:
    """Say how many nodes there are, and what an evaluation of the log density takes."""
    count, names = by.nodes**groups.size, groups.names
    nodes = f"{count:,}" if groups.size == 1 else f"{_product(groups, by)} = {count:,}"
    together = "one entry at a time" if groups.size == 1 else f"{groups.size} entries together"
    return Notice(
        "info",
        "integrated_out",
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} integrated out by quadrature, {together}, over {nodes} "
        f"nodes: each evaluation of the log density takes about {2 * count:,} of the model's.",
        "",
        names,
    )


def _product(groups: Groups, by: Quadrature) -> str:
    return " x ".join([str(by.nodes)] * groups.size)


def _remedy(groups: Groups) -> str:
    if len(groups.sites) > 1:
        return (
            "Ask for `by=handlers.Laplace()`, or collapse fewer of them: sites that meet in one log probability, as "
            "crossed or nested effects do, depend on each other."
        )
    return (
        "Ask for `by=handlers.Laplace()`. Effects of groups are taken by an index, as in `effect[group]`, and not by a "
        "matrix of zeros and ones, whose other values would mix them."
    )
