"""Move chains: kernels are resumable state machines with one gradient per step."""

from .base import AbstractKernel as AbstractKernel
from .base import Info as Info
from .base import Point as Point
from .base import Tuning as Tuning
from .chees import ChEES as ChEES
from .hmc import HMC as HMC
from .metric import Metric as Metric
from .nuts import NUTS as NUTS
