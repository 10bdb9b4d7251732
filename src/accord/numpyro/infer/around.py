"""Define samplers that are made from one for continuous unknowns."""

from typing import Any

from ...core.errors import OptionError
from .kernels import HMC, NUTS, MCMCKernel


class Around(MCMCKernel):
    """A sampler made from one for continuous unknowns."""

    def __init__(self, inner_kernel: MCMCKernel) -> None:
        if not isinstance(inner_kernel, NUTS | HMC):
            raise OptionError(f"{type(self).__name__} takes a NUTS or HMC, got {inner_kernel!r}.")
        super().__init__(inner_kernel.model, inner_kernel.potential_fn, inner_kernel.init_strategy)
        self.inner = inner_kernel

    def sampler(self) -> Any:
        """See `MCMCKernel.sampler`."""
        return self.inner.sampler()
