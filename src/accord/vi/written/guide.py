"""Fit a guide that a user has written as a model, together with the parameters of the model that it is for."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from ...core import keys
from ...core.errors import OptionError
from ...core.tree import to_numpy
from ...density import LogDensity
from ...density.program import Given, every_site
from ...density.reduction import log_jacobian_of
from ...density.unknowns import free_of, joined
from ...guides.base import AbstractGuide, Params
from ...language import Site
from ...optimise.surface import AT_ONCE
from ...programs.standalone import compile_alone
from .program import GuideProgram, Param, Values, constrained

_USUAL_DRAWS = 2**9  # by which a fit is judged, or of which its result consists


@dataclass(frozen=True)
class Row:
    """A plate whose entries are independent. **Fields**: its name; its axis, from the right; the `scale` of a part."""

    plate: str
    axis: int
    scale: float


@dataclass(frozen=True, eq=False)
class Pair:
    """A guide and a model, traced and compared.

    **Fields**
    - `guide`, of all entries; `part`, of a part of them, or None.
    - `own` parameters of the guide, and `theirs`, of the model; `start`, unconstrained values of both to begin at.
    - `local`: unknowns with an entry for each copy of a plate that is taken in parts.
    - `apart`: by site whose scores are taken, the plates whose entries have costs of their own, with their axes.
    - `row`: the plate whose entries have bounds of their own, or None.
    - `rows`: parameters with an entry for each copy of a plate that is taken in parts, with the axis of these.
    - `epoch`: steps in which each entry comes once; 1 for all data.
    """

    guide: GuideProgram
    part: GuideProgram | None
    own: Mapping[str, Param]
    theirs: Mapping[str, Param]
    start: Mapping[str, np.ndarray]
    local: tuple[str, ...]
    apart: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    row: Row | None = None
    rows: Mapping[str, int] = field(default_factory=dict)
    epoch: int = 1


class Written(AbstractGuide):
    """A guide that was written as a model: its sites approximate the unknowns of the model by the same names.

    **Fields**
    - `function`: its name.
    - `pair`: it and the model, traced; None in a fit that was loaded.
    - `data` of its arguments, by name. `is_part`: whether a part of the entries, which these name, is drawn.
    - `scored`: sites whose draws do not move smoothly with the parameters, discrete ones among them: the gradient is by
      the score function there, and path-wise elsewhere.
    - `pinned`: sites that a `dist.Delta` holds at a point, of which the bound knows no spread.
    - `closed`: sites whose divergences from those of the model are taken in closed form.
    """

    rate: ClassVar[float] = 1e-2

    function: str = eqx.field(static=True)
    pair: Pair | None = eqx.field(static=True, default=None)
    data: Mapping[str, Any] = eqx.field(default_factory=dict)
    is_part: bool = eqx.field(static=True, default=False)
    scored: tuple[str, ...] = eqx.field(static=True, default=())
    pinned: tuple[str, ...] = eqx.field(static=True, default=())
    closed: tuple[str, ...] = eqx.field(static=True, default=())

    def __repr__(self) -> str:
        return f"<Guide {self.function!r}, written as a model>"

    @property
    def known(self) -> Pair:
        """Program that was traced. **Raises** `OptionError` in a fit that was loaded."""
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
    def has_point(self) -> bool:
        """See `AbstractGuide.has_point`."""
        return bool(self.pinned)

    @property
    def is_only_points(self) -> bool:
        """Whether it holds all unknowns at a point, so that its draws have nothing to be weighted by."""
        return set(self.known.guide.names) <= set(self.pinned)

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
        return self.program.draw(constrained(params, self.known.own), noise, self.data)

    def log_prob(self, params: Params, position: Values) -> Float[Array, ""]:
        """See `AbstractGuide.log_prob`."""
        return self.program.log_prob(constrained(params, self.known.own), position, self.data)

    def log_scores(self, params: Params, values: Values) -> dict[str, Array]:
        """Evaluate the log density of `scored` sites at values that it drew, entry by entry, without scales; traced."""
        return self.program.log_scores(constrained(params, self.known.own), values, self.data)

    @property
    def program(self) -> GuideProgram:
        """Program that is evaluated: of a part of the entries, or of all."""
        return self.known.part or self.known.guide if self.is_part else self.known.guide

    def at_part(self, three: Array) -> Self:
        """Return it drawing the part of the entries that three numbers name: see `OneBatch`."""
        part = self.known.part
        assert part is not None
        return replace(self, data={**self.data, part.words: three}, is_part=True)

    def log_joint(self, density: LogDensity, params: Params, values: Values) -> Float[Array, ""]:
        """Evaluate the log density of a model, without Jacobians, at values of its unknowns; traced.

        `params`, unconstrained: those of the model are taken from them. Sites that are `closed` are left out.
        """

        def view(sites: Mapping[str, Site]) -> Iterable[tuple[str, Site]]:
            return [(name, site) for name, site in sites.items() if name not in self.closed]

        every = {**values, **constrained(params, self.known.theirs)}
        chosen: Any = {name: Given(value) for name, value in every.items()}
        seen = view if self.closed else every_site
        terms = density.program.terms_at(chosen, density.data, seen).values()
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
    ) -> tuple[Any, np.ndarray]:
        """Draw positions of the model, shape `(draw, dim)`, with their unconstrained log densities, shape `(draw,)`.

        Where the guide draws discrete sites, a `Position` of such rows. `params`, as `shown`: those of the model are
        the same in each draw, and of density one.
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
        program = compile_alone(density, batch, own, theirs, data, words[0], num_steps=_USUAL_DRAWS)
        found = [to_numpy(program(own, theirs, data, each)) for each in words]
        return jax.tree.map(lambda *leaves: np.concatenate(leaves)[:count], *found)

    def described(self) -> dict[str, Any]:
        """See `AbstractGuide.described`: the function is not stored."""
        found = {"scored": self.scored, "pinned": self.pinned, "closed": self.closed}
        kinds = {name: list(sites) for name, sites in found.items() if sites}
        return {"name": type(self).__name__, "function": self.function, **kinds}

    def detached(self) -> Self:
        """See `AbstractGuide.detached`: without its function."""
        return type(self)(self.function, scored=self.scored, pinned=self.pinned, closed=self.closed)


def _log_jacobian(density: LogDensity, position: Any) -> Array:
    """Return log |d values / d position| of all unknowns of a model."""
    program, whole = density.program, density.program.whole
    assert whole is not None
    sites = whole.sites(program.pieces(position), program.whole_data(density.data))
    return log_jacobian_of((sites[entry.name] for entry in density.layout.entries), free_of(position).dtype)
