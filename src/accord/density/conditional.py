"""Draw some sites of a model from a distribution that a function gives for the values of all others."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from ..core.errors import OptionError, suggest
from ..core.position import Position
from ..core.tree import shapes
from ..language import Site
from ..language.choice import AbstractChoice, Chosen
from ..language.treatment import Whole
from .dependence.provenance import sources
from .latent import bijector_of, concrete, sites_of
from .logdensity import LogDensity
from .program import Given, ModelProgram, chosen_at
from .reduction import log_jacobian_of, total
from .support import first_value
from .unknowns import free_of, joined, like

_SEEN = ("latent", "whole", "deterministic", "observed")
"""Kinds of sites whose values the function may ask for."""

Function = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, eq=False)
class ExactConditional:
    """Distribution of some sites of a density given all others, by a function of the user's.

    All methods can be used under `jit`, with a density of other data.

    **Fields**: `function`; `names`, latent sites, which are the block; `owner`, with which errors begin; `withheld`, by
    site whose value the function may not have, the sites on which that depends.
    """

    function: Function
    names: tuple[str, ...]
    owner: str
    withheld: Mapping[str, tuple[str, ...]]

    @staticmethod
    def of(density: LogDensity, function: Function, names: Sequence[str], owner: str) -> "ExactConditional":
        """Find which values depend on the block. Raises `OptionError` for the density of a function."""
        _program(density, owner)
        return ExactConditional(function, tuple(names), owner, _withheld(density, names))

    def given_rest(self, density: LogDensity, position: Position) -> dict[str, Any]:
        """Return the distribution of each site of the block, given all others as at a position.

        **Raises** `OptionError` for what is no distribution, or not of the site's shape and kind.
        """
        sites = _sites(density, density.program.pieces(_as_given(position)))
        known = {
            entry.name: jnp.asarray(sites[entry.name].value)
            for entry in density.layout.sites
            if entry.kind in _SEEN and entry.name not in self.withheld
        }
        found = self.function(Values(known, self.withheld, self.names, self.owner))
        if not isinstance(found, Mapping):
            if len(self.names) > 1:
                raise OptionError(
                    f"{self.owner}: the block has the sites {_listed(self.names)}, so that the function must return a "
                    f"mapping from each to its distribution; got {type(found).__name__}."
                )
            found = dict.fromkeys(self.names, found)
        self._check(density, found)
        return dict(found)

    def drawn(
        self,
        density: LogDensity,
        position: Position,
        words: jax.Array,
        given: Mapping[str, Any] | None = None,
    ) -> Position:
        """Draw the block, by two words of a key; all other numbers of the position stay. `given`, if it is known."""
        found = self.given_rest(density, position) if given is None else given
        key = jax.random.wrap_key_data(words, impl="threefry2x32")
        values = {
            name: found[name].sample(jax.random.fold_in(key, number))
            for number, name in enumerate(self.names)
        }
        return position_with(density, position, values, self.owner)

    def compared(
        self, density: LogDensity, position: Position, given: Mapping[str, Any]
    ) -> tuple[jax.Array, jax.Array, dict[str, jax.Array]]:
        """Evaluate the model and the formula at a position.

        **Returns** the log density with respect to the block's values, shape `()`; that of the formula, shape `()`; and
        the values. These are what the position is mapped to, so that both are evaluated at the same numbers.
        """
        pieces, dtype = density.program.pieces(_as_given(position)), position.free.dtype
        sites = _sites(density, pieces)
        whole = {name for name in self.names if isinstance(sites[name].treatment, Whole)}
        # Whole numbers as they are asked for, also outside of a support.
        values = {
            name: pieces[name] if name in whole else jnp.asarray(sites[name].value) for name in self.names
        }
        by_formula = jnp.zeros((), dtype)
        for name in self.names:
            by_formula += total(given[name].log_prob(values[name])).astype(dtype)
        jacobian = log_jacobian_of([sites[name] for name in self.names if name not in whole], dtype)
        return density(_as_given(position)) - jacobian, by_formula, values

    def _check(self, density: LogDensity, found: Mapping[str, Any]) -> None:
        settled = density.layout.settable
        for name in found:
            if name not in self.names:
                by = settled.get(name)
                raise OptionError(
                    f"{self.owner}: the function returns a distribution for {name!r}, and the block has "
                    f"{_listed(self.names)}.{suggest(name, self.names)}"
                    + (_reparameterised(name, by) if by in self.names else "")
                )
        for name in self.names:
            entry, distribution = density.layout[name], found.get(name)
            above = next((other for other, by in settled.items() if by == name and other != name), None)
            if distribution is None:
                raise OptionError(f"{self.owner}: the function returns no distribution for {name!r}.")
            if not hasattr(distribution, "log_prob") or not hasattr(distribution, "sample"):
                raise OptionError(
                    f"{self.owner}: the function must return a distribution for {name!r}, such as "
                    f"dist.Normal(0.0, 1.0); got {type(distribution).__name__}."
                    + (_reparameterised(above, name) if above else "")
                )
            shape = (*distribution.batch_shape, *distribution.event_shape)
            is_discrete = entry.kind == "whole"
            if shape != entry.shape or distribution.is_discrete != is_discrete:
                kinds = ("discrete" if kind else "real" for kind in (distribution.is_discrete, is_discrete))
                got, wanted = kinds
                raise OptionError(
                    f"{self.owner}: {type(distribution).__name__} has {got} values of shape {shape}, and site "
                    f"{name!r} has {wanted} values of shape {entry.shape}. Return a distribution of that shape, with a "
                    "parameter for each entry."
                )


def position_with(density: LogDensity, position: Position, values: Mapping[str, Any], owner: str) -> Position:
    """Return the position at which some sites have these values, with their maps as of all others.

    **Raises** `OptionError` for the density of a function; errors begin with `owner`.
    """
    whole = _program(density, owner)
    pieces = density.program.pieces(_as_given(position))
    cast = {
        name: jnp.asarray(value, jnp.int32 if density.layout[name].kind == "whole" else position.free.dtype)
        for name, value in values.items()
    }

    def choice_of(site: Site) -> AbstractChoice:
        if site.name in cast:
            return Given(cast[site.name])
        return chosen_at(site, pieces[site.name]) if site.name in pieces else Chosen(first_value)

    with concrete(whole.constants):
        model = whole.model(density.program.whole_data(density.data), position.free.dtype)
        sites = sites_of(model, choice_of)
        new = {
            name: value
            if isinstance(sites[name].treatment, Whole)
            else bijector_of(sites[name]).inverse(sites[name].value)
            for name, value in cast.items()
        }
    found = joined({**pieces, **new}, density.layout)
    return found if isinstance(found, Position) else Position(found.astype(position.free.dtype))


class Values(Mapping[str, Any]):
    """Values of sites, by name, without those that depend on the block that is drawn given them."""

    def __init__(
        self,
        known: Mapping[str, Any],
        withheld: Mapping[str, tuple[str, ...]],
        block: tuple[str, ...],
        owner: str,
    ):
        self._known, self._withheld, self._block, self._owner = known, withheld, block, owner

    def __getitem__(self, name: str) -> Any:
        if name in self._known:
            return self._known[name]
        if name in self._block:
            why = (
                f"{name!r} is a site of the block, whose distribution is that given all others. Write the function "
                "without its value."
            )
        elif self._withheld.get(name) == (name,):
            why = f"{name!r} is integrated out of the log density, so that chains have no value of it."
        elif name in self._withheld:
            why = (
                f"the value of {name!r} depends on {_listed(self._withheld[name])}, which the function is not given. "
                "Compute what you need from other sites."
            )
        else:
            why = f"there is no site {name!r}.{suggest(name, self._known)} There are {_listed(tuple(self._known))}."
        raise AbsentError(f"{self._owner}: {why}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class AbsentError(OptionError, KeyError):
    """A function asked for the value of a site that it is not given."""

    def __str__(self) -> str:
        return Exception.__str__(self)  # a KeyError shows the text of its argument in quotes


def _withheld(density: LogDensity, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the sites whose values depend on some sites, or on those that are integrated out, and on which."""
    program = density.program
    entries = {entry.name: entry for entry in density.layout.sites}
    hidden = [name for name, entry in entries.items() if entry.kind == "collapsed"]
    seen: list[str] = []

    def values(unknown: Mapping[str, Any], position: Any, data: Any) -> list[jax.Array]:
        here = density.with_data(data)
        known: dict[str, Any] = here.program.pieces(position)
        # A site that is summed out has no numbers in the place of its values.
        summed = {name: Given(value) for name, value in unknown.items() if name not in known}
        sites = _sites(here, {**known, **unknown, **summed})
        seen[:] = [name for name, entry in entries.items() if entry.kind in _SEEN]
        return [jnp.asarray(sites[name].value) for name in seen]

    position = like(density.layout, jnp.result_type(float))
    pieces = jax.eval_shape(program.pieces, position)
    unknown = {
        name: pieces[name] if name in pieces else jax.ShapeDtypeStruct(entries[name].shape, jnp.int32)
        for name in (*names, *hidden)
    }
    traced = jax.make_jaxpr(values)(unknown, position, shapes(density.data))
    numbers = sorted(unknown)  # the order in which JAX takes a dict apart
    found = sources(traced.jaxpr, [{number} for number in range(len(traced.jaxpr.invars))])
    depends = {
        name: tuple(numbers[number] for number in sorted(each) if number < len(numbers))
        for name, each in zip(seen, found, strict=True)
    }
    own = {name: (name,) for name in (*names, *hidden)}
    return own | {name: on for name, on in depends.items() if on and name not in own}


def _sites(density: LogDensity, pieces: Mapping[str, Any]) -> dict[str, Site]:
    whole = density.program.whole
    assert whole is not None
    with concrete(whole.constants):
        return whole.sites(pieces, density.program.whole_data(density.data))


def _program(density: LogDensity, owner: str) -> ModelProgram:
    whole = density.program.whole
    if whole is None:
        raise OptionError(
            f"{owner}: {density.program.name!r} is the log density of a function, which has no sites. Write it as a "
            "model."
        )
    return whole


def _as_given(position: Position) -> Any:
    return free_of(position) if position.whole is None else position


def _reparameterised(name: str, by: str) -> str:
    return (
        f" {name!r} is reparameterised, and chains move {by!r}: leave the reparameterisation of {name!r} out, or give "
        f"the distribution of {by!r}, as `{{{by!r}: ...}}`."
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
