"""Name what is loaded when it is first used: one line for every public name and the file it is in."""

from .base import AbstractReparam as AbstractReparam
from .base import Parts as Parts
from .circular import Circular as Circular
from .explicit import DiscreteCosine as DiscreteCosine
from .explicit import Explicit as Explicit
from .explicit import Haar as Haar
from .loc_scale import LocScale as LocScale
from .projected_normal import ProjectedNormal as ProjectedNormal
from .structured import Structured as Structured
from .transform import Transform as Transform
