"""Offer mixed Hamiltonian Monte Carlo, by NumPyro's name."""

from collections.abc import Mapping
from typing import Any

from ... import infer
from ..messages import Message
from ..names.refusal import refusal as _refusal
from .hmc_gibbs import DiscreteHMCGibbs
from .kernels import MCMCKernel

__getattr__ = _refusal("numpyro.infer")


class MixedHMC(DiscreteHMCGibbs):
    """Mixed Hamiltonian Monte Carlo, as `accord.infer.MixedHMC`.

    **Arguments**: `inner_kernel`, an HMC; `num_discrete_updates`, how many discrete turns a trajectory has.
    """

    def __init__(
        self,
        inner_kernel: MCMCKernel,
        *,
        num_discrete_updates: int | None = None,
        random_walk: bool = False,
        modified: bool = False,
    ) -> None:
        super().__init__(inner_kernel, random_walk=random_walk, modified=modified)
        self.turns = num_discrete_updates

    def sampler_for(self, latents: Mapping[str, Message]) -> Any:
        """See `MCMCKernel.sampler_for`."""
        self.drawn(latents)
        return infer.MixedHMC() if self.turns is None else infer.MixedHMC(turns=self.turns)
