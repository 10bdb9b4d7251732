"""Evaluate a log density on a part of the entries of the plates that have a `subsample_size`.

The density itself is that of all entries. Beside it, the same model is traced once more, with plates that take a part:
three numbers, which are data of that program, say which. Its log density is an unbiased estimate of the other one, and
so is its gradient.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt32

from ..core import precision as precision_scope
from ..core.errors import ModelError, SiteError
from ..core.needed import is_needed
from ..core.position import Position
from ..core.tree import shapes
from ..language import Model
from ..language.handlers.batch import AllEntries, OneBatch
from .logdensity import LogDensity
from .unknowns import Unknowns, like


@dataclass(frozen=True)
class Minibatch:
    """Estimates of a log density from a part of the entries.

    **Fields**: `density`, of a part; `words`, the name of these numbers among its data.
    """

    density: LogDensity
    words: str

    def value_and_grad(
        self, data: Mapping[str, Any], position: Position, words: UInt32[Array, " 2"]
    ) -> tuple[Float[Array, ""], Float[Array, " dim"]]:
        """Estimate the log density of all data, and its gradient by free numbers, from the part that `words` name."""
        at: Unknowns = position.free if position.whole is None else position
        return self.at(data, words).value_and_grad(at)

    def at(self, data: Mapping[str, Any], words: UInt32[Array, " 2"], step: Any = 0) -> LogDensity:
        """Return the density of the part that `words` name, of these data of the whole; traced.

        `step`, shape `()`, int32: its number, of which consecutive ones make an epoch.
        """
        blank = self.density.data[self.words]
        signed = jax.lax.bitcast_convert_type(words, jnp.int32)
        three = jnp.append(signed, jnp.asarray(step, jnp.int32)).astype(blank.dtype)
        return self.density.with_data({**data, self.words: three})


def for_minibatches(model: Model) -> Model:
    """Return a model whose log density has all entries, and of which `minibatch_of` evaluates a part."""
    return model.inside_of(AllEntries())


def minibatch_of(density: LogDensity, needed_by: str, *, allows_local: bool = False) -> Minibatch:
    """Trace the model of a density once more, with plates that take a part of their entries.

    `allows_local`: whether unknowns may have an entry for each copy of such a plate.

    **Raises** `ModelError` for a density that was not made for minibatches, and for a model without a plate that has a
    `subsample_size`; `SiteError` for a latent site inside of one, and where the integral over a site needs all entries.
    """
    program = density.program.whole
    if program is None:
        raise ModelError(
            f"{needed_by} evaluates a part of the data at a time, and a function does not say what is a part. Give a "
            'model with a plate, `with ac.plate("row", n, subsample_size=...)`.'
        )
    model = program.template.marked({**density.data, **density.constants})
    outside = tuple(each for each in model.handlers if not isinstance(each, AllEntries))
    part = LogDensity.from_model(replace(model, handlers=(*outside, OneBatch.blank())), program.precision)
    if not allows_local:
        _check_outside(density, part, needed_by)
    (words,) = part.data.keys() - density.data.keys()
    if not _depends_on(part, words):
        raise ModelError(
            f"{needed_by} evaluates a part of the data at a time, and no plate of the model {model.name!r} has a "
            '`subsample_size`. Write `with ac.plate("row", n, subsample_size=...)` around the observations, and '
            "`ac.subsample(x)` for their data; or use infer.NUTS()."
        )
    return Minibatch(part, words)


def _depends_on(density: LogDensity, name: str) -> bool:
    """Return whether a log density depends on these of its data."""
    program = density.program
    position = like(density.layout, precision_scope.float_dtype(program.precision))

    def value(words: Any, position: Unknowns, data: Mapping[str, Any]) -> Array:
        return program.log_density(position, {**data, name: words})

    with precision_scope.scope(program.precision):
        data = shapes(density.data)
        return is_needed(jax.make_jaxpr(value)(data[name], position, data).jaxpr)[0]


def _check_outside(density: LogDensity, part: LogDensity, needed_by: str) -> None:
    """Raise `SiteError` where the part has other unknowns than the whole: those with an entry for each copy."""
    of_part = {entry.name: entry for entry in part.layout.unknowns}
    for entry in density.layout.unknowns:
        found = of_part.get(entry.name)
        if found is not None and found.shape == entry.shape:
            continue
        where = "a plate with `subsample_size`"
        if found is not None and found.dims == entry.dims:
            sizes = zip(entry.dims, entry.shape, found.shape, strict=True)
            where = " and of ".join(
                f"the plate {dim!r}, of which a step takes {few} of {all_}"
                for dim, all_, few in sizes
                if few != all_
            )
        raise SiteError(
            f"{needed_by}: site {entry.name!r} has an unknown for each entry of {where}, and a step would move only "
            f"these. Integrate the site out by `handlers.collapse(model, [{entry.name!r}])`, with "
            "`by=handlers.Quadrature()` or `by=handlers.Laplace()` where it is not normal given the others; or fit a "
            "guide that draws it from the data of its entry, `infer.fit(model, guide)`; or leave subsample_size out "
            "and use infer.NUTS(), with `chunk=` of the plate where memory is short."
        )
