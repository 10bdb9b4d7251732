"""Move chains: kernels are resumable state machines told one evaluation at a time."""

from ..core.stats import Info as Info
from .barker import Barker as Barker
from .base import AbstractKernel as AbstractKernel
from .chees import ChEES as ChEES
from .conditional import Conditional as Conditional
from .discrete_gibbs import DiscreteGibbs as DiscreteGibbs
from .elliptical_slice import EllipticalSlice as EllipticalSlice
from .ensemble import Ensemble as Ensemble
from .gibbs import Gibbs as Gibbs
from .hmc import HMC as HMC
from .hmcecs import HMCECS as HMCECS
from .mala import MALA as MALA
from .metropolis import Metropolis as Metropolis
from .mixed_hmc import MixedHMC as MixedHMC
from .mixture import Mixture as Mixture
from .nuts import NUTS as NUTS
from .particle_gibbs import ParticleGibbs as ParticleGibbs
from .pmmh import PMMH as PMMH
from .point import Point as Point
from .point import Target as Target
from .population import AbstractPopulation as AbstractPopulation
from .random_walk import RandomWalk as RandomWalk
from .repeat import Repeat as Repeat
from .sghmc import SGHMC as SGHMC
from .sgld import SGLD as SGLD
from .slice import Slice as Slice
from .tempered import Tempered as Tempered

KERNELS: dict[str, type[AbstractKernel]] = {
    each.__name__: each
    for each in (
        NUTS,
        HMC,
        HMCECS,
        ChEES,
        MALA,
        Barker,
        RandomWalk,
        Slice,
        EllipticalSlice,
        Ensemble,
        DiscreteGibbs,
        Gibbs,
        MixedHMC,
        Mixture,
        ParticleGibbs,
        PMMH,
        Repeat,
        SGHMC,
        SGLD,
        Tempered,
    )
}
"""Kernels that a stored run may name."""
