"""Move chains: kernels are resumable state machines with one gradient per step."""

from .base import AbstractKernel as AbstractKernel
from .base import Info as Info
from .base import Point as Point
from .chees import ChEES as ChEES
from .hmc import HMC as HMC
from .nuts import NUTS as NUTS
