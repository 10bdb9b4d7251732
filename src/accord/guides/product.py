"""Approximate a posterior by independent guides, each of some sites."""

from collections.abc import Mapping
from types import EllipsisType
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, UInt32

from ..core import keys
from ..core.errors import OptionError, suggest
from ..core.options import checks_options
from .base import AbstractGuide, Params
from .laplace import Laplace
from .places import Places, given, joined

Names = tuple[str, ...] | None
"""Sites of a part of a product; None is the rest."""


class Product(AbstractGuide):
    """Independent guides of different sites: a product of their densities.

    A `Delta` in it holds its sites at one point, and the other guides approximate the rest given that point. Pareto k
    and the bound are then of the rest, at that point: no bound of the evidence. The point is where the density of
    *unconstrained* numbers is high, Jacobian included.

    **Arguments**: `parts`, from names of latent sites to a guide: one name, a tuple of names, or `...`, which is the
    rest. A name of a site that is reparameterised stands for the latent site that settles it.

    **Fields**: `parts`, names and guide of each, where None is the rest; `places` of the sites, which `infer.fit` sets.

    **Raises** `OptionError` for a site that two parts name, and for parts that are no guides, all `Delta`, or
    `Laplace`; (when it is fitted) for a site that the model does not have, and for sites that no part names.

    **Example**

    >>> parts = {("mu", "tau"): infer.guides.FullRank(), ...: infer.guides.MeanField()}
    >>> fit = infer.fit(eight_schools(sigma, y), infer.guides.Product(parts), quiet=True)
    >>> fit.guide
    Product({('mu', 'tau'): FullRank(), ...: MeanField()})
    """

    parts: tuple[tuple[Names, AbstractGuide], ...] = eqx.field(static=True)
    places: Places | None = eqx.field(static=True)

    @checks_options
    def __init__(
        self,
        parts: Mapping[str | tuple[str, ...] | EllipsisType, AbstractGuide],
        *,
        places: Places | None = None,
    ):
        if not isinstance(parts, Mapping) or not parts:
            raise OptionError(
                "Product: parts must be a dict from sites to guides, such as "
                f'{{"a": infer.guides.Delta(), ...: infer.guides.MeanField()}}; got {parts!r}.'
            )
        self.parts = tuple((_names(key), _checked(key, guide)) for key, guide in parts.items())
        self.places = places
        named = [name for names, _ in self.parts for name in names or ()]
        if twice := sorted({name for name in named if named.count(name) > 1}):
            raise OptionError(f"Product: {_listed(twice)} in more than one part. Name each site once.")
        if all(guide.is_point for _, guide in self.parts):
            raise OptionError(
                "Product: every part is a Delta, so that nothing has spread: use infer.guides.Delta()."
            )

    def __repr__(self) -> str:
        parts = ", ".join(f"{_shown(names)}: {guide!r}" for names, guide in self.parts)
        return f"Product({{{parts}}})"

    @property
    def rate(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """First step size: that of the part which needs the smallest."""
        return min(guide.rate for _, guide in self.parts)

    @property
    def has_point(self) -> bool:
        """See `AbstractGuide.has_point`."""
        return any(guide.has_point for _, guide in self.parts)

    def placed(self, places: Places) -> "Product":
        """See `AbstractGuide.placed`: each part is told of its own sites."""
        settled = {other: site.name for site in places.sites for other in (site.name, *site.names)}
        found: dict[str, str] = {}
        for name in (name for names, _ in self.parts for name in names or ()):
            if name not in settled:
                raise OptionError(f"Product: there is no latent site {name!r}.{suggest(name, settled)}")
            other = found.setdefault(settled[name], name)
            if other != name:
                raise OptionError(f"Product: {other!r} and {name!r} settle each other. Name one of them.")
        rest = tuple(site.name for site in places.sites if site.name not in found)
        if rest and all(names is not None for names, _ in self.parts):
            raise OptionError(
                f"Product: {_listed(rest)} in no part. Add `...: infer.guides.MeanField()` for the rest."
            )
        parts: dict[Any, AbstractGuide] = {}
        for names, guide in self.parts:
            own = rest if names is None else tuple(settled[name] for name in names)
            parts[... if names is None else names] = guide.placed(places.of(own)) if own else guide
        return Product(parts, places=places)

    def _each(self) -> list[tuple[AbstractGuide, np.ndarray]]:
        """Return each part with its coordinates."""
        places = given(self.places, "Product")
        settled = {other: site.name for site in places.sites for other in (site.name, *site.names)}
        named = {settled[name] for names, _ in self.parts for name in names or ()}
        rest = {site.name for site in places.sites} - named
        placed = (
            (guide, places.coordinates(rest if names is None else {settled[name] for name in names}))
            for names, guide in self.parts
        )
        return [(guide, at) for guide, at in placed if at.size]

    def points(self, dim: int) -> Bool[np.ndarray, " dim"]:
        """See `AbstractGuide.points`."""
        found = np.zeros(dim, bool)
        for guide, at in self._each():
            found[at] = guide.points(at.size)
        return found

    def num_noise(self, dim: int) -> int:
        """See `AbstractGuide.num_noise`."""
        del dim
        return sum(guide.num_noise(at.size) for guide, at in self._each())

    def start(self, key: UInt32[np.ndarray, " 2"], dim: int, dtype: np.dtype) -> Params:
        """See `AbstractGuide.start`: those of each part, by its number."""
        del dim
        return {
            str(number): guide.start(keys.fold(key, np.uint32(number)), at.size, dtype)
            for number, (guide, at) in enumerate(self._each())
        }

    def draw(
        self, params: Params, noise: Float[Array, " noise"]
    ) -> tuple[Float[Array, " dim"], Float[Array, ""]]:
        """See `AbstractGuide.draw`."""
        pieces: list[Array] = []
        log_prob, first = jnp.zeros((), noise.dtype), 0
        placed = self._each()
        for number, (guide, at) in enumerate(placed):
            count = guide.num_noise(at.size)
            piece, own = guide.draw(params[str(number)], noise[first : first + count])
            pieces.append(piece)
            log_prob, first = log_prob + own, first + count
        order = np.argsort(joined(at for _, at in placed))
        return jnp.concatenate(pieces)[order], log_prob

    def log_prob(self, params: Params, position: Float[Array, " dim"]) -> Float[Array, ""]:
        """See `AbstractGuide.log_prob`."""
        each = [
            guide.log_prob(params[str(number)], position[at])
            for number, (guide, at) in enumerate(self._each())
        ]
        return sum(each[1:], start=each[0])

    def described(self) -> dict[str, Any]:
        """See `AbstractGuide.described`."""
        parts = [[None if names is None else list(names), guide.described()] for names, guide in self.parts]
        places = None if self.places is None else self.places.described()
        return {"name": type(self).__name__, "parts": parts, "places": places}

    @classmethod
    def from_described(cls, options: dict[str, Any], known: Mapping[str, type[AbstractGuide]]) -> "Product":
        """See `AbstractGuide.from_described`."""
        parts: dict[Any, AbstractGuide] = {}
        for names, described in options["parts"]:
            own = {name: value for name, value in described.items() if name != "name"}
            parts[... if names is None else tuple(names)] = known[described["name"]].from_described(
                own, known
            )
        places = options["places"]
        return cls(parts, places=None if places is None else Places.from_described(places))


def _names(key: Any) -> Names:
    if key is ...:
        return None
    names = key if isinstance(key, tuple) else (key,)
    if not names or not all(isinstance(name, str) for name in names):
        raise OptionError(
            f"Product: sites are named by a string, a tuple of strings, or `...` for the rest; got {key!r}."
        )
    return names


def _checked(key: Any, guide: Any) -> AbstractGuide:
    if not isinstance(guide, AbstractGuide):
        raise OptionError(
            f"Product: the guide of {key!r} must be something like infer.guides.MeanField(), got {guide!r}."
        )
    if isinstance(guide, Laplace):
        raise OptionError(
            f"Product: {key!r} has a Laplace, which raises no bound and is of all sites. Use infer.guides.FullRank()."
        )
    if guide.num_points:
        raise OptionError(
            f"Product: {key!r} has Particles, which are points of all sites. Use infer.guides.Particles() for all of "
            "the model, or another guide, such as infer.guides.Flow()."
        )
    if not guide.has_density:
        raise OptionError(
            f"Product: the draws of the {type(guide).__name__} of {key!r} follow the density of all sites. Use another "
            "guide, such as infer.guides.Flow()."
        )
    return guide


def _shown(names: Names) -> str:
    return "..." if names is None else repr(names[0] if len(names) == 1 else names)


def _listed(names: Any) -> str:
    listed = ", ".join(map(repr, names))
    return f"the site {listed} is" if len(names) == 1 else f"the sites {listed} are"
