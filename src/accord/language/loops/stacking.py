"""Stack the sites of the steps of a scan: one site for all steps."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Literal

from ...core.errors import ModelError
from ...distributions.wrappers.each_step import EachStep
from ..shapes import shape_of
from ..site import Site

Sites = Mapping[str, Site]


@dataclass(frozen=True)
class _Leaf:
    """An array of a step's site: `value`, the same at each step; or number `x` of the inputs; or computed there."""

    value: Any = None
    x: int | None = None

    @property
    def is_own(self) -> bool:
        return self.value is None and self.x is None


@dataclass(frozen=True)
class Found:
    """The sites of a step, from the first trace: what is no array in them holds for each trace and each step.

    **Fields**: `sites`, by name; `parts`, their arrays as `leaves` tells and the rest as it is, by `structure`.
    """

    sites: Sites
    leaves: tuple[_Leaf, ...]
    structure: Any
    rest: Any
    outlines: Mapping[str, tuple[Any, ...]]

    @staticmethod
    def of(function: Callable[[Any, Any], Sites], init: Any, xs: Any) -> "Found":
        """Trace `function(carry, x)` once, for abstract values."""
        found: dict[str, Any] = {}

        def look(carry: Any, x: Any) -> list[Any]:
            sites = function(carry, x)
            arrays, rest = eqx.partition(_parts(sites), eqx.is_array)
            leaves, structure = jax.tree.flatten(arrays)
            found.update(sites=dict(sites), structure=structure, rest=rest, outlines=_outlines(sites))
            return leaves

        one = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), xs)
        closed = jax.make_jaxpr(look)(init, one)
        jaxpr = closed.jaxpr
        consts = dict(zip(jaxpr.constvars, closed.consts, strict=True))
        inputs = {var: i for i, var in enumerate(jaxpr.invars[len(jax.tree.leaves(init)) :])}

        def leaf(var: Any) -> _Leaf:
            if isinstance(var, Literal):
                return _Leaf(jnp.asarray(var.val, jnp.result_type(var.val)))
            return _Leaf(consts.get(var), inputs.get(var))

        return Found(leaves=tuple(map(leaf, jaxpr.outvars)), **found)

    def own_leaves(self, sites: Sites) -> list[Any]:
        """Return what another trace has computed, of the arrays that a step computes.

        **Raises** `ModelError` where it has other sites.
        """
        leaves = jax.tree.leaves(eqx.filter(_parts(sites), eqx.is_array))
        if [*sites] != [*self.sites] or len(leaves) != len(self.leaves):
            raise ModelError(
                f"the sites {', '.join(map(repr, sites))} in a scan or branch are other ones than when it was first "
                f"traced: {', '.join(map(repr, self.sites))}. They must depend on the arguments of the model alone."
            )
        return [own for own, leaf in zip(leaves, self.leaves, strict=True) if leaf.is_own]

    def stacked(self, own: list[Any], xs: Any, length: int) -> dict[str, Site]:
        """Stack the sites of all steps, from what `own_leaves` gave at each of them."""
        rest, inputs = iter(own), jax.tree.leaves(xs)
        arrays = jax.tree.unflatten(
            self.structure,
            [
                next(rest) if leaf.is_own else leaf.value if leaf.x is None else inputs[leaf.x]
                for leaf in self.leaves
            ],
        )
        by_step = jax.tree.unflatten(self.structure, [leaf.value is None for leaf in self.leaves])
        return {
            name: _series(site, arrays[name], by_step[name], self.rest[name], self.outlines.get(name), length)
            for name, site in self.sites.items()
        }


def _parts(sites: Sites) -> dict[str, dict[str, Any]]:
    """List what may be arrays in sites."""
    return {
        name: {
            "value": site.value,
            "distribution": site.distribution,
            "mask": _aligned(site.mask, site),
            "scale": _aligned(site.scale, site),
            "log_det": site.log_det,
        }
        for name, site in sites.items()
    }


def _outlines(sites: Sites) -> dict[str, tuple[Any, ...]]:
    """Return batch shape, event shape and dtype of the distributions at one step, which hold for each."""
    return {
        name: (site.batch_shape, tuple(site.distribution.event_shape), np.dtype(site.distribution.dtype))
        for name, site in sites.items()
        if site.distribution is not None
    }


def _aligned(weight: Any, site: Site) -> Any:
    """Give a mask or scale as many axes as the batch, so that an axis of steps can come before them."""
    num_batch = len(shape_of(site.value)) if site.distribution is None else len(site.batch_shape)
    if not isinstance(weight, jax.Array | np.ndarray):
        return weight
    return weight.reshape((1,) * (num_batch - weight.ndim) + weight.shape)


def _series(site: Site, arrays: Any, by_step: Any, rest: Any, outline: Any, length: int) -> Site:
    def whole(part: str) -> Any:
        """Make an array with an entry for each step, whether it differs or not."""
        if by_step[part]:
            return arrays[part]
        value = rest[part] if arrays[part] is None else arrays[part]
        if value is None:
            return None
        xp: Any = jnp if isinstance(value, jax.Array) else np
        return xp.broadcast_to(value, (length, *np.shape(value)))

    distribution = eqx.combine(arrays["distribution"], rest["distribution"])
    if distribution is not None:
        flags = eqx.combine(by_step["distribution"], jax.tree.map(lambda _: False, distribution))
        distribution = EachStep(distribution, tuple(jax.tree.leaves(flags)), length, *outline)
    weights = {part: arrays[part] if rest[part] is None else rest[part] for part in ("mask", "scale")}
    return replace(
        site,
        distribution=distribution,
        value=whole("value"),
        log_det=whole("log_det"),
        obs_mask=None,
        **weights,
    )
