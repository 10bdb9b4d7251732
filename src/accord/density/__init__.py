"""Evaluate the log density of a model over vectors of unconstrained numbers."""

from ..core.position import Position
from .blame import Blame, blame
from .dependence.graph import graph_of
from .layout import Entry, Layout, SiteTable
from .logdensity import LogDensity
from .rows.sharded import cut_arguments, cut_otherwise, sharded
from .rows.sharded_sum import sharded_sum
from .tracing import describe

__all__ = [
    "Blame",
    "Entry",
    "Layout",
    "LogDensity",
    "Position",
    "SiteTable",
    "blame",
    "cut_arguments",
    "cut_otherwise",
    "describe",
    "graph_of",
    "sharded",
    "sharded_sum",
]
