"""Move a block of unknowns by a function of the user's own, as a kernel of accord."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from ...core.errors import OptionError, suggest
from ...core.position import Position
from ...density import LogDensity
from ...density.conditional import position_with
from ...kernels import Conditional
from ...kernels.formula import Tabled

_SHOWN = ("latent", "whole", "deterministic")
"""Kinds of sites whose values the function sees."""


class OwnUpdate(Conditional):
    """A block of `accord.infer.Gibbs` that a function moves; what it returns is taken as it is.

    **Fields**: `function`, of `rng_key`, `gibbs_sites` and `hmc_sites`, to new values by name.
    """

    @property
    def formulas(self) -> tuple[Tabled, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """See `AbstractKernel.formulas`."""
        assert self.places is not None, "a block is placed before its run"
        return (Tabled(self.places.names, _Moved(self.function, self.places.names), False),)


@dataclass(frozen=True)
class _Moved:
    """How a block is moved. **Fields**: `function`; `names` of the block's sites."""

    function: Callable[..., Any] | None
    names: tuple[str, ...]

    def drawn(
        self, density: LogDensity, position: Position, words: jax.Array, *, is_metropolised: bool
    ) -> Position:
        """Return the position at which the block has the values that the function returns."""
        del is_metropolised
        assert self.function is not None, "a kernel for a compiled program has no functions left"
        program = density.program.whole
        assert program is not None, "a NumPyro program is a model"
        at = position if position.whole is not None else position.free
        sites = program.sites(density.program.pieces(at), density.program.whole_data(density.data))
        shown = [entry.name for entry in density.layout.sites if entry.kind in _SHOWN]
        values = {name: jnp.asarray(sites[name].value) for name in shown}
        own = {name: values[name] for name in self.names}
        found = self.function(
            rng_key=jax.random.wrap_key_data(words, impl="threefry2x32"),
            gibbs_sites=dict(own),
            hmc_sites={name: value for name, value in values.items() if name not in own},
        )
        self._check(found, own)
        moved = {**own, **found}
        return position_with(density, position, moved, "gibbs_fn")

    def _check(self, found: Any, own: Mapping[str, Any]) -> None:
        if not isinstance(found, Mapping):
            raise OptionError(f"gibbs_fn must return a mapping from sites to values, got {found!r}.")
        for name, value in found.items():
            if name not in own:
                raise OptionError(
                    f"gibbs_fn returns {name!r}, and gibbs_sites has {', '.join(map(repr, own))}."
                    f"{suggest(name, own)}"
                )
            if jnp.shape(value) != own[name].shape:
                raise OptionError(
                    f"gibbs_fn returns {name!r} of shape {jnp.shape(value)}, and the site has {own[name].shape}."
                )
