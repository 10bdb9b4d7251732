"""Fit a guide that a user has written as a model, together with the parameters of the model that it is for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from ...core import keys
from ...core.errors import OptionError
from ...core.precision import Precision, scope
from ...core.tree import to_numpy
from ...density import LogDensity
from ...density.latent import SubsampledError
from ...density.minibatch import Minibatch, for_minibatches, minibatch_of
from ...density.program import Given
from ...density.reduction import log_jacobian_of
from ...density.unknowns import joined
from ...guides.base import AbstractGuide, Params
from ...language import Model
from ...language.handlers.batch import OneBatch
from ...optimise.surface import AT_ONCE
from ...programs.standalone import compile_alone
from ...runs.requests import density_of
from .matched import check_guide, check_parts, latents_of, parted
from .program import (
    GuideProgram,
    Param,
    Values,
    constrained,
    params_of,
    sites_in,
    starts_of,
    trace_guide,
)


@dataclass(frozen=True, eq=False)
class Pair:
    """A guide and a model, traced and compared.

    **Fields**
    - `guide`, of all entries; `part`, of a part of them, or None.
    - `own` parameters of the guide, and `theirs`, of the model; `start`, unconstrained values of both to begin at.
    - `local`: unknowns with an entry for each copy of a plate that is taken in parts.
    """

    guide: GuideProgram
    part: GuideProgram | None
    own: Mapping[str, Param]
    theirs: Mapping[str, Param]
    start: Mapping[str, np.ndarray]
    local: tuple[str, ...]


class Written(AbstractGuide):
    """A guide that was written as a model: its sites approximate the unknowns of the model by the same names.

    **Fields**
    - `function`: its name.
    - `pair`: it and the model, traced; None in a fit that was loaded.
    - `data` of its arguments, by name. `is_part`: whether a part of the entries, which these name, is drawn.
    """

    rate: ClassVar[float] = 1e-2

    function: str = eqx.field(static=True)
    pair: Pair | None = eqx.field(static=True, default=None)
    data: Mapping[str, Any] = eqx.field(default_factory=dict)
    is_part: bool = eqx.field(static=True, default=False)

    def __repr__(self) -> str:
        return f"<Guide {self.function!r}, written as a model>"

    @property
    def known(self) -> Pair:
        """What was traced. **Raises** `OptionError` in a fit that was loaded."""
        if self.pair is None:
            raise OptionError(
                f"the guide {self.function!r} was loaded without its function. Attach it: "
                "infer.resume(path, model(...), guide=guide(...)) returns the fit of a folder with both."
            )
        return self.pair

    @property
    def label(self) -> str:
        """See `AbstractGuide.label`: the name of the function."""
        return self.function

    @property
    def fits_model(self) -> bool:
        """See `AbstractGuide.fits_model`."""
        return bool(self.known.theirs)

    def start(self, key: UInt32[np.ndarray, " 2"], dim: int, dtype: np.dtype) -> Params:
        """See `AbstractGuide.start`: unconstrained parameters of guide and model, at `init`."""
        del key, dim
        return {name: np.asarray(value, dtype) for name, value in self.known.start.items()}

    def noise(self, words: Array, count: int, dim: int, dtype: np.dtype) -> UInt32[Array, "draw 2"]:
        """See `AbstractGuide.noise`: two words for each draw."""
        del dim, dtype
        return keys.item(words, jnp.uint32(0), jnp.arange(count, dtype=jnp.uint32)).T

    def draw(self, params: Params, noise: UInt32[Array, " 2"]) -> tuple[dict[str, Array], Float[Array, ""]]:
        """See `AbstractGuide.draw`: values by site, in the model's space."""
        return self._program.draw(constrained(params, self.known.own), noise, self.data)

    def log_prob(self, params: Params, position: Values) -> Float[Array, ""]:
        """See `AbstractGuide.log_prob`."""
        return self._program.log_prob(constrained(params, self.known.own), position, self.data)

    @property
    def _program(self) -> GuideProgram:
        return self.known.part or self.known.guide if self.is_part else self.known.guide

    def at_part(self, three: Array) -> Self:
        """Return it drawing the part of the entries that three numbers name: see `OneBatch`."""
        part = self.known.part
        assert part is not None
        return replace(self, data={**self.data, part.words: three}, is_part=True)

    def log_joint(self, density: LogDensity, params: Params, values: Values) -> Float[Array, ""]:
        """Evaluate the log density of a model, without Jacobians, at values of its unknowns; traced.

        `params`, unconstrained: those of the model are taken from them.
        """
        every = {**values, **constrained(params, self.known.theirs)}
        chosen: Any = {name: Given(value) for name, value in every.items()}
        terms = density.program.terms_at(chosen, density.data).values()
        return sum(terms, start=jnp.zeros((), jnp.result_type(float)))

    def shown(self, params: Params) -> Params:
        """See `AbstractGuide.shown`: values that the constraints allow."""
        return constrained(params, {**self.known.own, **self.known.theirs})

    def restored(self, stored: Mapping[str, np.ndarray], dim: int, dtype: np.dtype) -> Params:
        """See `AbstractGuide.restored`."""
        del dim, dtype
        return dict(stored)

    def positions(
        self, density: LogDensity, params: Values, key: UInt32[np.ndarray, " 2"], count: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw positions of the model, shape `(draw, dim)`, with their unconstrained log densities, shape `(draw,)`.

        `params`, as `shown`: those of the model are the same in each draw, and of density one.
        """
        return self._drawn(density, params, key, count, lambda density, position, log_q: (position, log_q))

    def log_weights(
        self, density: LogDensity, params: Values, key: UInt32[np.ndarray, " 2"], count: int
    ) -> np.ndarray:
        """Compute `log p - log q` of the draws that `positions` returns, without keeping these; shape `(draw,)`."""
        return self._drawn(
            density, params, key, count, lambda density, position, log_q: density(position) - log_q
        )

    def _drawn(
        self,
        density: LogDensity,
        params: Values,
        key: UInt32[np.ndarray, " 2"],
        count: int,
        look: Callable[[LogDensity, Any, Array], Any],
    ) -> Any:
        """Return what `look` makes of each draw, which are drawn in batches."""
        pair, data = self.known, dict(self.data)
        own, theirs = ({name: params[name] for name in names} for names in (pair.own, pair.theirs))

        def batch(density: LogDensity, own: Any, theirs: Any, data: Any, words: Any) -> Any:
            def one(words: Any) -> Any:
                values, log_q = pair.guide.draw(own, words, data)
                position = joined(
                    density.program.positions({**values, **theirs}, density.data), density.layout
                )
                return look(density, position, log_q + _log_jacobian(density, position))

            return jax.lax.map(one, words)

        rows = max(-(-count // AT_ONCE), 1)
        words = np.ascontiguousarray(keys.fold(key, np.arange(rows * AT_ONCE, dtype=np.uint32)).T)
        words = words.reshape(rows, AT_ONCE, 2)
        program = compile_alone(density, batch, own, theirs, data, words[0])
        found = [to_numpy(program(own, theirs, data, each)) for each in words]
        return jax.tree.map(lambda *leaves: np.concatenate(leaves)[:count], *found)

    def described(self) -> dict[str, Any]:
        """See `AbstractGuide.described`: the function is not stored."""
        return {"name": type(self).__name__, "function": self.function}

    def detached(self) -> Self:
        """See `AbstractGuide.detached`: without its function."""
        return type(self)(self.function)


def _log_jacobian(density: LogDensity, position: Any) -> Array:
    """Return log |d values / d position| of all unknowns of a model."""
    program, whole = density.program, density.program.whole
    assert whole is not None
    sites = whole.sites(program.pieces(position), program.whole_data(density.data))
    return log_jacobian_of((sites[entry.name] for entry in density.layout.entries), position.dtype)


def written_for(
    target: Any, guide: Model, precision: Precision
) -> tuple[LogDensity, Minibatch | None, Written]:
    """Trace a model and the guide that was written for it, and compare them.

    **Raises** `OptionError` for a target that is no model; `SiteError` and `ModelError` as `check_guide`.
    """
    if not isinstance(target, Model):
        raise OptionError(
            "guide: one that is written as a model draws the sites of another model, and the target is a LogDensity. "
            "Give infer.fit the model itself, called with its data."
        )
    try:
        density, minibatch = density_of(target, precision), None
        with scope(precision):
            traced, data, sites = trace_guide(guide, precision)
        guide_part = None
    except SubsampledError:
        density = density_of(target, precision, takes_parts=True)
        with scope(precision):
            traced, data, sites = trace_guide(for_minibatches(guide), precision)
            minibatch = minibatch_of(density, "infer.fit", allows_local=True)
            guide_part = guide.inside_of(OneBatch.blank())
    with scope(precision):
        return _compared(density, minibatch, guide, guide_part, traced, data, sites, precision)


def _compared(
    density: LogDensity,
    minibatch: Minibatch | None,
    guide: Model,
    guide_part: Model | None,
    traced: Any,
    data: dict[str, Any],
    sites: Any,
    precision: Precision,
) -> tuple[LogDensity, Minibatch | None, Written]:
    whole = density.program.whole
    assert whole is not None
    theirs = sites_in(whole, density.data)
    check_guide(guide.name, density.program.name, sites, theirs, density.layout)
    latents = latents_of(theirs, density.layout)
    part, local = None, ()
    if guide_part is not None and minibatch is not None:
        part_traced, part_data, own_part = trace_guide(guide_part, precision)
        their_whole = minibatch.density.program.whole
        assert their_whole is not None
        their_part = sites_in(their_whole, minibatch.density.data)
        check_parts(guide.name, sites, theirs, own_part, their_part, latents)
        (words,) = part_data.keys() - data.keys()
        part = GuideProgram(part_traced, latents, words)
        local = tuple(name for name in latents if parted(sites[name], own_part[name]))
    own, of_model = params_of(sites), params_of(theirs)
    start = starts_of(traced, data, own) | starts_of(whole, density.data, of_model)
    pair = Pair(GuideProgram(traced, latents), part, own, of_model, start, local)
    return density, minibatch, Written(guide.name, pair, data)
