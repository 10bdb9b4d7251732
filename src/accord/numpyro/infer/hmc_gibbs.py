"""Offer Gibbs sampling with Hamiltonian Monte Carlo for continuous unknowns, and Monte Carlo on parts of the data."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ... import infer
from ...core.errors import OptionError
from ...report.notices import tell
from ..messages import Message
from ..names.refusal import refusal as _refusal
from .around import Around
from .gibbs import CustomGibbs, Gibbs, discrete_latent_sites
from .kernels import HMC, NUTS, MCMCKernel
from .told import unused_options

__getattr__ = _refusal("numpyro.infer")


class HMCGibbs(Gibbs):
    """Some unknowns by updates of your own, the others by NUTS or HMC.

    **Arguments**: `inner_kernel`, a NUTS or HMC; `gibbs_fn`, `gibbs_sites`, as of `CustomGibbs` in a `Gibbs`.
    """

    def __init__(
        self, inner_kernel: MCMCKernel, gibbs_fn: Callable[..., Any], gibbs_sites: Sequence[str]
    ) -> None:
        if not isinstance(inner_kernel, NUTS | HMC) or inner_kernel.model is None:
            raise OptionError(f"HMCGibbs takes a NUTS or HMC of a model, got {inner_kernel!r}.")
        super().__init__([(CustomGibbs(gibbs_fn), gibbs_sites), (inner_kernel, None)])


class DiscreteHMCGibbs(Around):
    """Continuous unknowns by NUTS or HMC, discrete ones by Gibbs draws of each given the rest.

    **Arguments**: `inner_kernel`, a NUTS or HMC; `modified`, whether draws avoid the present value.
    """

    def __init__(
        self, inner_kernel: MCMCKernel, *, random_walk: bool = False, modified: bool = False
    ) -> None:
        super().__init__(inner_kernel)
        tell(unused_options(type(self).__name__, random_walk=random_walk))
        self.is_metropolised = modified

    def sampler_for(self, latents: Mapping[str, Message]) -> Any:
        """See `MCMCKernel.sampler_for`."""
        discrete = self.drawn(latents)
        gibbs = infer.DiscreteGibbs(is_metropolised=self.is_metropolised)
        if len(discrete) == len(latents):
            raise OptionError(
                "DiscreteHMCGibbs: all unknowns of the model are discrete. Write "
                "`Gibbs([(DiscreteGibbs(model), None)])`."
            )
        return infer.Gibbs({discrete: gibbs, ...: self.inner.sampler()})

    def drawn(self, latents: Mapping[str, Message]) -> tuple[str, ...]:
        """Return the names of the discrete unknowns that it draws.

        **Raises** `OptionError` where there is none: all are marked to be summed out, or the model has none.
        """
        discrete = discrete_latent_sites(latents)
        if not discrete:
            raise OptionError(
                f"{type(self).__name__}: the model has no discrete unknown to draw; those with "
                "`infer={'enumerate': 'parallel'}` are summed out. Use its inner kernel, or leave the mark out."
            )
        return discrete


class HMCECS(Around):
    """Hamiltonian Monte Carlo on parts of the data, as `accord.infer.HMCECS`.

    **Arguments**: `inner_kernel`, a NUTS or HMC; `num_blocks`, in how many pieces a part is exchanged; `proxy`, made by
    `HMCECS.taylor_proxy`. Accord expands around a mode that it finds, of second order.
    """

    def __init__(self, inner_kernel: MCMCKernel, *, num_blocks: int = 1, proxy: Any = None) -> None:
        super().__init__(inner_kernel)
        del proxy
        self.parts = num_blocks

    @staticmethod
    def taylor_proxy(reference_params: Any, degree: int = 2) -> None:
        """Take the place of NumPyro's proxy, which accord makes around the mode."""
        del reference_params, degree

    def sampler(self) -> infer.HMCECS:
        """See `MCMCKernel.sampler`."""
        return infer.HMCECS(self.inner.sampler(), parts=max(self.parts, 2))
