"""Name what is loaded when it is first used: one line for every public name and the file it is in."""

from .blaming import Blame as Blame
from .blaming import blame as blame
from .dependence.graph import graph_of as graph_of
from .layout import Entry as Entry
from .layout import Layout as Layout
from .layout import SiteTable as SiteTable
from .logdensity import LogDensity as LogDensity
from .rows.sharded import cut_arguments as cut_arguments
from .rows.sharded import cut_otherwise as cut_otherwise
from .rows.sharded import sharded as sharded
from .rows.sharded_sum import sharded_sum as sharded_sum
from .tracing import describe as describe
from .unknowns import Position as Position
