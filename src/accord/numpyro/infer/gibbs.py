"""Offer Gibbs sampling by blocks, each with a sampler of its own: NumPyro's `Gibbs`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ... import infer
from ...core.errors import ModelError, OptionError
from ...report.notices import tell
from ..messages import Message
from ..names.refusal import refusal as _refusal
from .kernels import MCMCKernel
from .own_update import OwnUpdate
from .told import unused_options

__getattr__ = _refusal("numpyro.infer")

Sites = Sequence[str] | Callable[[Mapping[str, Message]], Sequence[str]] | None
"""Names; a function from a trace to names; or None for all that are left."""


class CustomGibbs(MCMCKernel):
    """Updates of your own, as a block of `Gibbs`.

    **Arguments**: `gibbs_fn`, called with `rng_key`, `gibbs_sites` (values of the block's sites) and `hmc_sites` (those
    of all others), by these names; it returns new values of the block's sites, by name. It must leave their
    distribution given the others as it is: nothing checks that. Where the distribution is known,
    `accord.infer.Conditional` takes it as such, and compares it with the model.
    """

    def __init__(self, gibbs_fn: Callable[..., Any]) -> None:
        if not callable(gibbs_fn):
            raise OptionError(f"CustomGibbs: gibbs_fn must be a function, got {gibbs_fn!r}.")
        self.model = self.potential_fn = None
        self.gibbs_fn = gibbs_fn

    def sampler(self) -> OwnUpdate:
        """See `MCMCKernel.sampler`."""
        return OwnUpdate(self.gibbs_fn)


class DiscreteGibbs(MCMCKernel):
    """Draws of discrete unknowns given all others, as `accord.infer.DiscreteGibbs`.

    **Arguments**: `model`; `modified`, whether draws avoid the present value; `random_walk` has no effect.
    """

    def __init__(
        self, model: Callable[..., Any] | None = None, *, random_walk: bool = False, modified: bool = False
    ) -> None:
        super().__init__(model)
        tell(unused_options("DiscreteGibbs", random_walk=random_walk))
        self.is_metropolised = modified

    def sampler(self) -> infer.DiscreteGibbs:
        """See `MCMCKernel.sampler`."""
        return infer.DiscreteGibbs(is_metropolised=self.is_metropolised)


class Gibbs(MCMCKernel):
    """Blocks of unknowns, each moved given the others by a sampler of its own, as `accord.infer.Gibbs`.

    **Arguments**: `blocks`, pairs of a sampler and its sites: names, a function from a trace to names such as
    `discrete_latent_sites`, or None for all that are left.

    **Raises** `OptionError` for what is no such pair, and for samplers of different models or of none.
    """

    def __init__(self, blocks: Sequence[tuple[MCMCKernel, Sites]]) -> None:
        for block in blocks:
            if not (isinstance(block, tuple) and len(block) == 2 and isinstance(block[0], MCMCKernel)):
                raise OptionError(
                    f"Gibbs: a block is a pair of a sampler and its sites, such as `(NUTS(model), None)`; got "
                    f"{block!r}."
                )
        models = [kernel.model for kernel, _ in blocks if kernel.model is not None]
        if not models or any(model is not models[0] for model in models):
            raise OptionError("Gibbs: give samplers of one model, such as `(NUTS(model), None)`.")
        first = next(kernel for kernel, _ in blocks if kernel.model is not None)
        super().__init__(first.model, None, first.init_strategy)
        self.blocks = tuple(blocks)

    def sampler(self) -> Any:
        """See `MCMCKernel.sampler`: `sampler_for` is asked, which knows the sites."""
        raise ModelError("Gibbs: it is made for the unknowns of a model. Use it by `MCMC`.")

    def sampler_for(self, latents: Mapping[str, Message]) -> infer.Gibbs:
        """See `MCMCKernel.sampler_for`."""
        found: list[tuple[Any, Any]] = []
        for kernel, sites in self.blocks:
            names = ... if sites is None else tuple(sites(latents) if callable(sites) else sites)
            if names is not ... and not names:
                raise OptionError(
                    f"Gibbs: the block of {type(kernel).__name__} has no site in this model. Leave it out."
                )
            found.append((names, kernel.sampler()))
        return infer.Gibbs(tuple(found))


def latent_sample_sites(model_trace: Mapping[str, Message]) -> tuple[str, ...]:
    """Return the names of unknowns of a trace."""
    return tuple(
        name for name, site in model_trace.items() if site["type"] == "sample" and not site["is_observed"]
    )


def discrete_latent_sites(model_trace: Mapping[str, Message]) -> tuple[str, ...]:
    """Return the names of discrete unknowns of a trace, without those that are marked to be summed out."""
    return tuple(
        name
        for name in latent_sample_sites(model_trace)
        if model_trace[name]["fn"].is_discrete and model_trace[name]["infer"].get("enumerate") != "parallel"
    )
