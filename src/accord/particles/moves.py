"""Move a particle by one step of a scan, and say what the step adds to its weight."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..core.errors import SiteError
from ..density.reduction import term
from ..language import Site, Steps
from ..language.interpreter import handlers_around
from ..language.loops.boundary import Boundary
from ..language.treatment import Computed
from .choices import OfParticle


@dataclass(frozen=True)
class Moved:
    """A particle after a step.

    **Fields**: `carry` and `output` of the step; `arrays` of its sites, as `Steps.arrays`; `shown`, values of states
    and deterministic sites by name; `own`, the log density of the states given the particle before; `others`, what all
    other sites of the step add to the log density.
    """

    carry: Any
    output: Any
    arrays: list[jax.Array]
    shown: dict[str, jax.Array]
    own: Float[Array, ""]
    others: Float[Array, ""]


@dataclass(frozen=True, eq=False)
class Moves:
    """The steps of a scan as functions of one particle.

    **Fields**: `steps`; `states`, names of its states in the step, by their names in the model; `init`, the first
    carry; `dtype` of log weights.
    """

    steps: Steps
    states: Mapping[str, str]
    init: Any
    dtype: Any

    @staticmethod
    def of(steps: Steps, states: Mapping[str, str]) -> "Moves":
        """Make the functions."""
        init = jax.tree.map(_settled, steps.loop.init)
        return Moves(steps, states, init, jnp.result_type(float))

    @property
    def length(self) -> int:
        """Number of steps."""
        return self.steps.loop.length

    def inputs(self) -> Any:
        """Return the inputs of the steps in the order in which they are taken."""
        return self.in_order(self.steps.inputs)

    def at(self, inputs: Any, number: Any) -> Any:
        """Return the inputs of one step."""
        return jax.tree.map(lambda each: jax.lax.dynamic_index_in_dim(each, number, keepdims=False), inputs)

    def __call__(self, carry: Any, now: Any, known: Mapping[str, Any] | None = None) -> Moved:
        """Move a particle; `known` are values that its states shall have, by their names in the model.

        **Raises** `SiteError` for sites that are weighted in a way that particles cannot be.
        """
        x, arrays = now
        if known is not None:
            arrays = {name: _known(source, known, self.states.get(name)) for name, source in arrays.items()}
        carry, output, sites = self.steps(carry, (x, arrays))
        own = others = jnp.zeros((), self.dtype)
        shown = {}
        for name, site in sites.items():
            outer = self.states.get(name)
            check_unweighted(site, is_state=outer is not None)
            added = term(site)
            if added is not None:
                own, others = (own + added, others) if outer else (own, others + added)
            if outer or site.kind == "deterministic" or isinstance(site.treatment, Computed):
                shown[self.steps.answers[name].site.name] = jnp.asarray(site.value)
        return Moved(
            jax.tree.map(_settled, carry), output, self.steps.arrays(sites), shown,
            own.astype(self.dtype), others.astype(self.dtype),
        )  # fmt: skip

    def in_order(self, results: Any) -> Any:
        """Return what has steps along its first axes in the order in which they are taken, or from that one back."""
        return jax.tree.map(lambda each: each[::-1], results) if self._is_reversed else results

    @property
    def _is_reversed(self) -> bool:
        return self.steps.loop.reverse


def is_inside_of_step() -> bool:
    """Return whether the running statement is in a step of a scan, or in a branch."""
    return any(isinstance(each, Boundary) for each in handlers_around())


def states_of(steps: Steps) -> dict[str, str]:
    """Return the names in the model of the states of a scan, by their names in its step."""
    return {
        name: answer.site.name
        for name, answer in steps.answers.items()
        if isinstance(answer.source.choose, OfParticle)
    }


def check_unweighted(site: Site, *, is_state: bool) -> None:
    """Raise `SiteError` for a mask or scale from outside of the scan, and for one on a state."""
    if site.is_weighted_outside:
        raise SiteError(
            f"site {site.name!r} (at {site.where}): a mask or scale around the scan weighs it, which particles do not "
            "see at their steps. Put `handlers.mask` or `handlers.scale` into the step."
        )
    if is_state and (site.mask is not None or site.scale is not None):
        raise SiteError(
            f"site {site.name!r} (at {site.where}): a state of particles is drawn from its distribution, and cannot be "
            "masked or scaled. Leave the mask or scale out."
        )


def _known(source: Any, known: Mapping[str, Any], outer: str | None) -> Any:
    """Give a state the value that it shall have, in the inputs of a step."""
    if outer is None or outer not in known:
        return source
    return replace(source, choose=replace(source.choose, value=known[outer], is_known=True))


def _settled(leaf: Any) -> jax.Array:
    """Return an array whose dtype is its own, as gathering makes it."""
    found = jnp.asarray(leaf)
    return jax.lax.convert_element_type(found, found.dtype)
